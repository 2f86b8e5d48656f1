//! Reports: the outcome of an effect, as facts.
//!
//! A report that the task no longer waits for (it was cancelled meanwhile, or the effect was done twice)
//! leads to no fact at all, which makes a repeated effect harmless.

use super::answers::answered;
use super::checks::checked;
use super::driven::driven;
use super::findings::judged;
use super::follow::finished;
use super::park::{broke, wait_over};
use super::release::release;
use super::{Cleanup, Failure, Rejection, Review, ReviewPhase, Stage, Task, Work, WorkPhase};
use crate::{AgentId, CheckoutNote, Code, Event, Outcome, Problem, SessionEnd, Settings, TaskId};

/// Returns the facts that the outcome adds.
pub(crate) fn report(settings: &Settings, task: &Task, outcome: &Outcome) -> Vec<Event> {
    if let Some(fact) = of_file(task.id, outcome) {
        return vec![fact];
    }
    if let Outcome::CriteriaJudged(findings) = outcome {
        return judged(task, findings);
    }
    if let Outcome::CommentsAnswered(answers) = outcome {
        return answered(task, answers);
    }
    if let Outcome::RunOver { run, end } = outcome {
        return release(task, *run, end).unwrap_or_default();
    }
    let facts = match &task.stage {
        Stage::Backlog => None,
        Stage::InProgress(work) => of_work(settings, task, work, outcome),
        Stage::WaitingApproval(review) => of_review(task, review, outcome),
        Stage::Verified(landed) => match outcome {
            Outcome::WorktreeRemoved { .. } if landed.cleanup != Cleanup::Done => {
                removed(task, &landed.worktree.branch, outcome)
            }
            Outcome::WorktreeNotRemoved(_) if landed.cleanup == Cleanup::Pending => {
                removed(task, &landed.worktree.branch, outcome)
            }
            _ => None,
        },
    };
    facts.unwrap_or_default()
}

/// The task file lives in every stage.
fn of_file(task_id: TaskId, outcome: &Outcome) -> Option<Event> {
    match outcome {
        Outcome::FileWritten { digest } => Some(Event::FileWritten { task_id, digest: digest.clone() }),
        Outcome::FileNotWritten(error) => Some(Event::FileWriteFailed { task_id, error: error.clone() }),
        Outcome::FileCorrupt { kept, failure } => {
            Some(Event::FileCorrupt { task_id, kept: kept.clone(), error: failure.clone() })
        }
        _ => None,
    }
}

fn of_work(settings: &Settings, task: &Task, work: &Work, outcome: &Outcome) -> Option<Vec<Event>> {
    let task_id = task.id;
    let agent_id = || work.agent.clone();
    let branch = &work.worktree.branch;
    if let Some(agent) = &work.agent
        && let Some(facts) = of_session(settings, task, work, agent, outcome)
    {
        return Some(facts);
    }
    let facts = match (&work.phase, outcome) {
        (WorkPhase::Preparing, Outcome::WorktreeCreated) => {
            vec![Event::WorktreeCreated { task_id, branch: branch.clone(), path: work.worktree.path.clone() }]
        }
        (WorkPhase::Preparing, Outcome::WorktreeNotCreated(error)) => {
            vec![Event::WorktreeCreateFailed { task_id, error: error.clone() }]
        }
        (WorkPhase::Handing { to }, Outcome::AgentStopped) => {
            vec![Event::AgentStopped { task_id, agent_id: agent_id() }, to.given(task, work.agent.clone())]
        }
        (WorkPhase::Handing { .. }, Outcome::AgentNotStopped(error)) => {
            vec![Event::AgentStopFailed { task_id, agent_id: agent_id(), error: error.clone() }]
        }
        (WorkPhase::Stopping { .. }, Outcome::AgentStopped) => {
            vec![Event::AgentStopped { task_id, agent_id: agent_id() }]
        }
        (WorkPhase::Stopping { .. }, Outcome::AgentNotStopped(error)) => {
            vec![Event::AgentStopFailed { task_id, agent_id: agent_id(), error: error.clone() }]
        }
        (WorkPhase::Unwinding, outcome) => removed(task, branch, outcome)?,
        (WorkPhase::Removing { reason }, outcome) => cancelled(task, branch, reason.as_ref(), outcome)?,
        _ => return None,
    };
    Some(facts)
}

