//! `hide`: takes a task that is done out of the list, or puts it back.
//!
//! One that was done before it was imported is done for as long as it is hidden: shown again, it is work like any other.

use super::{Stage, Task};
use crate::{Event, Refusal};

/// Hides or shows the task; one that is hidden or shown already stays so.
pub(crate) fn hide(task: &Task, hidden: bool) -> Result<Vec<Event>, Refusal> {
    let task_id = task.id;
    if !can_hide(task) {
        let column = task.column();
        let why = format!("it is in {column}, and only verified tasks can be hidden");
        let next = format!("see `regatta task show {task_id}`");
        return Err(Refusal::NotLegal { task: task_id, column, verb: "hide", why, next });
    }
    Ok(match (task.hidden, hidden) {
        (false, true) => vec![Event::TaskHidden { task_id }],
        (true, false) => vec![Event::TaskUnhidden { task_id }],
        _ => Vec::new(),
    })
}

/// Tells whether a task can be taken out of the list.
pub(crate) fn can_hide(task: &Task) -> bool {
    match task.stage {
        Stage::Verified(_) => true,
        Stage::Backlog => task.attempts == 0 && task.source.as_ref().is_some_and(|source| source.done),
        Stage::InProgress(_) | Stage::WaitingApproval(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn only_what_is_done_can_be_hidden() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "hide 1; approve 1; settle 1; hide 1; hide 1; unhide 1; unhide 1",
            expect![[r#"
                > hide 1
                error[TASK_INVALID_TRANSITION]: `hide` was refused for task #1
                  why:  it is in waiting_approval, and only verified tasks can be hidden
                  next: see `regatta task show 1`
                > approve 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
                > settle 1
                [worktree:merged, task:approved, worktree:removed] -> remove_worktree
                #1 verified/cleanupdone
                > hide 1
                [task:hidden]
                #1 verified/cleanupdone, hidden
                > hide 1
                []
                #1 verified/cleanupdone, hidden
                > unhide 1
                [task:unhidden]
                #1 verified/cleanupdone
                > unhide 1
                []
                #1 verified/cleanupdone
            "#]],
        );
    }
}
