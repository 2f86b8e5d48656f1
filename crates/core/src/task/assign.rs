//! `ASSIGN`: gives a task of the backlog to an agent, or queues it.

use super::Task;
use crate::machine::Column;
use crate::{AgentId, Answer, Assign, Decision, Event, Queued, Refusal, Situation, TaskId};

/// Assigns the task when its dependencies are verified, the agent is free and a place is left.
pub(crate) fn assign(situation: &Situation<'_>, task: &Task, assign: &Assign) -> Result<Decision, Refusal> {
    if !assign.is_taped {
        check_agent_exists(situation, &assign.agent)?;
    }
    check_dependencies(situation, task)?;
    if !assign.is_taped {
        check_agent_is_free(situation, &assign.agent)?;
    }
    let working = situation.crew.count_working();
    let limit = situation.settings.max_concurrent_agents;
    let priority = assign.priority.unwrap_or(task.priority);
    // A run waits by itself: the queue would start one session where the run has many.
    if working >= limit && assign.run.is_some() {
        return Err(Refusal::NoPlace { task: task.id, working, limit });
    }
    if working >= limit {
        let answer = Answer::Queued { working, limit };
        let is_same = |queued: &Queued| {
            queued.task == task.id && queued.agent == assign.agent && queued.priority == priority
        };
        if situation.crew.queue.iter().any(is_same) {
            return Ok(Decision { events: Vec::new(), answer });
        }
        let event =
            Event::TaskQueued { task_id: task.id, agent_id: assign.agent.clone(), priority, working, limit };
        return Ok(Decision { events: vec![event], answer });
    }
    let event = Event::TaskAssigned {
        task_id: task.id,
        agent_id: Some(assign.agent.clone()),
        priority,
        branch: format!("task/{}", task.id),
        target: assign.start.target.clone(),
        base: assign.start.base.clone(),
        path: format!("{}/task-{}", assign.start.folder, task.id),
        attempt: task.attempts + 1,
        working,
        limit,
        run_id: assign.run,
        from: assign.start.from.clone(),
        owner: None,
    };
    Ok(Decision { events: vec![event], answer: Answer::Accepted })
}

fn check_agent_exists(situation: &Situation<'_>, agent: &AgentId) -> Result<(), Refusal> {
    if situation.settings.agents.contains_key(agent) {
        return Ok(());
    }
    let known = situation.settings.agents.keys().cloned().collect();
    Err(Refusal::AgentNotFound { agent: agent.clone(), known })
}

pub(super) fn check_dependencies(situation: &Situation<'_>, task: &Task) -> Result<(), Refusal> {
    let column = |on: &TaskId| situation.upstream.get(on).copied().unwrap_or(Column::Backlog);
    let missing: Vec<(TaskId, Column)> = task
        .dependencies
        .iter()
        .map(|on| (*on, column(on)))
        .filter(|(_, column)| *column != Column::Verified)
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(Refusal::TaskBlocked { task: task.id, missing }) }
}

