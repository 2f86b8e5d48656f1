//! `ASSIGN`: gives a task of the backlog to an agent, or queues it.

use super::{Task, queue};
use crate::machine::{Attempt, Column, Stop};
use crate::{
    Actor, AgentId, Answer, Assign, Assignee, Command, Decision, Event, FieldFault, Refusal, Shortage,
    Situation, TaskId,
};

/// Gives the task to the agent that is asked for, or to the first that is free.
pub(crate) fn assign(situation: &Situation<'_>, task: &Task, assign: &Assign) -> Result<Vec<Event>, Stop> {
    let wanted = find_wanted(situation, assign)?;
    let agent_id = match assign.is_recorded {
        true => wanted,
        false => situation.assignments.find_agent(situation.settings, &wanted)?,
    };
    Ok(vec![Event::TaskAssigned {
        task_id: task.id,
        agent_id: Some(agent_id),
        priority: assign.priority.unwrap_or(task.priority),
        branch: task.branch_name(),
        target: assign.start.target.clone(),
        base: assign.start.base.clone(),
        path: format!("{}/task-{}", assign.start.folder, task.id),
        attempt: task.attempts + 1,
        working: situation.assignments.count_working(),
        limit: situation.settings.max_concurrent_agents,
        run_id: assign.run,
        from: assign.start.from.clone(),
        owner: None,
    }])
}

/// Queues the task when nobody is free, unless that was ruled out.
pub(crate) fn wait_for(
    situation: &Situation<'_>,
    attempt: &Attempt<'_>,
    shortage: Shortage,
) -> Result<Decision, Refusal> {
    let task = attempt.task;
    let Command::Assign(assign @ Assign { may_queue: true, .. }) = attempt.command else {
        return Err(refuse(task.id, shortage));
    };
    let wanted = find_wanted(situation, assign)?;
    let priority = assign.priority.unwrap_or(task.priority);
    let (code, working, limit) = (shortage.code(), shortage.working(), shortage.limit());
    let events = queue::join(situation.assignments, task, &wanted, priority, &shortage);
    Ok(Decision { events, answer: Answer::Queued { code, working, limit } })
}

/// An agent that is asked for must be in the config, and only a person takes a task without one.
pub(crate) fn can_assign(situation: &Situation<'_>, attempt: &Attempt<'_>) -> Result<(), Stop> {
    match (attempt.command, attempt.actor) {
        (Command::Assign(assign), _) => find_wanted(situation, assign).map(drop)?,
        (Command::Take(_), other) if !matches!(other, Actor::User(_)) => {
            let what = format!("task #{} was not assigned", attempt.task.id);
            return Err(Refusal::Forbidden { what, why: format!("{other} is not a person") }.into());
        }
        _ => {}
    }
    Ok(())
}

pub(crate) fn dependencies_verified(situation: &Situation<'_>, attempt: &Attempt<'_>) -> Result<(), Stop> {
    let task = attempt.task;
    let standing = |on: &TaskId| situation.upstream.get(on).copied().unwrap_or_default();
    let missing: Vec<(TaskId, Column)> = task
        .dependencies
        .iter()
        .map(|on| (*on, standing(on)))
        .filter(|(_, standing)| !standing.is_done)
        .map(|(on, standing)| (on, standing.column))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(Refusal::TaskBlocked { task: task.id, missing }.into()) }
}

/// A person needs no agent, and neither does a replay. Where any agent would do, the places come first: that all of them
/// are busy matters only if another could start.
pub(crate) fn has_available_agent(situation: &Situation<'_>, attempt: &Attempt<'_>) -> Result<(), Stop> {
    let Command::Assign(assign) = attempt.command else { return Ok(()) };
    if assign.is_recorded {
        return Ok(());
    }
    let wanted = find_wanted(situation, assign)?;
    if wanted.is_any() {
        situation.assignments.check_places(situation.settings)?;
    }
    situation.assignments.find_agent(situation.settings, &wanted)?;
    Ok(())
}

pub(crate) fn within_concurrency_limit(situation: &Situation<'_>, attempt: &Attempt<'_>) -> Result<(), Stop> {
    // What a person does takes no agent's place.
    if let Command::Assign(_) = attempt.command {
        situation.assignments.check_places(situation.settings)?;
    }
    Ok(())
}

