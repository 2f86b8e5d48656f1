//! `COMPLETE`: puts the work of a task up for approval.

use super::Task;
use crate::machine::{Attempt, Stop};
use crate::{Command, Complete, Event, Refusal, Settings, Situation};

/// Completes the task.
pub(crate) fn complete(settings: &Settings, task: &Task, complete: &Complete) -> Vec<Event> {
    let Complete { diff, turn_count, summary } = complete;
    let open = task.open_criteria().into_iter().map(str::to_owned).collect();
    vec![Event::completed(task.id, diff, *turn_count, summary.clone(), settings, open)]
}

pub(crate) fn diff_not_empty(_: &Situation<'_>, attempt: &Attempt<'_>) -> Result<(), Stop> {
    match attempt.command {
        Command::Complete(complete) => Ok(check_diff(attempt.task, complete)?),
        _ => Ok(()),
    }
}

/// Makes sure that there is something to review.
pub(super) fn check_diff(task: &Task, complete: &Complete) -> Result<(), Refusal> {
    if complete.diff.is_empty() { Err(Refusal::TaskNoDiff { task: task.id }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn work_that_was_halted_or_still_runs_can_be_completed() {
        check(
            "add; assign 1 alpha; settle 1",
            "complete 1",
            expect![[r#"
            > complete 1
            [task:completed] -> record_diff
            #1 waiting_approval/recording, alpha running
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; break 1",
            "complete 1; settle 1",
            expect![[r#"
            > complete 1
            [task:completed] -> record_diff
            #1 waiting_approval/recording, alpha error
            > settle 1
            [approval:requested, agent:paused] -> pause_agent
            #1 waiting_approval/ready, alpha paused
        "#]],
        );
    }

    #[test]
    fn without_a_change_it_stays_in_progress() {
        check(
            "add; assign 1 alpha; settle 1",
            "complete 1 empty; complete 1",
            expect![[r#"
            > complete 1 empty
            error[TASK_NO_DIFF]: task #1 was not completed
              why:  its branch has no change to review; it stays in in_progress
              next: change something in its worktree and `regatta task complete 1`, or `regatta task cancel 1`
            > complete 1
            [task:completed] -> record_diff
            #1 waiting_approval/recording, alpha running
        "#]],
        );
    }

    #[test]
    fn it_waits_for_what_is_under_way() {
        check(
            "add; assign 1 alpha",
            "complete 1; ok 1; complete 1; fail 1; complete 1",
            expect![[r#"
            > complete 1
            error[TASK_BUSY]: task #1 is busy
              why:  its worktree is being created
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
            > ok 1
            [worktree:created] -> run_session
            #1 in_progress/starting, alpha starting
            > complete 1
            error[TASK_BUSY]: task #1 is busy
              why:  its agent is being started
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
            > fail 1
            [agent:start:failed] -> remove_worktree
            #1 in_progress/unwinding, alpha error, error AGENT_START_FAILED
            > complete 1
            error[TASK_BUSY]: task #1 is busy
              why:  its agent could not be started, and its worktree is being removed
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; cancel 1",
            "complete 1; ok 1; complete 1",
            expect![[r#"
            > complete 1
            error[TASK_BUSY]: task #1 is busy
              why:  it is being cancelled
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
            > ok 1
            [agent:stopped] -> remove_worktree
            #1 in_progress/removing, alpha error
            > complete 1
            error[TASK_BUSY]: task #1 is busy
              why:  it is being cancelled
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
        "#]],
        );
    }
}
