//! `ASSIGN` to oneself: a person does the task in a worktree of its own, without an agent.
//!
//! No session is started and no limit on agents counts it. It ends by `COMPLETE` or `CANCEL`.

use super::Task;
use crate::{Actor, Event, Situation, Take};

/// Gives the task to the person who asks.
pub(crate) fn take(situation: &Situation<'_>, task: &Task, actor: &Actor, take: &Take) -> Vec<Event> {
    let Actor::User(owner) = actor else { return Vec::new() };
    vec![Event::TaskAssigned {
        task_id: task.id,
        agent_id: None,
        priority: take.priority.unwrap_or(task.priority),
        branch: format!("task/{}", task.id),
        target: take.start.target.clone(),
        base: take.start.base.clone(),
        path: format!("{}/task-{}", take.start.folder, task.id),
        attempt: task.attempts + 1,
        working: situation.assignments.count_working(),
        limit: situation.settings.max_concurrent_agents,
        run_id: None,
        from: take.start.from.clone(),
        owner: Some(owner.clone()),
    }]
}

#[cfg(test)]
mod tests {
    use crate::testing::{World, check, id};
    use expect_test::expect;

    #[test]
    fn a_person_works_without_a_session_and_puts_it_up() {
        check(
            "add",
            "take 1; ok 1; complete 1; settle 1; reject 1 not yet; complete 1; settle 1; approve 1; settle 1",
            expect![[r#"
                > take 1
                [task:assigned] -> create_worktree
                #1 in_progress/preparing
                > ok 1
                [worktree:created]
                #1 in_progress/byhand
                > complete 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording
                > settle 1
                [approval:requested]
                #1 waiting_approval/ready
                > reject 1 not yet
                [approval:rejected, task:rejected]
                #1 in_progress/byhand, rejected 1
                > complete 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording, rejected 1
                > settle 1
                [approval:requested]
                #1 waiting_approval/ready, rejected 1
                > approve 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, rejected 1
                > settle 1
                [worktree:merged, task:approved, worktree:removed] -> remove_worktree
                #1 verified/cleanupdone, rejected 1
            "#]],
        );
        let world = World::given("add; take 1; settle 1");
        assert_eq!(world.tasks[&id(1)].owner.as_deref(), Some("local"));
    }

    #[test]
    fn no_limit_on_agents_counts_it() {
        check(
            "limit 1; add; add; add; assign 1 alpha; settle 1",
            "take 2; settle 2; assign 3 beta; queue",
            expect![[r#"
                > take 2
                [task:assigned] -> create_worktree
                #2 in_progress/preparing
                > settle 2
                [worktree:created]
                #2 in_progress/byhand
                > assign 3 beta
                queued: CONCURRENCY_LIMIT_EXCEEDED, 1 of 1
                [task:queued]
                #3 backlog
                > queue
                1. #3 medium for beta
                next: none
            "#]],
        );
    }

    #[test]
    fn what_it_depends_on_comes_first_and_a_queued_task_leaves_the_queue() {
        check(
            "add; add on 1",
            "take 2",
            expect![[r#"
            > take 2
            error[TASK_BLOCKED]: task #2 was not assigned
              why:  it depends on tasks that are not verified: #1 (backlog)
              next: finish those first, or drop the dependency with `regatta task depends 2 --remove ID`
        "#]],
        );
        check(
            "limit 1; add; add; assign 1 alpha; assign 2 beta",
            "take 2; queue",
            expect![[r#"
            > take 2
            [task:assigned] -> create_worktree
            #2 in_progress/preparing
            > queue
            next: none
        "#]],
        );
    }

    #[test]
    fn it_can_be_given_up_at_any_time() {
        check(
            "add; take 1",
            "cancel 1; settle 1",
            expect![[r#"
            > cancel 1
            [agent:stopping] -> stop_agent
            #1 in_progress/stopping
            > settle 1
            [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
            #1 backlog
        "#]],
        );
        check(
            "add; take 1; settle 1",
            "cancel 1; fail 1; cancel 1; settle 1",
            expect![[r#"
            > cancel 1
            [agent:stopping] -> stop_agent
            #1 in_progress/stopping
            > fail 1
            [agent:stop:failed]
            #1 in_progress/byhand, error AGENT_STOP_FAILED
            > cancel 1
            [agent:stopping] -> stop_agent
            #1 in_progress/stopping
            > settle 1
            [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
            #1 backlog
        "#]],
        );
        check(
            "add; take 1; settle 1; complete 1",
            "fail 1; resume 1; complete 1; settle 1; cancel 1; settle 1",
            expect![[r#"
                > fail 1
                [approval:request:failed]
                #1 in_progress/byhand, error GIT_FAILED
                > resume 1
                error[TASK_INVALID_TRANSITION]: `resume` was refused for task #1
                  why:  a person works on it, and there is no session to resume
                  next: `regatta task reassign 1 --agent NAME` gives it to an agent
                > complete 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording
                > settle 1
                [approval:requested]
                #1 waiting_approval/ready
                > cancel 1
                [agent:stopping] -> stop_agent
                #1 waiting_approval/stopping
                > settle 1
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #1 backlog
            "#]],
        );
    }

    #[test]
    fn its_checks_are_run_and_a_policy_may_approve_it() {
        check(
            "checks test; auto; add; take 1; settle 1",
            "complete 1; ok 1; ok 1; ok 1; settle 1",
            expect![[r#"
                > complete 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording
                > ok 1
                [approval:requested] -> run_checks
                #1 waiting_approval/checking
                > ok 1
                [checks:ran] -> approve_by_policy
                #1 waiting_approval/ready
                > ok 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging
                > settle 1
                [worktree:merged, task:approved, worktree:removed] -> remove_worktree
                #1 verified/cleanupdone
            "#]],
        );
    }
}
