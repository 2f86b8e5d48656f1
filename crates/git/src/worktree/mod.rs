//! Worktrees: lists, makes and removes them, and gives them the files that git does not.
//!
//! Making (`ensure`) and removing (`remove`) may be repeated and may be interrupted anywhere; `journal` tells
//! a repeated call that what it finds half-made is its own.

mod copy;
mod ensure;
mod journal;
mod list;
mod remove;
mod restore;

pub use list::WorktreeEntry;
pub use remove::{RemovalStep, Turn};
