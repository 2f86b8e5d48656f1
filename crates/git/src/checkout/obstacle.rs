//! What keeps a checkout from showing a merge.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// Something of the user's that a merge would have to overwrite, or cannot get past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The checkout's folder.
    pub checkout: PathBuf,
    /// What kind of thing it is.
    pub reason: Reason,
    /// The files below the checkout that it is about; bytes that are no UTF-8 are shown as replacement characters.
    pub files: Vec<String>,
    /// The same in words, as a clause.
    pub why: String,
}

/// A kind of obstacle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Files that the merge changes have edits, staged or not.
    Edited,
    /// Files that git does not track, or ignores, stand where the merge brings files.
    Untracked,
    /// A merge, a rebase or the like is in progress.
    Operation,
    /// Another git has locked the index, or died and left its lock.
    Locked,
    /// A file that the merge writes has a filter that may not run.
    Filter,
    /// A submodule cannot move along.
    Submodule,
    /// The folder is not there, and its worktree is locked.
    Missing,
    /// Git refused, or failed.
    Refused,
}

impl Reason {
    /// Returns the word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Untracked => "untracked",
            Self::Operation => "operation",
            Self::Locked => "locked",
            Self::Filter => "filter",
            Self::Submodule => "submodule",
            Self::Missing => "missing",
            Self::Refused => "refused",
        }
    }
}

impl Obstacle {
    pub(super) fn new(checkout: &Path, reason: Reason, files: Vec<String>, why: impl Into<String>) -> Self {
        Self { checkout: checkout.to_path_buf(), reason, files, why: why.into() }
    }

    pub(super) fn refused(checkout: &Path, error: &Error) -> Self {
        Self::new(checkout, Reason::Refused, Vec::new(), format!("git refused to move it: {error}"))
    }

    pub(super) fn stuck(checkout: &Path, error: &Error) -> Self {
        let why = format!("it shows the merge already and could not be put back: {error}");
        Self::new(checkout, Reason::Refused, Vec::new(), why)
    }
}