/// Returns the facts of a session that is starting, under way or to come.
fn of_session(
    settings: &Settings,
    task: &Task,
    work: &Work,
    agent: &AgentId,
    outcome: &Outcome,
) -> Option<Vec<Event>> {
    match (&work.phase, outcome) {
        (WorkPhase::Starting { session, rejection, woken }, outcome) => {
            starting(task, agent, *session, rejection.as_deref(), *woken, outcome)
        }
        (WorkPhase::Running { session }, Outcome::SessionEnded { session: ended, end })
            if session == ended =>
        {
            Some(session_ended(settings, task, agent, *session, end))
        }
        (WorkPhase::Parked { session: parked, .. }, Outcome::WaitOver { session }) => {
            wait_over(task, agent, *parked, *session)
        }
        (WorkPhase::Driven { session, .. }, outcome) => driven(settings, task, agent, *session, outcome),
        _ => None,
    }
}

fn starting(
    task: &Task,
    agent: &AgentId,
    session: u32,
    rejection: Option<&Rejection>,
    woken: bool,
    outcome: &Outcome,
) -> Option<Vec<Event>> {
    let (task_id, agent_id) = (task.id, agent.clone());
    let event = match (outcome, rejection) {
        (Outcome::SessionStarted { session: started }, None) if *started == session && woken => {
            let feedback =
                task.review_note.as_ref().map_or_else(String::new, |review_note| review_note.reason.clone());
            Event::AgentResumed { task_id, agent_id, session, feedback }
        }
        // The worktree stays: it holds work, or the way on is to raise the budget.
        (Outcome::SessionNotStarted { session: started, failure }, None)
            if *started == session && (woken || failure.code == Code::BudgetExceeded) =>
        {
            Event::AgentSessionFailed { task_id, agent_id, session, error: failure.clone() }
        }
        (Outcome::SessionStarted { session: started }, None) if *started == session => {
            Event::AgentAssigned { task_id, agent_id, session }
        }
        (Outcome::SessionStarted { session: started }, Some(rejection)) if *started == session => {
            Event::AgentResumed { task_id, agent_id, session, feedback: rejection.reason.clone() }
        }
        (Outcome::SessionNotStarted { session: started, failure }, None) if *started == session => {
            Event::AgentStartFailed { task_id, agent_id, session, error: failure.clone() }
        }
        (Outcome::SessionNotStarted { session: started, failure }, Some(_)) if *started == session => {
            let rejection_count = Some(task.rejection_count.saturating_sub(1));
            Event::AgentResumeFailed { task_id, agent_id, session, error: failure.clone(), rejection_count }
        }
        _ => return None,
    };
    Some(vec![event])
}

fn session_ended(
    settings: &Settings,
    task: &Task,
    agent: &AgentId,
    session: u32,
    end: &SessionEnd,
) -> Vec<Event> {
    let task_id = task.id;
    let failed = |error| vec![Event::AgentSessionFailed { task_id, agent_id: agent.clone(), session, error }];
    match end {
        SessionEnd::Finished(complete) => finished(settings, task, agent, complete),
        SessionEnd::Broken(breakdown) => broke(settings, task, agent, session, breakdown),
        SessionEnd::Failed(error) => failed(error.clone()),
        SessionEnd::Stopped => failed(stopped(task_id, session)),
    }
}

/// A session that was stopped though nobody cancelled or completed its task.
fn stopped(task: TaskId, session: u32) -> Failure {
    Failure::from(Problem::new(
        Code::AgentSessionFailed,
        format!("session {session} of task #{task} did not finish"),
        "it was stopped, but the task was neither cancelled nor completed",
        format!(
            "submit what is there with `regatta task complete {task}`, or give it up with `regatta task \
             cancel {task}`"
        ),
    ))
}

