//! `reassign`: gives a task to another agent, or to the person who asks.
//!
//! Work that nobody is at continues with the new agent or person, in the same worktree. A session under way is stopped
//! first, if that was asked for. A task that waits for approval only changes hands, and a queued one waits for the new
//! agent instead.

use super::busy::check_not_busy;
use super::{Stage, Task, WorkPhase};
use crate::decide::{accepted, carry_out};
use crate::machine::{Attempt, CommandKind};
use crate::{Actor, AgentId, Assign, Command, Decision, Event, Reassign, Refusal, Situation, Take};
use serde::{Deserialize, Serialize};

/// Who has a task once the session under way is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Handover {
    /// The agent, unless a person takes it.
    pub agent_id: Option<AgentId>,
    /// The person who takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// What the agent's prompt says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

impl Handover {
    /// Returns the fact that the task was given over; an agent begins its session with it.
    pub(super) fn given(&self, task: &Task, from: Option<AgentId>) -> Event {
        Event::TaskReassigned {
            task_id: task.id,
            agent_id: self.agent_id.clone(),
            owner: self.owner.clone(),
            from,
            session: self.agent_id.as_ref().map(|_| task.sessions + 1),
            feedback: self.feedback.clone(),
        }
    }
}

/// Gives the task to another agent, or to the person who asks.
pub(crate) fn reassign(
    situation: &Situation<'_>,
    task: &Task,
    actor: &Actor,
    reassign: &Reassign,
) -> Result<Decision, Refusal> {
    let accepted = |events| Ok(accepted(events));
    match &task.stage {
        Stage::Backlog => of_queue(situation, task, actor, reassign),
        Stage::Verified(_) => Err(not_legal(
            task,
            format!("it is in {}, and nothing is left to do", task.column()),
            "add a new task with `regatta task add`".to_owned(),
        )),
        _ if task.run.is_some() => Err(not_legal(
            task,
            "a run works on it and chooses its agents".to_owned(),
            format!("see `regatta task show {}`; `regatta run stop` ends the run first", task.id),
        )),
        Stage::WaitingApproval(review) => {
            check_not_busy(task, CommandKind::Assign)?;
            let to = handover(situation, task, actor, reassign)?;
            if to.agent_id == review.agent && (to.owner.is_none() || to.owner == task.owner) {
                return accepted(Vec::new());
            }
            accepted(vec![Event::TaskReassigned {
                task_id: task.id,
                agent_id: to.agent_id,
                owner: to.owner,
                from: review.agent.clone(),
                session: None,
                feedback: None,
            }])
        }
        Stage::InProgress(work) => {
            let to = handover(situation, task, actor, reassign)?;
            match &work.phase {
                WorkPhase::ByHand if to.agent_id.is_none() && to.owner == task.owner => accepted(Vec::new()),
                WorkPhase::Halted | WorkPhase::Parked { .. } | WorkPhase::ByHand => {
                    accepted(vec![to.given(task, work.agent.clone())])
                }
                WorkPhase::Running { .. } | WorkPhase::Starting { .. } if reassign.stop => {
                    accepted(vec![Event::AgentStopping {
                        task_id: task.id,
                        agent_id: work.agent.clone(),
                        reason: None,
                        handover: Some(to),
                    }])
                }
                WorkPhase::Running { .. } | WorkPhase::Starting { .. } => {
                    Err(Refusal::SessionRunning { task: task.id })
                }
                _ => {
                    check_not_busy(task, CommandKind::Assign)?;
                    accepted(Vec::new())
                }
            }
        }
    }
}

/// A queued task waits for the new agent, or begins at once if that is free.
fn of_queue(
    situation: &Situation<'_>,
    task: &Task,
    actor: &Actor,
    reassign: &Reassign,
) -> Result<Decision, Refusal> {
    if situation.assignments.find_place(task.id).is_none() {
        return Err(not_legal(
            task,
            "it is in backlog and assigned to nobody".to_owned(),
            format!("`regatta task assign {} --agent NAME`", task.id),
        ));
    }
    let start = reassign.start.clone();
    let command = &match &reassign.to {
        Some(agent) => {
            let to = agent.clone().into();
            Command::Assign(Assign {
                to,
                priority: None,
                start,
                run: None,
                is_recorded: false,
                may_queue: true,
            })
        }
        None => Command::Take(Take { priority: None, start }),
    };
    carry_out(situation, &Attempt { task, actor, command })
}

