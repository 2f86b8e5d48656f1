//! `submit`: puts up what is in the worktree, no matter who wrote it.
//!
//! While the task is in progress that is `COMPLETE`. A diff that waits for approval is replaced by a new one, and its
//! checks are run again; the old one can no longer be approved. So a conflict or a dirty worktree that a person fixed
//! can be approved.

use super::busy::check_not_busy;
use super::{Stage, Task};
use crate::decide::{accepted, carry_out};
use crate::machine::{Attempt, CommandKind};
use crate::{Actor, Command, Complete, Decision, Event, Refusal, Situation};

/// Submits the work when there is something to review.
pub(crate) fn submit(
    situation: &Situation<'_>,
    task: &Task,
    actor: &Actor,
    submit: &Complete,
) -> Result<Decision, Refusal> {
    match &task.stage {
        Stage::InProgress(_) => {
            let command = &Command::Complete(submit.clone());
            return carry_out(situation, &Attempt { task, actor, command });
        }
        Stage::WaitingApproval(_) => {}
        Stage::Backlog => {
            return Err(not_legal(task, format!("assign it first: `regatta task assign {}`", task.id)));
        }
        Stage::Verified(_) => {
            return Err(not_legal(task, "add a new task with `regatta task add`".to_owned()));
        }
    }
    check_not_busy(task, CommandKind::Approve)?;
    if submit.diff.is_empty() {
        return Err(Refusal::NothingSubmitted { task: task.id });
    }
    Ok(accepted(vec![Event::submitted(task.id, &submit.diff, situation.settings)]))
}

fn not_legal(task: &Task, next: String) -> Refusal {
    let column = task.column();
    let why = format!("it is in {column}, where there is no worktree to submit");
    Refusal::NotLegal { task: task.id, column, verb: "submit", why, next }
}

#[cfg(test)]
mod tests {
    use crate::testing::{World, check, commit, id};
    use expect_test::expect;

    #[test]
    fn in_progress_it_is_complete() {
        check(
            "add; assign 1 alpha; settle 1; break 1",
            "submit 1; settle 1",
            expect![[r#"
            > submit 1
            [task:completed] -> record_diff
            #1 waiting_approval/recording, alpha error
            > settle 1
            [approval:requested, agent:paused] -> pause_agent
            #1 waiting_approval/ready, alpha paused
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1",
            "submit 1 empty; submit 1",
            expect![[r#"
            > submit 1 empty
            error[TASK_NO_DIFF]: task #1 was not completed
              why:  its branch has no change to review; it stays in in_progress
              next: change something in its worktree and `regatta task complete 1`, or `regatta task cancel 1`
            > submit 1
            [task:completed] -> record_diff
            #1 waiting_approval/recording, alpha running
        "#]],
        );
        check(
            "add; take 1; settle 1",
            "submit 1; settle 1",
            expect![[r#"
            > submit 1
            [task:completed] -> record_diff
            #1 waiting_approval/recording
            > settle 1
            [approval:requested]
            #1 waiting_approval/ready
        "#]],
        );
    }

    #[test]
    fn a_diff_that_waits_is_replaced_and_its_checks_run_again() {
        check(
            "checks test; add; assign 1 alpha; settle 1; ready 1; approve 1; fail 1",
            "submit 1; approve 1; cancel 1; ok 1; ok 1; approve 1 head 0000001; approve 1; settle 1",
            expect![[r#"
                > submit 1
                [task:submitted] -> record_diff
                #1 waiting_approval/resubmitting, alpha paused
                > approve 1
                error[TASK_BUSY]: task #1 is busy
                  why:  its diff is being recorded
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
                > cancel 1
                error[TASK_BUSY]: task #1 is busy
                  why:  its new diff is being recorded
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
                > ok 1
                [approval:requested] -> run_checks
                #1 waiting_approval/checking, alpha paused
                > ok 1
                [checks:ran]
                #1 waiting_approval/ready, alpha paused
                > approve 1 head 0000001
                error[APPROVAL_STALE]: task #1 was not merged
                  why:  the diff under review ends at 0000002000, but what you approve is 0000001
                  next: submit the current work with `regatta task submit 1`, review it with `regatta task diff 1`, then approve it
                > approve 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
                > settle 1
                [worktree:merged, task:approved, worktree:removed] -> remove_worktree
                #1 verified/cleanupdone
            "#]],
        );
        let world = World::given("add; assign 1 alpha; settle 1; ready 1; submit 1; settle 1");
        let task = &world.tasks[&id(1)];
        assert_eq!((task.completions, &task.diff().unwrap().head), (2, &commit(2)));
    }

    #[test]
    fn a_diff_that_cannot_be_recorded_leaves_the_one_before() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "submit 1 empty; submit 1; fail 1; submit 1; settle 1",
            expect![[r#"
                > submit 1 empty
                error[TASK_NO_DIFF]: task #1 was not submitted
                  why:  its branch has no change to review; the diff that waits for approval stays
                  next: change something in its worktree and `regatta task submit 1`, or `regatta task cancel 1`
                > submit 1
                [task:submitted] -> record_diff
                #1 waiting_approval/resubmitting, alpha paused
                > fail 1
                [approval:request:failed]
                #1 waiting_approval/ready, alpha error, error GIT_FAILED
                > submit 1
                [task:submitted] -> record_diff
                #1 waiting_approval/resubmitting, alpha error
                > settle 1
                [approval:requested]
                #1 waiting_approval/ready, alpha error
            "#]],
        );
        let world = World::given("add; assign 1 alpha; settle 1; ready 1; submit 1; fail 1");
        assert_eq!(world.tasks[&id(1)].diff().unwrap().head, commit(1));
    }

    #[test]
    fn a_policy_approves_the_new_diff() {
        check(
            "add; assign 1 alpha; settle 1; ready 1; approve 1; fail 1; auto",
            "submit 1; settle 1",
            expect![[r#"
                > submit 1
                [task:submitted] -> record_diff
                #1 waiting_approval/resubmitting, alpha paused
                > settle 1
                [approval:requested, approval:approved, worktree:merged, task:approved, worktree:removed] -> approve_by_policy, merge_branch, remove_worktree
                #1 verified/cleanupdone
            "#]],
        );
    }

    #[test]
    fn elsewhere_there_is_nothing_to_submit() {
        check(
            "add",
            "submit 1",
            expect![[r#"
            > submit 1
            error[TASK_INVALID_TRANSITION]: `submit` was refused for task #1
              why:  it is in backlog, where there is no worktree to submit
              next: assign it first: `regatta task assign 1`
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1",
            "submit 1",
            expect![[r#"
            > submit 1
            error[TASK_INVALID_TRANSITION]: `submit` was refused for task #1
              why:  it is in verified, where there is no worktree to submit
              next: add a new task with `regatta task add`
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; ready 1; approve 1",
            "submit 1",
            expect![[r#"
            > submit 1
            error[TASK_BUSY]: task #1 is busy
              why:  it is approved and being merged
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
        "#]],
        );
    }
}
