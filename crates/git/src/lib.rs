//! Worktrees, branches, diffs and merges by running the `git` program.
//!
//! Takes paths and names, never task types, and decides nothing about a task. The program is used rather than
//! gix or git2 because neither offers the whole of what is needed here (adding worktrees, `merge-tree`, updates
//! of a checkout, SHA-256 repositories), and because the user's own `git` then agrees with us by construction.
//! Every call is sealed: no user configuration, no hooks, no prompts, a limit on time and on output; see
//! `command`. Start reading at [`Repository`].

mod bundle;
mod change;
mod checkout;
mod command;
mod commits;
mod content;
mod diff;
mod discover;
mod entry;
mod error;
mod folder;
mod identity;
mod location;
mod lock_file;
mod merge;
mod name;
mod planted;
mod programs;
mod reference;
mod repository;
mod running;
mod salvage;
mod serial;
mod serial_holder;
mod signature;
mod stage;
mod stand_in;
mod submodules;
mod talk;
mod transaction;
mod trial;
mod version;
mod worktree;

pub use change::StatusEntry;
pub use checkout::{Obstacle, Reason};
pub use commits::ListedCommit;
pub use content::Content;
pub use diff::{ChangeKind, Diff, FileChange, Patch, Uncommitted};
pub use discover::{Discovered, discover};
pub use entry::{EntryChange, TreeEntry};
pub use error::Error;
pub use merge::{MergeOutcome, MergeRequest, MergeStep};
pub use name::{BranchName, CommitId, NameError, RefName, RelativePath};
pub use planted::Unclean;
pub use repository::Repository;
pub use salvage::{Salvage, SalvageRequest, Salvaged};
pub use serial_holder::LockHolder;
pub use signature::Signature;
pub use stand_in::Mount;
pub use submodules::{KeptModule, SubmoduleWork};
pub use trial::Trial;
pub use worktree::{RemovalStep, Turn, WorktreeEntry};
