//! Worktrees of tasks: where they are, and the salvage without which none is removed.
//!
//! Does not decide when a worktree comes or goes. Start reading at `salvage`.

pub(crate) mod git_names;
pub(crate) mod salvage;
pub(crate) mod worktree_place;
