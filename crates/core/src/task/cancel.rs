//! `CANCEL`: gives up the work on a task and keeps it as a salvage.
//!
//! The task stays where it is until the agent is confirmed dead and the worktree is gone; only then is it
//! cancelled. If either fails, it is back where it was, with the error.

use super::{Stage, Task};
use crate::machine::{Attempt, Stop};
use crate::{Cancel, Event, Situation};

/// Begins to cancel the task.
pub(crate) fn cancel(task: &Task, cancel: &Cancel) -> Vec<Event> {
    let agent = match &task.stage {
        Stage::InProgress(work) => &work.agent,
        Stage::WaitingApproval(review) => &review.agent,
        Stage::Backlog | Stage::Verified(_) => return Vec::new(),
    };
    vec![Event::AgentStopping {
        task_id: task.id,
        agent_id: agent.clone(),
        reason: cancel.reason.clone(),
        handover: None,
    }]
}

/// Nothing but what is under way stands against it, and that is asked before any guard.
#[allow(clippy::unnecessary_wraps, reason = "a guard may refuse")]
pub(crate) fn can_cancel(_: &Situation<'_>, _: &Attempt<'_>) -> Result<(), Stop> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Effect;
    use crate::testing::{World, check, id};
    use expect_test::expect;

    #[test]
    fn while_the_worktree_is_made() {
        check(
            "add; assign 1 alpha",
            "cancel 1 enough; settle 1",
            expect![[r#"
                > cancel 1 enough
                [agent:stopping] -> stop_agent
                #1 in_progress/stopping, alpha starting
                > settle 1
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #1 backlog
            "#]],
        );
        check(
            "add; assign 1 alpha; cancel 1",
            "fail 1; settle 1",
            expect![[r#"
                > fail 1
                []
                #1 in_progress/stopping, alpha starting
                > settle 1
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #1 backlog
            "#]],
        );
    }

    #[test]
    fn while_the_agent_starts() {
        check(
            "add; assign 1 alpha; ok 1",
            "cancel 1; report 1 session_started 1; settle 1",
            expect![[r#"
            > cancel 1
            [agent:stopping] -> stop_agent
            #1 in_progress/stopping, alpha starting
            > report 1 session_started 1
            []
            #1 in_progress/stopping, alpha starting
            > settle 1
            [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
            #1 backlog
        "#]],
        );
    }

    #[test]
    fn while_a_session_runs() {
        check(
            "add; assign 1 alpha; settle 1",
            "cancel 1; report 1 session_finished 1; settle 1",
            expect![[r#"
                > cancel 1
                [agent:stopping] -> stop_agent
                #1 in_progress/stopping, alpha running
                > report 1 session_finished 1
                []
                #1 in_progress/stopping, alpha running
                > settle 1
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #1 backlog
            "#]],
        );
    }

    #[test]
    fn after_a_session_went_badly() {
        check(
            "add; assign 1 alpha; settle 1; break 1",
            "cancel 1; settle 1",
            expect![[r#"
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
    fn while_the_diff_is_recorded() {
        check(
            "add; assign 1 alpha; settle 1; finish 1",
            "cancel 1; report 1 diff_recorded; settle 1",
            expect![[r#"
                > cancel 1
                [agent:stopping] -> stop_agent
                #1 waiting_approval/stopping, alpha running
                > report 1 diff_recorded
                []
                #1 waiting_approval/stopping, alpha running
                > settle 1
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #1 backlog
            "#]],
        );
    }

    #[test]
    fn while_the_agent_is_paused() {
        check(
            "add; assign 1 alpha; settle 1; finish 1; ok 1",
            "cancel 1; report 1 agent_paused; settle 1",
            expect![[r#"
                > cancel 1
                [agent:stopping] -> stop_agent
                #1 waiting_approval/stopping, alpha running
                > report 1 agent_paused
                []
                #1 waiting_approval/stopping, alpha running
                > settle 1
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #1 backlog
            "#]],
        );
    }

    #[test]
    fn while_it_waits_for_a_decision() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "cancel 1; settle 1",
            expect![[r#"
            > cancel 1
            [agent:stopping] -> stop_agent
            #1 waiting_approval/stopping, alpha paused
            > settle 1
            [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
            #1 backlog
        "#]],
        );
    }

    #[test]
    fn while_a_rejected_agent_resumes() {
        check(
            "add; assign 1 alpha; settle 1; ready 1; reject 1 no",
            "cancel 1; settle 1",
            expect![[r#"
                > cancel 1
                [agent:stopping] -> stop_agent
                #1 in_progress/stopping, alpha starting, rejected 1
                > settle 1
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #1 backlog, rejected 1
            "#]],
        );
    }

    #[test]
    fn not_while_it_is_merged_or_removed_already() {
        check(
            "add; assign 1 alpha; settle 1; ready 1; approve 1",
            "cancel 1",
            expect![[r#"
            > cancel 1
            error[TASK_BUSY]: task #1 is busy
              why:  it is approved and being merged
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
        "#]],
        );
        check(
            "add; assign 1 alpha; ok 1; fail 1",
            "cancel 1",
            expect![[r#"
            > cancel 1
            error[TASK_BUSY]: task #1 is busy
              why:  its agent could not be started, and its worktree is being removed
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; cancel 1",
            "cancel 1; ok 1; cancel 1",
            expect![[r#"
            > cancel 1
            error[TASK_BUSY]: task #1 is busy
              why:  it is already being cancelled
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
            > ok 1
            [agent:stopped] -> remove_worktree
            #1 in_progress/removing, alpha error
            > cancel 1
            error[TASK_BUSY]: task #1 is busy
              why:  it is already being cancelled
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; ready 1; cancel 1",
            "cancel 1; ok 1; cancel 1",
            expect![[r#"
            > cancel 1
            error[TASK_BUSY]: task #1 is busy
              why:  it is already being cancelled
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
            > ok 1
            [agent:stopped] -> remove_worktree
            #1 waiting_approval/removing, alpha paused
            > cancel 1
            error[TASK_BUSY]: task #1 is busy
              why:  it is already being cancelled
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
        "#]],
        );
    }

    #[test]
    fn a_cancelled_task_can_be_assigned_again() {
        check(
            "add; assign 1 alpha; settle 1; cancel 1; settle 1",
            "assign 1 beta; settle 1; ready 1",
            expect![[r#"
                > assign 1 beta
                [task:assigned] -> create_worktree
                #1 in_progress/preparing, beta starting
                > settle 1
                [worktree:created, agent:assigned] -> run_session
                #1 in_progress/running, beta running
                > ready 1
                [task:completed, approval:requested, agent:paused] -> record_diff, pause_agent
                #1 waiting_approval/ready, beta paused
            "#]],
        );
    }

    #[test]
    fn the_session_that_is_starting_is_the_one_to_stop() {
        let world = World::given("add; assign 1 alpha; settle 1; ready 1; reject 1 no; cancel 1 enough");
        assert_eq!(world.open.last().unwrap().effect, Effect::StopAgent { task: id(1), session: 2 });
    }

    #[test]
    fn every_salvage_is_kept() {
        let once = "assign 1 alpha; settle 1; cancel 1; settle 1";
        let world = World::given(&format!("add; {once}; {once}"));
        let names: Vec<&str> =
            world.tasks[&id(1)].salvages.iter().map(|salvage| salvage.name.as_str()).collect();
        assert_eq!(names, ["refs/regatta/salvage/1/1", "refs/regatta/salvage/1/2"]);
    }
}