/// Returns the agent that is asked for, or [`AgentId::any`].
fn find_wanted(situation: &Situation<'_>, assign: &Assign) -> Result<AgentId, Refusal> {
    let settings = situation.settings;
    let agent = match &assign.to {
        Assignee::Agent(agent) if assign.is_recorded => return Ok(agent.clone()),
        Assignee::Agent(agent) => agent,
        Assignee::Any if settings.agents.is_empty() => return Err(nobody_named(situation)),
        Assignee::Any => return Ok(AgentId::any()),
        Assignee::Default => match (settings.agents.keys().next(), &settings.default_agent) {
            (Some(only), _) if settings.agents.len() == 1 => only,
            (Some(_), Some(default)) => default,
            _ => return Err(nobody_named(situation)),
        },
    };
    if agent.is_any() || settings.agents.contains_key(agent) {
        return Ok(agent.clone());
    }
    let known = settings.agents.keys().cloned().collect();
    Err(Refusal::AgentNotFound { agent: agent.clone(), known })
}

fn nobody_named(situation: &Situation<'_>) -> Refusal {
    let names: Vec<&str> = situation.settings.agents.keys().map(AgentId::as_str).collect();
    let problem = if names.is_empty() {
        "is missing, and the config has no agent; add an `[agents.NAME]` entry".to_owned()
    } else {
        format!(
            "must be given with `--agent`: {} or any; or name one as `agent` in `[project]` of the config",
            names.join(", ")
        )
    };
    Refusal::Invalid { faults: vec![FieldFault { field: "agentId", problem }] }
}

