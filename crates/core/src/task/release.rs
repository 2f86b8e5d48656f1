//! A run that is over lets go of its task: what it leaves is treated as what a session leaves.
//!
//! A run that has completed puts the work up for approval, and one that ended badly leaves it to a person, with the
//! reason. Work that is under review stays there; when it is sent back, the agent goes on with it by itself.

use super::{Failure, Stage, Task, WorkPhase, complete};
use crate::{Code, Event, Problem, RunEnd, RunId, Settings, TaskId};

/// Returns the facts that the end of a run adds, if the task is still the run's.
pub(super) fn release(settings: &Settings, task: &Task, run: RunId, end: &RunEnd) -> Option<Vec<Event>> {
    if task.run != Some(run) {
        return None;
    }
    let released = |error| Event::TaskReleased { task_id: task.id, run_id: run, error };
    let work = match &task.stage {
        Stage::InProgress(work) => work,
        Stage::WaitingApproval(_) => return Some(vec![released(None)]),
        Stage::Backlog | Stage::Verified(_) => return None,
    };
    match (&work.phase, end) {
        (WorkPhase::Driven { .. }, RunEnd::Failed(error)) => Some(vec![released(Some(error.clone()))]),
        (WorkPhase::Driven { feedback: Some(_), .. }, RunEnd::Completed(_)) => {
            Some(vec![released(Some(sent_back(task.id, run)))])
        }
        (WorkPhase::Driven { .. }, RunEnd::Completed(finished)) => {
            Some(match complete(settings, task, finished) {
                Ok(completed) => [released(None)].into_iter().chain(completed).collect(),
                Err(refusal) => vec![released(Some(Failure::from(refusal.explain())))],
            })
        }
        (WorkPhase::Halted | WorkPhase::Stopping { .. } | WorkPhase::Removing { .. }, _) => {
            Some(vec![released(None)])
        }
        _ => None,
    }
}

/// Work that a person sent back is not put up again as it is.
fn sent_back(task: TaskId, run: RunId) -> Failure {
    Failure::from(Problem::new(
        Code::RunFailed,
        format!("run {run} has left task #{task}"),
        "its work was sent back, and the run completed without going on with it",
        format!("`regatta task complete {task}` puts it up again, `regatta task cancel {task}` gives it up"),
    ))
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    const DRIVEN: &str =
        "add; assign 1 alpha run; settle 1; report 1 role_started 1 alpha; report 1 role_ended 1";

    #[test]
    fn a_run_that_completed_puts_its_work_up_for_approval() {
        check(
            DRIVEN,
            "report 1 run_completed 1; report 1 run_completed 1; settle 1",
            expect![[r#"
            > report 1 run_completed 1
            [task:released, task:completed] -> record_diff
            #1 waiting_approval/recording, alpha paused
            > report 1 run_completed 1
            []
            #1 waiting_approval/recording, alpha paused
            > settle 1
            [approval:requested, agent:paused] -> pause_agent
            #1 waiting_approval/ready, alpha paused
        "#]],
        );
    }

    #[test]
    fn what_is_sent_back_after_the_run_is_the_agents_own() {
        check(
            DRIVEN,
            "report 1 run_completed 1; settle 1; reject 1 not yet; settle 1; finish 1; settle 1; approve 1; settle 1",
            expect![[r#"
                > report 1 run_completed 1
                [task:released, task:completed] -> record_diff
                #1 waiting_approval/recording, alpha paused
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
                > approve 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused, rejected 1
                > settle 1
                [worktree:merged, task:approved, worktree:removed] -> remove_worktree
                #1 verified/cleanupdone, rejected 1
            "#]],
        );
    }

    #[test]
    fn a_run_that_completed_without_a_change_leaves_the_task_in_progress() {
        check(
            DRIVEN,
            "report 1 run_completed 0; cancel 1; settle 1",
            expect![[r#"
            > report 1 run_completed 0
            [task:released]
            #1 in_progress/halted, alpha error, error TASK_NO_DIFF
            > cancel 1
            [agent:stopping] -> stop_agent
            #1 in_progress/stopping, alpha error
            > settle 1
            [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
            #1 backlog
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
            #1 in_progress/halted, alpha error, error TASK_BUSY
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
                #1 in_progress/halted, alpha error, rejected 1, error RUN_FAILED
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
