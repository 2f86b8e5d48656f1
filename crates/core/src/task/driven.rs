//! A task that a run works on: its sessions are steps of the run, which also says when the work is complete.
//!
//! Between two sessions the agent is free. A rejection hands the task back to the run. What becomes of it when the run
//! ends is in `release`.

use super::Task;
use super::park::broke;
use crate::{AgentId, Event, Outcome, Settings};

/// Returns the facts that an outcome adds while `session` is under way, or none is.
pub(super) fn driven(
    settings: &Settings,
    task: &Task,
    agent: &AgentId,
    session: Option<u32>,
    outcome: &Outcome,
) -> Option<Vec<Event>> {
    let task_id = task.id;
    let event = match (session, outcome) {
        (None, Outcome::RoleStarted { agent, session }) if *session == task.sessions + 1 => {
            Event::AgentAssigned { task_id, agent_id: agent.clone(), session: *session }
        }
        (Some(session), Outcome::RoleEnded { session: ended }) if session == *ended => {
            Event::AgentPaused { task_id, agent_id: agent.clone(), reason: "step_done".to_owned() }
        }
        // A role that may not write did so; the task's own work continues without that.
        (Some(session), Outcome::RoleWrote { session: wrote, salvage }) if session == *wrote => {
            Event::WorktreeSalvaged {
                task_id,
                salvage: salvage.clone(),
                agent_id: Some(agent.clone()),
                session: Some(session),
            }
        }
        (Some(session), Outcome::RoleBroke { session: ended, breakdown }) if session == *ended => {
            let parked = broke(settings, task, agent, session, breakdown);
            match parked.first() {
                Some(Event::AgentParked { .. }) => return Some(parked),
                // The task stays with its run, which learns of it.
                _ => {
                    Event::AgentPaused { task_id, agent_id: agent.clone(), reason: "step_failed".to_owned() }
                }
            }
        }
        _ => return None,
    };
    Some(vec![event])
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn the_sessions_of_a_driven_task_are_those_of_its_run() {
        check(
            "add; assign 1 alpha run; settle 1",
            "report 1 role_started 1 alpha; complete 1; report 1 role_ended 1; report 1 role_started 2 beta; \
             report 1 role_ended 2; complete 1; settle 1",
            expect![[r#"
                > report 1 role_started 1 alpha
                [agent:assigned]
                #1 in_progress/driven, alpha running
                > complete 1
                error[TASK_BUSY]: task #1 is busy
                  why:  a run works on it
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
                > report 1 role_ended 1
                [agent:paused]
                #1 in_progress/driven, alpha paused
                > report 1 role_started 2 beta
                [agent:assigned]
                #1 in_progress/driven, beta running
                > report 1 role_ended 2
                [agent:paused]
                #1 in_progress/driven, beta paused
                > complete 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording, beta paused
                > settle 1
                [approval:requested, agent:paused] -> pause_agent
                #1 waiting_approval/ready, beta paused
            "#]],
        );
    }

    #[test]
    fn a_session_that_broke_off_is_tried_again_by_its_run_and_stays_its_own() {
        check(
            "retries 1; add; assign 1 alpha run; settle 1; report 1 role_started 1 alpha",
            "report 1 role_broke 1; report 1 role_broke 1; report 1 role_started 2 alpha; report 1 role_broke 2",
            expect![[r#"
                > report 1 role_broke 1
                [agent:parked]
                #1 in_progress/driven, alpha paused, error AGENT_SESSION_FAILED
                > report 1 role_broke 1
                []
                #1 in_progress/driven, alpha paused, error AGENT_SESSION_FAILED
                > report 1 role_started 2 alpha
                [agent:assigned]
                #1 in_progress/driven, alpha running
                > report 1 role_broke 2
                [agent:paused]
                #1 in_progress/driven, alpha paused
            "#]],
        );
    }

    #[test]
    fn a_session_counts_once() {
        check(
            "add; assign 1 alpha run; settle 1; report 1 role_started 1 alpha",
            "report 1 role_started 1 alpha; report 1 role_started 2 alpha; report 1 role_ended 2; report 1 role_ended 1; \
             report 1 role_ended 1",
            expect![[r#"
                > report 1 role_started 1 alpha
                []
                #1 in_progress/driven, alpha running
                > report 1 role_started 2 alpha
                []
                #1 in_progress/driven, alpha running
                > report 1 role_ended 2
                []
                #1 in_progress/driven, alpha running
                > report 1 role_ended 1
                [agent:paused]
                #1 in_progress/driven, alpha paused
                > report 1 role_ended 1
                []
                #1 in_progress/driven, alpha paused
            "#]],
        );
    }

    #[test]
    fn what_a_role_that_may_not_write_changed_is_kept_and_reported() {
        check(
            "add; assign 1 alpha run; settle 1; report 1 role_started 1 alpha",
            "report 1 role_wrote 2; report 1 role_wrote 1; report 1 role_ended 1; report 1 role_wrote 1",
            expect![[r#"
                > report 1 role_wrote 2
                []
                #1 in_progress/driven, alpha running
                > report 1 role_wrote 1
                [worktree:salvaged]
                #1 in_progress/driven, alpha running
                > report 1 role_ended 1
                [agent:paused]
                #1 in_progress/driven, alpha paused
                > report 1 role_wrote 1
                []
                #1 in_progress/driven, alpha paused
            "#]],
        );
    }

    #[test]
    fn a_rejection_hands_the_task_back_to_its_run() {
        check(
            "add; assign 1 alpha run; settle 1; complete 1; settle 1",
            "reject 1 not yet; report 1 role_started 1 beta",
            expect![[r#"
                > reject 1 not yet
                [approval:rejected, task:rejected]
                #1 in_progress/driven, alpha paused, rejected 1
                > report 1 role_started 1 beta
                [agent:assigned]
                #1 in_progress/driven, beta running, rejected 1
            "#]],
        );
    }

    #[test]
    fn a_driven_task_can_be_cancelled() {
        check(
            "add; assign 1 alpha run; settle 1; report 1 role_started 1 alpha",
            "cancel 1; settle 1; assign 1 alpha; settle 1",
            expect![[r#"
                > cancel 1
                [agent:stopping] -> stop_agent
                #1 in_progress/stopping, alpha running
                > settle 1
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #1 backlog
                > assign 1 alpha
                [task:assigned] -> create_worktree
                #1 in_progress/preparing, alpha starting
                > settle 1
                [worktree:created, agent:assigned] -> run_session
                #1 in_progress/running, alpha running
            "#]],
        );
    }

    #[test]
    fn a_run_that_is_played_from_a_recording_needs_no_agent_of_the_config() {
        check(
            "limit 1; add; add; assign 1 tape taped",
            "assign 2 tape run; assign 2 tape taped; settle 1; settle 2; report 1 role_started 1 tape; \
             report 2 role_started 1 tape",
            expect![[r#"
                > assign 2 tape run
                error[AGENT_NOT_FOUND]: there is no agent `tape`
                  why:  the config has no `[agents.tape]` entry
                  next: choose one of: alpha, beta; or add `[agents.tape]` to .regatta/config.toml
                > assign 2 tape taped
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, tape paused
                > settle 1
                [worktree:created]
                #1 in_progress/driven, tape paused
                > settle 2
                [worktree:created]
                #2 in_progress/driven, tape paused
                > report 1 role_started 1 tape
                [agent:assigned]
                #1 in_progress/driven, tape running
                > report 2 role_started 1 tape
                [agent:assigned]
                #2 in_progress/driven, tape running
            "#]],
        );
    }

    #[test]
    fn a_run_waits_by_itself() {
        check(
            "limit 1; add; add; assign 1 alpha",
            "assign 2 beta run; queue",
            expect![[r#"
                > assign 2 beta run
                error[CONCURRENCY_LIMIT_EXCEEDED]: task #2 was not assigned
                  why:  1 of 1 agents are running
                  next: assign it without `--no-queue`, or raise `max_concurrent_agents` in .regatta/config.toml
                > queue
                next: none
            "#]],
        );
    }
}
