//! Where a task comes from that was taken over from the files of another tool.
//!
//! What was done there is not `verified`: nothing of it was merged here, and nobody here approved it. Such a task stays in the
//! backlog, is hidden, and counts as done for the tasks that depend on it, until somebody shows it again or assigns it.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// What a task was made of.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskSource {
    /// The kind of files, such as `spec-kit`.
    pub kind: String,
    /// The folder or file that was imported.
    pub folder: String,
    /// What it is called there.
    pub item: String,
    /// The SHA-256 of what the files say about it.
    pub digest: String,
    /// Its status there, in the words of the files.
    pub status: Option<String>,
    /// Whether it was done there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
    /// Where a copy of the original is kept.
    pub kept: Option<String>,
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn what_was_done_elsewhere_counts_as_done_and_is_not_verified() {
        check(
            "",
            "add done; add on 1; assign 2 alpha; cancel 2; settle 2; unhide 1; assign 2 alpha; hide 1; assign 2 alpha",
            expect![[r#"
                > add done
                [task:created, task:imported]
                #1 backlog, hidden
                > add on 1
                [task:created]
                #2 backlog
                > assign 2 alpha
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, alpha starting
                > cancel 2
                [agent:stopping] -> stop_agent
                #2 in_progress/stopping, alpha starting
                > settle 2
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #2 backlog
                > unhide 1
                [task:unhidden]
                #1 backlog
                > assign 2 alpha
                error[TASK_BLOCKED]: task #2 was not assigned
                  why:  it depends on tasks that are not verified: #1 (backlog)
                  next: finish those first, or drop the dependency with `regatta task depends 2 --remove ID`
                > hide 1
                [task:hidden]
                #1 backlog, hidden
                > assign 2 alpha
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, alpha starting
            "#]],
        );
    }

    #[test]
    fn one_that_is_assigned_is_work_like_any_other() {
        check(
            "add done; add",
            "assign 1 alpha; hide 1; hide 2",
            expect![[r#"
            > assign 1 alpha
            [task:assigned] -> create_worktree
            #1 in_progress/preparing, alpha starting
            > hide 1
            error[TASK_INVALID_TRANSITION]: `hide` was refused for task #1
              why:  it is in in_progress, and only verified tasks can be hidden
              next: see `regatta task show 1`
            > hide 2
            error[TASK_INVALID_TRANSITION]: `hide` was refused for task #2
              why:  it is in backlog, and only verified tasks can be hidden
              next: see `regatta task show 2`
        "#]],
        );
    }
}
