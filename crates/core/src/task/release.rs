//! A run that is over lets go of its task, and leaves it to a person with the reason.
//!
//! What the run did not submit is never put up for approval: nobody reviewed it, and a policy could merge it. Work that is
//! under review stays there; when it is sent back, the agent continues with it alone.

use super::{Failure, Stage, Task, WorkPhase};
use crate::{Code, Event, Problem, RunEnd, RunId, TaskId};

/// Returns the facts that the end of a run adds, if the task is still the run's.
pub(super) fn release(task: &Task, run: RunId, end: &RunEnd) -> Option<Vec<Event>> {
    if task.run != Some(run) {
        return None;
    }
    let released = |error| Some(vec![Event::TaskReleased { task_id: task.id, run_id: run, error }]);
    let work = match &task.stage {
        Stage::InProgress(work) => work,
        Stage::WaitingApproval(_) => return released(None),
        Stage::Backlog | Stage::Verified(_) => return None,
    };
    match (&work.phase, end) {
        (WorkPhase::Driven { .. }, RunEnd::Failed(error)) => released(Some(error.clone())),
        (WorkPhase::Driven { feedback, .. }, RunEnd::Completed) => {
            released(Some(not_submitted(task.id, run, feedback.is_some())))
        }
        (WorkPhase::Halted | WorkPhase::Stopping { .. } | WorkPhase::Removing { .. }, _) => released(None),
        _ => None,
    }
}

/// Returns the fact that a run which continues has its task again, if nobody did anything with it since.
pub fn take_up(task: &Task, run: RunId) -> Option<Event> {
    let Stage::InProgress(work) = &task.stage else { return None };
    let is_left = work.phase == WorkPhase::Halted && work.agent.is_some() && task.run.is_none();
    is_left.then_some(Event::TaskTakenUp { task_id: task.id, run_id: run })
}