fn of_review(task: &Task, review: &Review, outcome: &Outcome) -> Option<Vec<Event>> {
    let task_id = task.id;
    let agent_id = || review.agent.clone();
    let branch = &review.worktree.branch;
    let event = match (&review.phase, outcome) {
        (ReviewPhase::Recording | ReviewPhase::Resubmitting { .. }, Outcome::DiffRecorded) => {
            Event::ApprovalRequested { task_id, diff: review.diff.digest.clone() }
        }
        (ReviewPhase::Recording | ReviewPhase::Resubmitting { .. }, Outcome::DiffNotRecorded(error)) => {
            Event::ApprovalRequestFailed { task_id, error: error.clone() }
        }
        (ReviewPhase::Pausing, Outcome::AgentPaused) => {
            let reason = "awaiting_approval".to_owned();
            Event::AgentPaused { task_id, agent_id: agent_id()?, reason }
        }
        (ReviewPhase::Pausing, Outcome::AgentNotPaused(error)) => {
            Event::AgentPauseFailed { task_id, agent_id: agent_id()?, error: error.clone() }
        }
        (ReviewPhase::Checking, Outcome::ChecksRan { commit, results }) => checked(task, commit, results),
        (ReviewPhase::Checking, Outcome::ChecksNotRun(error)) => {
            Event::ChecksRunFailed { task_id, error: error.clone() }
        }
        (ReviewPhase::Ready, Outcome::PolicyRefused(error)) if task.is_settling() => {
            Event::ApprovalApproveFailed { task_id, error: error.clone() }
        }
        (ReviewPhase::Merging { approver }, outcome) => return merging(task, review, approver, outcome),
        (ReviewPhase::Stopping { .. }, Outcome::AgentStopped) => {
            Event::AgentStopped { task_id, agent_id: agent_id() }
        }
        (ReviewPhase::Stopping { .. }, Outcome::AgentNotStopped(error)) => {
            Event::AgentStopFailed { task_id, agent_id: agent_id(), error: error.clone() }
        }
        (ReviewPhase::Removing { reason }, outcome) => {
            return cancelled(task, branch, reason.as_ref(), outcome);
        }
        _ => return None,
    };
    Some(vec![event])
}

fn merging(task: &Task, review: &Review, approver: &str, outcome: &Outcome) -> Option<Vec<Event>> {
    let task_id = task.id;
    match outcome {
        Outcome::Merged { commit, checkouts } => Some(vec![
            Event::WorktreeMerged {
                task_id,
                branch: review.worktree.branch.clone(),
                target: review.worktree.target.clone(),
                commit: commit.clone(),
                approver: approver.to_owned(),
                checkout: checkouts.first().cloned().unwrap_or(CheckoutNote::NotThere),
                checkouts: checkouts.clone(),
            },
            Event::TaskApproved { task_id, approver: approver.to_owned() },
        ]),
        Outcome::NotMerged { files, failure } => {
            Some(vec![Event::WorktreeMergeFailed { task_id, files: files.clone(), error: failure.clone() }])
        }
        _ => None,
    }
}

fn cancelled(task: &Task, branch: &str, reason: Option<&String>, outcome: &Outcome) -> Option<Vec<Event>> {
    let mut facts = removed(task, branch, outcome)?;
    if matches!(outcome, Outcome::WorktreeRemoved { .. }) {
        facts.push(Event::TaskCancelled { task_id: task.id, reason: reason.cloned() });
    }
    Some(facts)
}

