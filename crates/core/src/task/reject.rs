//! `REJECT`: sends the work back to the agent, with the reviewer's words.

use super::approve::has_diff;
use super::{Stage, Task};
use crate::machine::{Attempt, Stop};
use crate::{Command, Event, Refusal, Reject, Situation};

/// Rejects the diff and counts it; another agent than the one that did the work may be chosen.
pub(crate) fn reject(task: &Task, reject: &Reject) -> Vec<Event> {
    vec![
        Event::ApprovalRejected { task_id: task.id, reason: reject.reason.clone() },
        Event::TaskRejected {
            task_id: task.id,
            reason: reject.reason.clone(),
            feedback: reject.feedback.clone(),
            rejection_count: task.rejection_count + 1,
            agent_id: reject.agent.clone(),
            comments: reject.comments.clone(),
        },
    ]
}

/// There must be a diff to reject, and an agent to send it to; a run chooses its own.
pub(crate) fn can_reject(situation: &Situation<'_>, attempt: &Attempt<'_>) -> Result<(), Stop> {
    let (task, settings) = (attempt.task, situation.settings);
    let (Command::Reject(reject), Stage::WaitingApproval(review)) = (attempt.command, &task.stage) else {
        return Ok(());
    };
    has_diff(situation, attempt)?;
    if task.run.is_some() && reject.agent.is_some() {
        let why = "a run works on it and chooses its agents".to_owned();
        let next = format!("reject it without `--agent`: `regatta task reject {} --reason \"…\"`", task.id);
        let column = task.column();
        return Err(Refusal::NotLegal { task: task.id, column, verb: "reject", why, next }.into());
    }
    if let Some(agent) = reject.agent.as_ref().or(review.agent.as_ref()).filter(|_| task.run.is_none())
        && !settings.agents.contains_key(agent)
    {
        let known = settings.agents.keys().cloned().collect();
        return Err(Refusal::AgentGone { task: task.id, agent: agent.clone(), known }.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::{World, check, id};
    use crate::{Effect, Resume};
    use expect_test::expect;

    #[test]
    fn the_rejection_is_counted_and_the_agent_resumed() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "reject 1 not yet; ok 1; ready 1; reject 1 still not; settle 1",
            expect![[r#"
                > reject 1 not yet
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, alpha starting, rejected 1
                > ok 1
                [agent:resumed]
                #1 in_progress/running, alpha running, rejected 1
                > ready 1
                [task:completed, approval:requested, agent:paused] -> record_diff, pause_agent
                #1 waiting_approval/ready, alpha paused, rejected 1
                > reject 1 still not
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, alpha starting, rejected 2
                > settle 1
                [agent:resumed]
                #1 in_progress/running, alpha running, rejected 2
            "#]],
        );
    }

    #[test]
    fn it_waits_for_what_is_under_way() {
        check(
            "add; assign 1 alpha; settle 1; finish 1",
            "reject 1 no; ok 1; reject 1 no",
            expect![[r#"
            > reject 1 no
            error[TASK_BUSY]: task #1 is busy
              why:  its diff is being recorded
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
            > ok 1
            [approval:requested] -> pause_agent
            #1 waiting_approval/pausing, alpha running
            > reject 1 no
            error[TASK_BUSY]: task #1 is busy
              why:  its agent is being paused
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; ready 1; approve 1",
            "reject 1 no",
            expect![[r#"
            > reject 1 no
            error[TASK_BUSY]: task #1 is busy
              why:  it is approved and being merged
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; ready 1; cancel 1",
            "reject 1 no",
            expect![[r#"
            > reject 1 no
            error[TASK_BUSY]: task #1 is busy
              why:  it is being cancelled
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
        "#]],
        );
    }

    #[test]
    fn the_count_of_agents_may_pass_the_limit() {
        check(
            "limit 1; add; assign 1 alpha; settle 1; ready 1; add; assign 2 alpha; add",
            "reject 1 again; assign 3 beta",
            expect![[r#"
                > reject 1 again
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, alpha starting, rejected 1
                > assign 3 beta
                queued: CONCURRENCY_LIMIT_EXCEEDED, 2 of 1
                [task:queued]
                #3 backlog
            "#]],
        );
    }

    #[test]
    fn another_agent_may_be_chosen() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "reject 1 to:nobody no; reject 1 to:beta no; settle 1; ready 1; approve 1",
            expect![[r#"
                > reject 1 to:nobody no
                error[AGENT_NOT_FOUND]: task #1 was not sent back
                  why:  the config has no `[agents.nobody]` entry
                  next: send it to another agent: `regatta task reject 1 --agent NAME --reason "…"`, with one of: alpha, beta
                > reject 1 to:beta no
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, alpha starting, rejected 1
                > settle 1
                [agent:resumed]
                #1 in_progress/running, beta running, rejected 1
                > ready 1
                [task:completed, approval:requested, agent:paused] -> record_diff, pause_agent
                #1 waiting_approval/ready, beta paused, rejected 1
                > approve 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, beta paused, rejected 1
            "#]],
        );
        check(
            "add; take 1; settle 1; complete 1; settle 1",
            "reject 1 to:beta no; settle 1",
            expect![[r#"
            > reject 1 to:beta no
            [approval:rejected, task:rejected] -> run_session
            #1 in_progress/starting, beta starting, rejected 1
            > settle 1
            [agent:resumed]
            #1 in_progress/running, beta running, rejected 1
        "#]],
        );
        check(
            "add; assign 1 alpha run; settle 1; complete 1; settle 1",
            "reject 1 to:beta no",
            expect![[r#"
            > reject 1 to:beta no
            error[TASK_INVALID_TRANSITION]: `reject` was refused for task #1
              why:  a run works on it and chooses its agents
              next: reject it without `--agent`: `regatta task reject 1 --reason "…"`
        "#]],
        );
    }

    #[test]
    fn an_agent_that_is_gone_is_replaced() {
        check(
            "add; assign 1 alpha; settle 1; ready 1; forget alpha",
            "reject 1 no; reject 1 to:beta no; settle 1",
            expect![[r#"
                > reject 1 no
                error[AGENT_NOT_FOUND]: task #1 was not sent back
                  why:  the config has no `[agents.alpha]` entry
                  next: send it to another agent: `regatta task reject 1 --agent NAME --reason "…"`, with one of: beta
                > reject 1 to:beta no
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, alpha starting, rejected 1
                > settle 1
                [agent:resumed]
                #1 in_progress/running, beta running, rejected 1
            "#]],
        );
    }

    #[test]
    fn one_that_failed_does_not_count() {
        check(
            "add; assign 1 alpha; settle 1; ready 1; reject 1 no; settle 1; ready 1",
            "reject 1 to:beta no; fail 1; reject 1 no; settle 1",
            expect![[r#"
                > reject 1 to:beta no
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, alpha starting, rejected 2
                > fail 1
                [agent:resume:failed]
                #1 waiting_approval/ready, alpha paused, rejected 1, error AGENT_START_FAILED
                > reject 1 no
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, alpha starting, rejected 2
                > settle 1
                [agent:resumed]
                #1 in_progress/running, alpha running, rejected 2
            "#]],
        );
        check(
            "add; take 1; settle 1; complete 1; settle 1",
            "reject 1 to:beta no; fail 1; reject 1 no",
            expect![[r#"
                > reject 1 to:beta no
                [approval:rejected, task:rejected] -> run_session
                #1 in_progress/starting, beta starting, rejected 1
                > fail 1
                [agent:resume:failed]
                #1 waiting_approval/ready, error AGENT_START_FAILED
                > reject 1 no
                [approval:rejected, task:rejected]
                #1 in_progress/byhand, rejected 1
            "#]],
        );
    }

    #[test]
    fn the_agent_is_told_the_reason_and_the_feedback() {
        let world = World::given("add; assign 1 alpha; settle 1; ready 1; reject 1 not yet");
        assert_eq!(world.tasks[&id(1)].rejection_count, 1);
        let Effect::RunSession { session, resume, .. } = &world.open[0].effect else { panic!("a session") };
        let feedback = Some("see the note".to_owned());
        let review_note =
            Resume { reason: Some("not yet".to_owned()), feedback, broke_off: None, follows: false };
        assert_eq!((*session, resume), (2, &Some(review_note)));
    }
}