fn check_agent_is_free(situation: &Situation<'_>, agent: &AgentId) -> Result<(), Refusal> {
    let instances = situation.settings.agents.get(agent).map_or(0, |agent| agent.instances);
    if situation.crew.count_working_as(agent) < instances {
        return Ok(());
    }
    Err(Refusal::AgentAlreadyRunning {
        agent: agent.clone(),
        tasks: situation.crew.tasks_of(agent),
        instances,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{World, agent, check, commit, id, user};
    use crate::{Assign, Command, Effect, Start};
    use expect_test::expect;

    #[test]
    fn work_that_was_begun_before_goes_on_from_its_commit() {
        let mut world = World::given("add");
        let start =
            Start { target: "main".into(), base: commit(0), from: Some(commit(5)), folder: "trees".into() };
        let assign = Assign { agent: agent("alpha"), priority: None, start, run: None, is_taped: false };
        let step = world.give(id(1), &user(), &Command::Assign(assign)).unwrap();
        let [Effect::CreateWorktree { base, .. }] = &step.effects[..] else { panic!("{step:?}") };
        let worktree = world.tasks[&id(1)].worktree().unwrap();
        assert_eq!((base, &worktree.base), (&commit(5), &commit(0)), "the diff shows all of the work");
    }

    #[test]
    fn an_unknown_agent_is_refused_with_the_known_ones() {
        check(
            "add",
            "assign 1 ghost",
            expect![[r#"
            > assign 1 ghost
            error[AGENT_NOT_FOUND]: there is no agent `ghost`
              why:  the config has no `[agents.ghost]` entry
              next: choose one of: alpha, beta; or add `[agents.ghost]` to .regatta/config.toml
        "#]],
        );
    }

    #[test]
    fn a_task_that_does_not_exist_is_not_found() {
        check(
            "",
            "assign 9 alpha",
            expect![[r#"
            > assign 9 alpha
            error[TASK_NOT_FOUND]: there is no task #9
              why:  no task of that number was created in this project
              next: see the tasks with `regatta task list`
        "#]],
        );
    }

    #[test]
    fn an_agent_is_one_agent() {
        check(
            "add; add; assign 1 alpha",
            "assign 2 alpha; assign 2 beta",
            expect![[r#"
            > assign 2 alpha
            error[AGENT_ALREADY_RUNNING]: agent `alpha` is busy
              why:  it may work on 1 at a time, and works on #1
              next: wait, use another agent (`regatta agent list`), or raise `instances` of `[agents.alpha]`
            > assign 2 beta
            [task:assigned] -> create_worktree
            #2 in_progress/preparing, beta starting
        "#]],
        );
    }

    #[test]
    fn an_agent_may_have_instances() {
        check(
            "instances alpha 2; limit 9; add; add; add; assign 1 alpha; settle 1",
            "assign 2 alpha; assign 3 alpha",
            expect![[r#"
                > assign 2 alpha
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, alpha starting
                > assign 3 alpha
                error[AGENT_ALREADY_RUNNING]: agent `alpha` is busy
                  why:  it may work on 2 at a time, and works on #1, #2
                  next: wait, use another agent (`regatta agent list`), or raise `instances` of `[agents.alpha]`
            "#]],
        );
    }

    #[test]
    fn an_agent_is_free_again_when_its_task_waits_for_approval() {
        check(
            "add; assign 1 alpha; settle 1; ready 1; add",
            "assign 2 alpha",
            expect![[r#"
            > assign 2 alpha
            [task:assigned] -> create_worktree
            #2 in_progress/preparing, alpha starting
        "#]],
        );
    }

    #[test]
    fn a_halted_task_holds_no_place() {
        check(
            "limit 1; add; assign 1 alpha; settle 1; break 1; add",
            "assign 2 alpha",
            expect![[r#"
            > assign 2 alpha
            [task:assigned] -> create_worktree
            #2 in_progress/preparing, alpha starting
        "#]],
        );
    }

    #[test]
    fn over_the_limit_the_task_is_queued() {
        check(
            "limit 1; add; add; assign 1 alpha",
            "assign 2 beta; queue; cancel 1; settle 1; queue; assign 2 beta; queue",
            expect![[r#"
                > assign 2 beta
                queued: 1 of 1 places are taken
                [task:queued]
                #2 backlog
                > queue
                1. #2 medium for beta
                next: none
                > cancel 1
                [agent:stopping] -> stop_agent
                #1 in_progress/stopping, alpha starting
                > settle 1
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #1 backlog
                > queue
                1. #2 medium for beta
                next: #2
                > assign 2 beta
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, beta starting
                > queue
                next: none
            "#]],
        );
    }

    #[test]
    fn a_limit_of_none_queues_everything() {
        check(
            "limit 0; add",
            "assign 1 alpha; queue",
            expect![[r#"
            > assign 1 alpha
            queued: 0 of 0 places are taken
            [task:queued]
            #1 backlog
            > queue
            1. #1 medium for alpha
            next: none
        "#]],
        );
    }

    #[test]
    fn the_queue_is_ordered_by_priority_then_age() {
        check(
            "instances alpha 9; limit 1; add; add; add high; add low; assign 1 alpha",
            "assign 4 alpha; assign 3 alpha; assign 2 alpha; queue",
            expect![[r#"
                > assign 4 alpha
                queued: 1 of 1 places are taken
                [task:queued]
                #4 backlog
                > assign 3 alpha
                queued: 1 of 1 places are taken
                [task:queued]
                #3 backlog
                > assign 2 alpha
                queued: 1 of 1 places are taken
                [task:queued]
                #2 backlog
                > queue
                1. #3 high for alpha
                2. #2 medium for alpha
                3. #4 low for alpha
                next: none
            "#]],
        );
    }

    #[test]
    fn a_new_order_changes_the_priority_but_not_the_age() {
        check(
            "instances alpha 9; limit 1; add; add; add; assign 1 alpha; assign 2 alpha; assign 3 alpha",
            "assign 2 beta; queue; assign 3 alpha high; queue",
            expect![[r#"
                > assign 2 beta
                queued: 1 of 1 places are taken
                [task:queued]
                #2 backlog
                > queue
                1. #2 medium for beta
                2. #3 medium for alpha
                next: none
                > assign 3 alpha high
                queued: 1 of 1 places are taken
                [task:queued]
                #3 backlog
                > queue
                1. #3 high for alpha
                2. #2 medium for beta
                next: none
            "#]],
        );
    }

    #[test]
    fn the_next_is_the_first_whose_agent_is_free() {
        check(
            "instances gamma 1; limit 1; add; add high; add; add low
             assign 1 beta; assign 2 alpha; assign 3 alpha; assign 4 gamma; limit 3",
            "queue; assign 2 alpha; queue; assign 4 gamma; queue",
            expect![[r#"
                > queue
                1. #2 high for alpha
                2. #3 medium for alpha
                3. #4 low for gamma
                next: #2
                > assign 2 alpha
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, alpha starting
                > queue
                1. #3 medium for alpha
                2. #4 low for gamma
                next: #4
                > assign 4 gamma
                [task:assigned] -> create_worktree
                #4 in_progress/preparing, gamma starting
                > queue
                1. #3 medium for alpha
                next: none
            "#]],
        );
    }

    #[test]
    fn dependencies_must_be_verified() {
        check(
            "add; add; add on 1,2; assign 1 alpha",
            "assign 3 beta",
            expect![[r#"
            > assign 3 beta
            error[TASK_BLOCKED]: task #3 was not assigned
              why:  it depends on tasks that are not verified: #1 (in_progress), #2 (backlog)
              next: finish those first, or drop the dependency with `regatta task depends 3 --remove ID`
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; ready 1; add on 1",
            "assign 2 beta; approve 1; settle 1; assign 2 beta",
            expect![[r#"
                > assign 2 beta
                error[TASK_BLOCKED]: task #2 was not assigned
                  why:  it depends on tasks that are not verified: #1 (waiting_approval)
                  next: finish those first, or drop the dependency with `regatta task depends 2 --remove ID`
                > approve 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
                > settle 1
                [worktree:merged, task:approved, worktree:removed] -> remove_worktree
                #1 verified/cleanupdone
                > assign 2 beta
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, beta starting
            "#]],
        );
    }
}
