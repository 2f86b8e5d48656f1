//! What a forecast knows of one branch.

use crate::core::{Forecast, TaskId};
use regatta_git::CommitId;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The paths that some commits changed.
pub(super) type Paths = Arc<BTreeSet<String>>;

/// The branch of a task that is not merged yet.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    pub(super) task: TaskId,
    pub(super) name: String,
    pub(super) head: CommitId,
    /// The branch that it is to be merged into.
    pub(super) target: String,
    pub(super) target_head: CommitId,
    /// What its commits changed since it parted from the target.
    pub(super) committed: Paths,
    /// What is being changed in its worktree.
    pub(super) uncommitted: BTreeSet<String>,
    /// What the target's commits changed since then.
    pub(super) changed_on_target: Paths,
    /// What is recorded of it.
    pub(super) recorded: Forecast,
}