fn refuse(task: TaskId, shortage: Shortage) -> Refusal {
    match shortage {
        Shortage::Agent { agent, tasks, instances } => {
            Refusal::AgentAlreadyRunning { agent, tasks, instances }
        }
        Shortage::Places { working, limit } => Refusal::NoPlace { task, working, limit },
    }
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
        let to = agent("alpha").into();
        let assign = Assign { to, priority: None, start, run: None, is_recorded: false, may_queue: true };
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
              why:  no task with that number was created in this project
              next: see the tasks with `regatta task list`
        "#]],
        );
    }

    #[test]
    fn an_agent_is_one_agent_and_a_second_task_is_queued_for_it() {
        check(
            "add; add; assign 1 alpha",
            "assign 2 alpha; queue; assign 2 alpha noqueue; assign 2 beta; queue",
            expect![[r#"
                > assign 2 alpha
                queued: AGENT_ALREADY_RUNNING, 1 of 1
                [task:queued]
                #2 backlog
                > queue
                1. #2 medium for alpha
                next: none
                > assign 2 alpha noqueue
                error[AGENT_ALREADY_RUNNING]: agent `alpha` is busy
                  why:  1 of 1 instances are running: #1
                  next: assign it without `--no-queue`, use another agent (`regatta agent list`), or raise `instances` of `[agents.alpha]`
                > assign 2 beta
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, beta starting
                > queue
                next: none
            "#]],
        );
    }

    #[test]
    fn an_agent_may_have_instances() {
        check(
            "instances alpha 2; limit 9; add; add; add; assign 1 alpha; settle 1",
            "assign 2 alpha; assign 3 alpha noqueue; assign 3 alpha; settle 2; ready 2; queue",
            expect![[r#"
                > assign 2 alpha
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, alpha starting
                > assign 3 alpha noqueue
                error[AGENT_ALREADY_RUNNING]: agent `alpha` is busy
                  why:  2 of 2 instances are running: #1, #2
                  next: assign it without `--no-queue`, use another agent (`regatta agent list`), or raise `instances` of `[agents.alpha]`
                > assign 3 alpha
                queued: AGENT_ALREADY_RUNNING, 2 of 2
                [task:queued]
                #3 backlog
                > settle 2
                [worktree:created, agent:assigned] -> run_session
                #2 in_progress/running, alpha running
                > ready 2
                [task:completed, approval:requested, agent:paused] -> record_diff, pause_agent
                #2 waiting_approval/ready, alpha paused
                > queue
                1. #3 medium for alpha
                next: #3
            "#]],
        );
    }

    #[test]
    fn without_an_agent_the_only_one_or_the_configured_one_is_meant() {
        check(
            "add",
            "assign 1 default; default beta; assign 1 default",
            expect![[r#"
            > assign 1 default
            error[VALIDATION_ERROR]: the command is invalid
              why:  `agentId` must be given with `--agent`: alpha, beta or any; or name one as `agent` in `[project]` of the config
              next: correct the fields named above and try again; nothing was done
            > default beta
            > assign 1 default
            [task:assigned] -> create_worktree
            #1 in_progress/preparing, beta starting
        "#]],
        );
        check(
            "only beta; default alpha; add",
            "assign 1 default",
            expect![[r#"
            > assign 1 default
            [task:assigned] -> create_worktree
            #1 in_progress/preparing, beta starting
        "#]],
        );
        check(
            "only nobody; add",
            "assign 1 default; assign 1 any",
            expect![[r#"
            > assign 1 default
            error[VALIDATION_ERROR]: the command is invalid
              why:  `agentId` is missing, and the config has no agent; add an `[agents.NAME]` entry
              next: correct the fields named above and try again; nothing was done
            > assign 1 any
            error[VALIDATION_ERROR]: the command is invalid
              why:  `agentId` is missing, and the config has no agent; add an `[agents.NAME]` entry
              next: correct the fields named above and try again; nothing was done
        "#]],
        );
    }

    #[test]
    fn any_is_the_first_that_is_free() {
        check(
            "limit 9; add; add; add; add",
            "assign 1 any; assign 2 any; assign 3 any noqueue; assign 3 any; queue; assign 4 beta
             settle 2; ready 2; queue",
            expect![[r#"
                > assign 1 any
                [task:assigned] -> create_worktree
                #1 in_progress/preparing, alpha starting
                > assign 2 any
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, beta starting
                > assign 3 any noqueue
                error[AGENT_ALREADY_RUNNING]: every agent is busy
                  why:  2 of 2 instances are running: #1, #2
                  next: assign it without `--no-queue`, use another agent (`regatta agent list`), or raise `instances` of an agent
                > assign 3 any
                queued: AGENT_ALREADY_RUNNING, 2 of 2
                [task:queued]
                #3 backlog
                > queue
                1. #3 medium for any
                next: none
                > assign 4 beta
                queued: AGENT_ALREADY_RUNNING, 1 of 1
                [task:queued]
                #4 backlog
                > settle 2
                [worktree:created, agent:assigned] -> run_session
                #2 in_progress/running, beta running
                > ready 2
                [task:completed, approval:requested, agent:paused] -> record_diff, pause_agent
                #2 waiting_approval/ready, beta paused
                > queue
                1. #3 medium for any
                2. #4 medium for beta
                next: #3
            "#]],
        );
        check(
            "limit 1; add; add; assign 1 any",
            "assign 2 any noqueue; assign 2 any",
            expect![[r#"
            > assign 2 any noqueue
            error[CONCURRENCY_LIMIT_EXCEEDED]: task #2 was not assigned
              why:  1 of 1 agents are running
              next: assign it without `--no-queue`, or raise `max_concurrent_agents` in .regatta/config.toml
            > assign 2 any
            queued: CONCURRENCY_LIMIT_EXCEEDED, 1 of 1
            [task:queued]
            #2 backlog
        "#]],
        );
    }

    #[test]
    fn a_busy_agent_does_not_hold_up_the_others() {
        check(
            "limit 9; add; add high; add; assign 1 alpha; assign 2 alpha",
            "assign 3 any; queue",
            expect![[r#"
                > assign 3 any
                [task:assigned] -> create_worktree
                #3 in_progress/preparing, beta starting
                > queue
                1. #2 high for alpha
                next: none
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
                queued: CONCURRENCY_LIMIT_EXCEEDED, 1 of 1
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
                queued: CONCURRENCY_LIMIT_EXCEEDED, 0 of 0
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
                queued: CONCURRENCY_LIMIT_EXCEEDED, 1 of 1
                [task:queued]
                #4 backlog
                > assign 3 alpha
                queued: CONCURRENCY_LIMIT_EXCEEDED, 1 of 1
                [task:queued]
                #3 backlog
                > assign 2 alpha
                queued: CONCURRENCY_LIMIT_EXCEEDED, 1 of 1
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
                queued: CONCURRENCY_LIMIT_EXCEEDED, 1 of 1
                [task:queued]
                #2 backlog
                > queue
                1. #2 medium for beta
                2. #3 medium for alpha
                next: none
                > assign 3 alpha high
                queued: CONCURRENCY_LIMIT_EXCEEDED, 1 of 1
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

    #[test]
    fn a_blocked_task_is_refused_and_not_queued_when_everybody_is_busy() {
        check(
            "limit 1; add; add; add on 2; assign 1 alpha",
            "assign 3 alpha; assign 3 ghost; assign 3 any; queue",
            expect![[r#"
                > assign 3 alpha
                error[TASK_BLOCKED]: task #3 was not assigned
                  why:  it depends on tasks that are not verified: #2 (backlog)
                  next: finish those first, or drop the dependency with `regatta task depends 3 --remove ID`
                > assign 3 ghost
                error[AGENT_NOT_FOUND]: there is no agent `ghost`
                  why:  the config has no `[agents.ghost]` entry
                  next: choose one of: alpha, beta; or add `[agents.ghost]` to .regatta/config.toml
                > assign 3 any
                error[TASK_BLOCKED]: task #3 was not assigned
                  why:  it depends on tasks that are not verified: #2 (backlog)
                  next: finish those first, or drop the dependency with `regatta task depends 3 --remove ID`
                > queue
                next: none
            "#]],
        );
    }
}
