//! The queue: how a task joins it, leaves it, and shows that it cannot be assigned.
//!
//! Who is next is for [`Assignments`] to say; it is folded from the same facts.

use super::Task;
use crate::{AgentId, Assignments, Event, Failure, Priority, Queued, Refusal, Shortage};

/// Puts a task into the queue, or changes for whom it waits and how urgent it is. It keeps its age.
pub(crate) fn join(
    assignments: &Assignments,
    task: &Task,
    agent: &AgentId,
    priority: Priority,
    shortage: &Shortage,
) -> Vec<Event> {
    let is_same = |queued: &Queued| queued.agent == *agent && queued.priority == priority;
    if assignments.find_queued(task.id).is_some_and(is_same) {
        return Vec::new();
    }
    vec![Event::TaskQueued {
        task_id: task.id,
        agent_id: agent.clone(),
        priority,
        working: shortage.working(),
        limit: shortage.limit(),
        code: shortage.code(),
    }]
}

/// Takes a task out of the queue.
pub(crate) fn dequeue(assignments: &Assignments, task: &Task) -> Result<Vec<Event>, Refusal> {
    match assignments.find_queued(task.id) {
        Some(queued) => Ok(vec![Event::TaskDequeued { task_id: task.id, agent_id: queued.agent.clone() }]),
        None => Err(Refusal::NotQueued { task: task.id, column: task.column() }),
    }
}

/// Records why a queued task is not assigned although there is room; once, not at every look.
pub(crate) fn note_unassignable(assignments: &Assignments, task: &Task, failure: &Failure) -> Vec<Event> {
    match assignments.find_queued(task.id) {
        Some(queued) if task.error.as_ref() != Some(failure) => vec![Event::TaskAssignFailed {
            task_id: task.id,
            agent_id: queued.agent.clone(),
            error: failure.clone(),
        }],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn only_what_is_queued_is_taken_out() {
        check(
            "add; add; assign 1 alpha; assign 2 alpha",
            "dequeue 1; dequeue 9; dequeue 2; queue; dequeue 2",
            expect![[r#"
                > dequeue 1
                error[TASK_INVALID_TRANSITION]: task #1 was not removed from the queue
                  why:  it is in in_progress and not in the queue
                  next: see `regatta task show 1`; `regatta task list` shows what is queued
                > dequeue 9
                error[TASK_NOT_FOUND]: there is no task #9
                  why:  no task with that number was created in this project
                  next: see the tasks with `regatta task list`
                > dequeue 2
                [task:dequeued]
                #2 backlog
                > queue
                next: none
                > dequeue 2
                error[TASK_INVALID_TRANSITION]: task #2 was not removed from the queue
                  why:  it is in backlog and not in the queue
                  next: see `regatta task show 2`; `regatta task list` shows what is queued
            "#]],
        );
    }

    #[test]
    fn a_queued_task_says_why_it_is_not_assigned() {
        check(
            "add; add; assign 1 alpha; assign 2 alpha",
            "unassignable 2; unassignable 2; unassignable 1; dequeue 2; unassignable 2",
            expect![[r#"
                > unassignable 2
                [task:assign:failed]
                #2 backlog, error TASK_BLOCKED
                > unassignable 2
                []
                #2 backlog, error TASK_BLOCKED
                > unassignable 1
                []
                #1 in_progress/preparing, alpha starting
                > dequeue 2
                [task:dequeued]
                #2 backlog
                > unassignable 2
                []
                #2 backlog
            "#]],
        );
        check(
            "add; add; assign 1 alpha; assign 2 alpha; unassignable 2; cancel 1; settle 1",
            "assign 2 alpha",
            expect![[r#"
                > assign 2 alpha
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, alpha starting
            "#]],
        );
    }
}
