//! Runs the operations on throwaway repositories with the real git program, one file per subject.

mod change;
mod diff;
mod entry;
mod inner;
mod lock_file;
mod merge;
mod merge_checkout;
mod merge_checkouts;
mod merge_submodule;
mod planted;
mod programs;
mod reference;
mod salvage;
mod sealed;
mod stand_in;
mod submodules;
mod trial;
mod worktree;
mod worktree_remove;
mod world;
