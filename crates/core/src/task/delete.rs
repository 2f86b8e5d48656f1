//! `delete`: removes a task of the backlog that was never assigned and that no other depends on.

use super::{Stage, Task};
use crate::{Event, Plan, Refusal};

/// Deletes the task; its number is not used again.
pub(crate) fn delete(plan: &Plan, task: &Task) -> Result<Vec<Event>, Refusal> {
    let id = task.id;
    let refused = |why: String, next: String| {
        Err(Refusal::NotLegal { task: id, column: task.column(), verb: "delete", why, next })
    };
    let only = "only a task of the backlog that was never assigned can be deleted";
    match &task.stage {
        Stage::Backlog => {}
        Stage::InProgress(_) | Stage::WaitingApproval(_) => {
            return refused(
                format!("it is in {}, and {only}", task.column()),
                format!("`regatta task cancel {id}` gives up the work and keeps it as a salvage"),
            );
        }
        Stage::Verified(_) => {
            return refused(
                format!("it is in {}, and {only}", task.column()),
                format!("`regatta task hide {id}` takes it out of the list"),
            );
        }
    }
    if task.attempts > 0 {
        return refused(
            format!("it was assigned before, and {only}"),
            format!("keep it, or give it another purpose with `regatta task edit {id}`"),
        );
    }
    let dependents = plan.dependents(id);
    if let Some(first) = dependents.first() {
        let named: Vec<String> = dependents.iter().map(|dependent| format!("#{dependent}")).collect();
        return refused(
            format!("{} depend on it", named.join(", ")),
            format!("drop the dependency first: `regatta task depends {first} --remove {id}`"),
        );
    }
    Ok(vec![Event::TaskDeleted { task_id: id }])
}

#[cfg(test)]
mod tests {
    use crate::testing::{World, check, id};
    use expect_test::expect;

    #[test]
    fn the_number_is_not_used_again() {
        check(
            "add; add",
            "delete 2; add; assign 2 alpha; delete 2; add on 2",
            expect![[r#"
            > delete 2
            [task:deleted]
            #2 is gone
            > add
            [task:created]
            #3 backlog
            > assign 2 alpha
            error[TASK_NOT_FOUND]: there is no task #2
              why:  no task with that number was created in this project
              next: see the tasks with `regatta task list`
            > delete 2
            error[TASK_NOT_FOUND]: there is no task #2
              why:  no task with that number was created in this project
              next: see the tasks with `regatta task list`
            > add on 2
            error[VALIDATION_ERROR]: the command is invalid
              why:  `dependencies` name task #2, which does not exist
              next: correct the fields named above and try again; nothing was done
        "#]],
        );
    }

    #[test]
    fn a_queued_task_leaves_the_queue() {
        check(
            "limit 1; add; add; assign 1 alpha; assign 2 beta",
            "delete 2; queue",
            expect![[r#"
            > delete 2
            [task:deleted]
            #2 is gone
            > queue
            next: none
        "#]],
        );
    }

    #[test]
    fn work_and_dependents_keep_a_task() {
        check(
            "add; add on 1",
            "delete 1; depend 2 -1; delete 1",
            expect![[r#"
            > delete 1
            error[TASK_INVALID_TRANSITION]: `delete` was refused for task #1
              why:  #2 depend on it
              next: drop the dependency first: `regatta task depends 2 --remove 1`
            > depend 2 -1
            [task:dependencies_set]
            #2 backlog
            > delete 1
            [task:deleted]
            #1 is gone
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1",
            "delete 1; cancel 1; settle 1; delete 1; assign 1 alpha; settle 1; ready 1; delete 1; approve 1; settle 1; delete 1",
            expect![[r#"
                > delete 1
                error[TASK_INVALID_TRANSITION]: `delete` was refused for task #1
                  why:  it is in in_progress, and only a task of the backlog that was never assigned can be deleted
                  next: `regatta task cancel 1` gives up the work and keeps it as a salvage
                > cancel 1
                [agent:stopping] -> stop_agent
                #1 in_progress/stopping, alpha running
                > settle 1
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #1 backlog
                > delete 1
                error[TASK_INVALID_TRANSITION]: `delete` was refused for task #1
                  why:  it was assigned before, and only a task of the backlog that was never assigned can be deleted
                  next: keep it, or give it another purpose with `regatta task edit 1`
                > assign 1 alpha
                [task:assigned] -> create_worktree
                #1 in_progress/preparing, alpha starting
                > settle 1
                [worktree:created, agent:assigned] -> run_session
                #1 in_progress/running, alpha running
                > ready 1
                [task:completed, approval:requested, agent:paused] -> record_diff, pause_agent
                #1 waiting_approval/ready, alpha paused
                > delete 1
                error[TASK_INVALID_TRANSITION]: `delete` was refused for task #1
                  why:  it is in waiting_approval, and only a task of the backlog that was never assigned can be deleted
                  next: `regatta task cancel 1` gives up the work and keeps it as a salvage
                > approve 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
                > settle 1
                [worktree:merged, task:approved, worktree:removed] -> remove_worktree
                #1 verified/cleanupdone
                > delete 1
                error[TASK_INVALID_TRANSITION]: `delete` was refused for task #1
                  why:  it is in verified, and only a task of the backlog that was never assigned can be deleted
                  next: `regatta task hide 1` takes it out of the list
            "#]],
        );
    }

    #[test]
    fn nothing_is_left_of_it_but_its_facts() {
        let world = World::given("add; add; delete 1");
        assert!(!world.tasks.contains_key(&id(1)) && !world.plan.contains(id(1)));
        let own = world.facts.iter().filter(|fact| fact.event.task() == id(1));
        assert_eq!(crate::replay_task(own), Ok(None));
    }
}