fn not_submitted(task: TaskId, run: RunId, is_sent_back: bool) -> Failure {
    let why = if is_sent_back {
        "its work was sent back, and the run completed without working on it again"
    } else {
        "the run completed without submitting its work, so nobody has reviewed it"
    };
    Failure::from(Problem::new(
        Code::TaskNotSubmitted,
        format!("run {run} has left task #{task}"),
        why,
        format!(
            "look at `regatta task diff {task}`, then submit it with `regatta task submit {task}`, let its \
             agent continue with `regatta task resume {task}`, or give it up with `regatta task cancel {task}`"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    const DRIVEN: &str =
        "add; assign 1 alpha run; settle 1; report 1 role_started 1 alpha; report 1 role_ended 1";

    #[test]
    fn a_run_that_completed_without_submitting_leaves_its_task_in_progress_whatever_the_policy() {
        check(
            &format!("auto; {DRIVEN}"),
            "report 1 run_completed 1; report 1 run_completed 1; settle 1",
            expect![[r#"
                > report 1 run_completed 1
                [task:released]
                #1 in_progress/halted, alpha error, error TASK_NOT_SUBMITTED
                > report 1 run_completed 1
                []
                #1 in_progress/halted, alpha error, error TASK_NOT_SUBMITTED
                > settle 1
                []
                #1 in_progress/halted, alpha error, error TASK_NOT_SUBMITTED
            "#]],
        );
    }

    #[test]
    fn what_is_sent_back_after_the_run_is_the_agents_own() {
        check(
            DRIVEN,
            "report 1 run_completed 1; complete 1; settle 1; reject 1 not yet; settle 1; finish 1; settle 1",
            expect![[r#"
                > report 1 run_completed 1
                [task:released]
                #1 in_progress/halted, alpha error, error TASK_NOT_SUBMITTED
                > complete 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording, alpha error
                > settle 1
                [approval:requested, agent:paused] -> pause_agent
                #1 waiting_approval/ready, alpha paused
                > reject 1 not yet
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, alpha starting, rejected 1
                > settle 1
                [agent:resumed]
                #1 in_progress/running, alpha running, rejected 1
                > finish 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording, alpha running, rejected 1
                > settle 1
                [approval:requested, agent:paused] -> pause_agent
                #1 waiting_approval/ready, alpha paused, rejected 1
            "#]],
        );
    }

    #[test]
    fn a_run_that_failed_or_was_stopped_leaves_its_task_to_a_person() {
        check(
            DRIVEN,
            "report 1 run_failed; report 1 run_failed; complete 1; settle 1; reject 1 no",
            expect![[r#"
                > report 1 run_failed
                [task:released]
                #1 in_progress/halted, alpha error, error RUN_STOPPED
                > report 1 run_failed
                []
                #1 in_progress/halted, alpha error, error RUN_STOPPED
                > complete 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording, alpha error
                > settle 1
                [approval:requested, agent:paused] -> pause_agent
                #1 waiting_approval/ready, alpha paused
                > reject 1 no
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, alpha starting, rejected 1
            "#]],
        );
        let killed = "add; assign 1 alpha run; settle 1; report 1 role_started 1 alpha";
        check(
            killed,
            "report 1 run_failed; cancel 1; settle 1",
            expect![[r#"
            > report 1 run_failed
            [task:released]
            #1 in_progress/halted, alpha error, error RUN_STOPPED
            > cancel 1
            [agent:stopping] -> stop_agent
            #1 in_progress/stopping, alpha error
            > settle 1
            [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
            #1 backlog
        "#]],
        );
        check(
            killed,
            "report 1 run_completed 1",
            expect![[r#"
                > report 1 run_completed 1
                [task:released]
                #1 in_progress/halted, alpha error, error TASK_NOT_SUBMITTED
            "#]],
        );
    }

    #[test]
    fn work_under_review_stays_there() {
        check(
            "add; assign 1 alpha run; settle 1; complete 1; settle 1",
            "report 1 run_failed; reject 1 once more; settle 1",
            expect![[r#"
                > report 1 run_failed
                [task:released]
                #1 waiting_approval/ready, alpha paused
                > reject 1 once more
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, alpha starting, rejected 1
                > settle 1
                [agent:resumed]
                #1 in_progress/running, alpha running, rejected 1
            "#]],
        );
        check(
            "add; assign 1 alpha run; settle 1; complete 1",
            "report 1 run_completed 1; settle 1; approve 1; settle 1; report 1 run_failed",
            expect![[r#"
                > report 1 run_completed 1
                [task:released]
                #1 waiting_approval/recording, alpha paused
                > settle 1
                [approval:requested, agent:paused] -> pause_agent
                #1 waiting_approval/ready, alpha paused
                > approve 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
                > settle 1
                [worktree:merged, task:approved, worktree:removed] -> remove_worktree
                #1 verified/cleanupdone
                > report 1 run_failed
                []
                #1 verified/cleanupdone
            "#]],
        );
    }

    #[test]
    fn work_that_was_sent_back_is_not_put_up_again() {
        check(
            "add; assign 1 alpha run; settle 1; complete 1; settle 1; reject 1 not like this",
            "report 1 run_completed 1; complete 1",
            expect![[r#"
                > report 1 run_completed 1
                [task:released]
                #1 in_progress/halted, alpha error, rejected 1, error TASK_NOT_SUBMITTED
                > complete 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording, alpha error, rejected 1
            "#]],
        );
    }

    #[test]
    fn a_task_that_is_no_longer_the_runs_is_left_alone() {
        check(
            "add",
            "report 1 run_failed; report 1 run_completed 1",
            expect![[r#"
            > report 1 run_failed
            []
            #1 backlog
            > report 1 run_completed 1
            []
            #1 backlog
        "#]],
        );
        check(
            "add; assign 1 alpha run",
            "report 1 run_failed",
            expect![[r#"
            > report 1 run_failed
            []
            #1 in_progress/preparing, alpha paused
        "#]],
        );
        check(
            "add; assign 1 alpha run; settle 1; cancel 1; settle 1",
            "report 1 run_failed",
            expect![[r#"
            > report 1 run_failed
            []
            #1 backlog
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1",
            "report 1 run_failed; report 1 run_completed 1",
            expect![[r#"
                > report 1 run_failed
                []
                #1 in_progress/running, alpha running
                > report 1 run_completed 1
                []
                #1 in_progress/running, alpha running
            "#]],
        );
        check(
            "add; assign 1 alpha run; settle 1; cancel 1",
            "report 1 run_failed; fail 1; complete 1; settle 1; reject 1 no",
            expect![[r#"
                > report 1 run_failed
                [task:released]
                #1 in_progress/stopping, alpha paused
                > fail 1
                [agent:stop:failed]
                #1 in_progress/halted, alpha paused, error AGENT_STOP_FAILED
                > complete 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording, alpha paused
                > settle 1
                [approval:requested, agent:paused] -> pause_agent
                #1 waiting_approval/ready, alpha paused
                > reject 1 no
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, alpha starting, rejected 1
            "#]],
        );
    }
}