fn removed(task: &Task, branch: &str, outcome: &Outcome) -> Option<Vec<Event>> {
    let task_id = task.id;
    let branch = branch.to_owned();
    match outcome {
        Outcome::WorktreeRemoved { salvage } => {
            let kept = |salvage| Event::WorktreeSalvaged { task_id, salvage, agent_id: None, session: None };
            let salvaged = salvage.clone().map(kept);
            Some(salvaged.into_iter().chain([Event::WorktreeRemoved { task_id, branch }]).collect())
        }
        Outcome::WorktreeNotRemoved(error) => {
            Some(vec![Event::WorktreeRemoveFailed { task_id, branch, error: error.clone() }])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, run};
    use expect_test::expect;

    #[test]
    fn a_session_that_ends_badly_leaves_the_task_in_progress() {
        check(
            "add; assign 1 alpha; settle 1",
            "break 1",
            expect![[r#"
            > break 1
            [agent:session:failed]
            #1 in_progress/halted, alpha error, error AGENT_SESSION_FAILED
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1",
            "halt 1",
            expect![[r#"
            > halt 1
            [agent:session:failed]
            #1 in_progress/halted, alpha error, error AGENT_SESSION_FAILED
        "#]],
        );
    }

    #[test]
    fn a_session_that_changed_nothing_does_not_complete() {
        check(
            "add; assign 1 alpha; settle 1",
            "idle 1; report 1 session_finished 1; complete 1",
            expect![[r#"
                > idle 1
                [task:complete:failed]
                #1 in_progress/halted, alpha error, error TASK_NO_DIFF
                > report 1 session_finished 1
                []
                #1 in_progress/halted, alpha error, error TASK_NO_DIFF
                > complete 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording, alpha error
            "#]],
        );
    }

    const OUTCOMES: [&str; 20] = [
        "worktree_created",
        "worktree_not_created",
        "session_started",
        "session_not_started",
        "session_finished",
        "session_failed",
        "session_stopped",
        "session_crashed",
        "wait_over",
        "diff_recorded",
        "diff_not_recorded",
        "agent_paused",
        "agent_not_paused",
        "policy_refused",
        "merged",
        "not_merged",
        "agent_stopped",
        "agent_not_stopped",
        "worktree_removed",
        "worktree_not_removed",
    ];

    #[test]
    fn a_report_that_nobody_waits_for_adds_nothing() {
        let rests = [
            "add",
            "add; assign 1 alpha; settle 1",
            "add; assign 1 alpha; settle 1; break 1",
            "add; assign 1 alpha; settle 1; ready 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1",
        ];
        for (given, outcome) in rests.iter().flat_map(|given| OUTCOMES.map(|outcome| (given, outcome))) {
            for session in [0, 2] {
                let text = run(given, &format!("report 1 {outcome} {session}"));
                assert!(text.contains("\n[]\n"), "{given}: {text}");
            }
        }
    }

    #[test]
    fn a_report_that_comes_twice_adds_nothing_the_second_time() {
        let pairs = [
            ("add; assign 1 alpha", "worktree_created"),
            ("add; assign 1 alpha", "worktree_not_created"),
            ("add; assign 1 alpha; ok 1", "session_started 1"),
            ("add; assign 1 alpha; ok 1", "session_not_started 1"),
            ("add; assign 1 alpha; settle 1", "session_finished 1"),
            ("add; assign 1 alpha; settle 1", "session_failed 1"),
            ("add; assign 1 alpha; settle 1; finish 1", "diff_recorded"),
            ("add; assign 1 alpha; settle 1; finish 1", "diff_not_recorded"),
            ("add; assign 1 alpha; settle 1; finish 1; ok 1", "agent_paused"),
            ("add; assign 1 alpha; settle 1; finish 1; ok 1", "agent_not_paused"),
            ("auto; add; assign 1 alpha; settle 1; finish 1; ok 1; ok 1", "policy_refused"),
            ("add; assign 1 alpha; settle 1; ready 1; approve 1", "merged"),
            ("add; assign 1 alpha; settle 1; ready 1; approve 1", "not_merged"),
            ("add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1", "worktree_removed"),
            ("add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1", "worktree_not_removed"),
            ("add; assign 1 alpha; settle 1; cancel 1", "agent_stopped"),
            ("add; assign 1 alpha; settle 1; cancel 1", "agent_not_stopped"),
            ("add; assign 1 alpha; settle 1; cancel 1; ok 1", "worktree_removed"),
            ("add; assign 1 alpha; settle 1; cancel 1; ok 1", "worktree_not_removed"),
            ("add; assign 1 alpha; settle 1; ready 1; reject 1 no", "session_started 2"),
            ("add; assign 1 alpha; settle 1; ready 1; reject 1 no", "session_not_started 2"),
        ];
        for (given, outcome) in pairs {
            let text = run(given, &format!("report 1 {outcome}; report 1 {outcome}"));
            assert_eq!(text.matches("\n[]\n").count(), 1, "{given}: {text}");
        }
    }
}