fn handover(
    situation: &Situation<'_>,
    task: &Task,
    actor: &Actor,
    reassign: &Reassign,
) -> Result<Handover, Refusal> {
    let feedback = reassign.feedback.clone();
    match (&reassign.to, actor) {
        (Some(agent), _) if situation.settings.agents.contains_key(agent) => {
            Ok(Handover { agent_id: Some(agent.clone()), owner: None, feedback })
        }
        (Some(agent), _) => Err(Refusal::AgentNotFound {
            agent: agent.clone(),
            known: situation.settings.agents.keys().cloned().collect(),
        }),
        (None, Actor::User(owner)) => {
            Ok(Handover { agent_id: None, owner: Some(owner.clone()), feedback: None })
        }
        (None, other) => Err(Refusal::Forbidden {
            what: format!("task #{} was not reassigned", task.id),
            why: format!("{other} is not a person"),
        }),
    }
}

fn not_legal(task: &Task, why: String, next: String) -> Refusal {
    Refusal::NotLegal { task: task.id, column: task.column(), verb: "reassign", why, next }
}

#[cfg(test)]
mod tests {
    use crate::testing::{World, check, id};
    use crate::{Effect, Resume};
    use expect_test::expect;

    #[test]
    fn work_that_nobody_is_at_continues_with_another() {
        check(
            "add; assign 1 alpha; settle 1; break 1",
            "reassign 1 nobody; reassign 1 beta; settle 1; ready 1",
            expect![[r#"
                > reassign 1 nobody
                error[AGENT_NOT_FOUND]: there is no agent `nobody`
                  why:  the config has no `[agents.nobody]` entry
                  next: choose one of: alpha, beta; or add `[agents.nobody]` to .regatta/config.toml
                > reassign 1 beta
                [task:reassigned] -> run_session
                #1 in_progress/starting, beta starting, error AGENT_SESSION_FAILED
                > settle 1
                [agent:resumed]
                #1 in_progress/running, beta running
                > ready 1
                [task:completed, approval:requested, agent:paused] -> record_diff, pause_agent
                #1 waiting_approval/ready, beta paused
            "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; crash 1 network",
            "reassign 1 beta; settle 1",
            expect![[r#"
            > reassign 1 beta
            [task:reassigned] -> run_session
            #1 in_progress/starting, beta starting, error AGENT_SESSION_FAILED
            > settle 1
            [agent:resumed]
            #1 in_progress/running, beta running
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; break 1",
            "reassign 1 beta; fail 1; reassign 1 alpha",
            expect![[r#"
                > reassign 1 beta
                [task:reassigned] -> run_session
                #1 in_progress/starting, beta starting, error AGENT_SESSION_FAILED
                > fail 1
                [agent:session:failed]
                #1 in_progress/halted, beta error, error AGENT_START_FAILED
                > reassign 1 alpha
                [task:reassigned] -> run_session
                #1 in_progress/starting, alpha starting, error AGENT_START_FAILED
            "#]],
        );
    }

    #[test]
    fn a_session_is_stopped_first_if_asked_for() {
        check(
            "add; assign 1 alpha; settle 1",
            "reassign 1 beta; reassign 1 beta stop; cancel 1; reassign 1 beta stop; settle 1; ready 1",
            expect![[r#"
                > reassign 1 beta
                error[TASK_BUSY]: task #1 is busy
                  why:  its session is running
                  next: wait for it, or stop it first: `regatta task reassign 1 --stop …`
                > reassign 1 beta stop
                [agent:stopping] -> stop_agent
                #1 in_progress/handing, alpha running
                > cancel 1
                error[TASK_BUSY]: task #1 is busy
                  why:  its agent is being stopped, because it was reassigned
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
                > reassign 1 beta stop
                error[TASK_BUSY]: task #1 is busy
                  why:  its agent is being stopped, because it was reassigned
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
                > settle 1
                [agent:stopped, task:reassigned, agent:resumed] -> run_session
                #1 in_progress/running, beta running
                > ready 1
                [task:completed, approval:requested, agent:paused] -> record_diff, pause_agent
                #1 waiting_approval/ready, beta paused
            "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; reassign 1 beta stop",
            "fail 1; reassign 1 beta; settle 1",
            expect![[r#"
                > fail 1
                [agent:stop:failed]
                #1 in_progress/halted, alpha error, error AGENT_STOP_FAILED
                > reassign 1 beta
                [task:reassigned] -> run_session
                #1 in_progress/starting, beta starting, error AGENT_STOP_FAILED
                > settle 1
                [agent:resumed]
                #1 in_progress/running, beta running
            "#]],
        );
    }

    #[test]
    fn a_person_takes_over_and_hands_it_on() {
        check(
            "add; assign 1 alpha; settle 1; break 1",
            "reassign 1 me; reassign 1 me; reassign 1 beta; settle 1; reassign 1 me stop; settle 1; submit 1; settle 1",
            expect![[r#"
                > reassign 1 me
                [task:reassigned]
                #1 in_progress/byhand
                > reassign 1 me
                []
                #1 in_progress/byhand
                > reassign 1 beta
                [task:reassigned] -> run_session
                #1 in_progress/starting, beta starting
                > settle 1
                [agent:resumed]
                #1 in_progress/running, beta running
                > reassign 1 me stop
                [agent:stopping] -> stop_agent
                #1 in_progress/handing, beta running
                > settle 1
                [agent:stopped, task:reassigned]
                #1 in_progress/byhand
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
    fn what_waits_for_approval_only_changes_hands() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "reassign 1 beta; reject 1 not yet; settle 1",
            expect![[r#"
                > reassign 1 beta
                [task:reassigned]
                #1 waiting_approval/ready, beta paused
                > reject 1 not yet
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, beta starting, rejected 1
                > settle 1
                [agent:resumed]
                #1 in_progress/running, beta running, rejected 1
            "#]],
        );
    }

    #[test]
    fn a_queued_task_waits_for_the_new_agent() {
        check(
            "limit 1; instances gamma 1; add; add; assign 1 alpha; assign 2 beta",
            "reassign 2 gamma; queue; reassign 2 me; queue",
            expect![[r#"
                > reassign 2 gamma
                queued: CONCURRENCY_LIMIT_EXCEEDED, 1 of 1
                [task:queued]
                #2 backlog
                > queue
                1. #2 medium for gamma
                next: none
                > reassign 2 me
                [task:assigned] -> create_worktree
                #2 in_progress/preparing
                > queue
                next: none
            "#]],
        );
    }

    #[test]
    fn elsewhere_there_is_nothing_to_reassign() {
        check(
            "add",
            "reassign 1 beta",
            expect![[r#"
            > reassign 1 beta
            error[TASK_INVALID_TRANSITION]: `reassign` was refused for task #1
              why:  it is in backlog and assigned to nobody
              next: `regatta task assign 1 --agent NAME`
        "#]],
        );
        check(
            "add; assign 1 alpha",
            "reassign 1 beta stop",
            expect![[r#"
            > reassign 1 beta stop
            error[TASK_BUSY]: task #1 is busy
              why:  its worktree is being created
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
        "#]],
        );
        check(
            "add; assign 1 alpha run; settle 1",
            "reassign 1 beta",
            expect![[r#"
            > reassign 1 beta
            error[TASK_INVALID_TRANSITION]: `reassign` was refused for task #1
              why:  a run works on it and chooses its agents
              next: see `regatta task show 1`; `regatta run stop` ends the run first
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1",
            "reassign 1 beta",
            expect![[r#"
            > reassign 1 beta
            error[TASK_INVALID_TRANSITION]: `reassign` was refused for task #1
              why:  it is in verified, and nothing is left to do
              next: add a new task with `regatta task add`
        "#]],
        );
    }

    #[test]
    fn the_new_agent_is_told_what_came_before() {
        let mut world = World::given("add; assign 1 alpha; settle 1; reassign 1 beta stop; ok 1");
        let Some(Effect::RunSession { agent, session, resume, .. }) =
            world.open.pop().map(|open| open.effect)
        else {
            panic!("a session");
        };
        let review_note = Resume {
            reason: None,
            feedback: Some("see the note".to_owned()),
            broke_off: Some("`alpha` worked on it before you.".to_owned()),
            follows: false,
        };
        assert_eq!((agent.as_str(), session, resume), ("beta", 2, Some(review_note)));
        assert_eq!(world.tasks[&id(1)].sessions, 2);
    }
}
