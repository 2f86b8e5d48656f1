//! A git folder that stands in for the repository's own, for an agent in a sandbox.
//!
//! Git makes a lock file beside each ref that it moves, so an agent cannot get a part of the real refs
//! without their neighbours; and a process that can write to the objects can forge them. So an agent gets a
//! git folder to itself, mounted where the real one is: the refs as they were, a copy of the config, and an
//! object folder that borrows from the real one. It can commit, stash, branch, rebase and collect garbage
//! there without reaching anything.
//!
//! ```text
//! <common dir>                       ◀─ regatta/stand-ins/<id>/git      writable, thrown away with the worktree
//!   objects/info/alternates ─▶ ../shared-objects
//!   shared-objects, hooks, modules   ◀─ the real ones                   read-only
//!   worktrees/<id>                   ◀─ the real one                    writable: index, HEAD
//!   worktrees/<id>/{commondir,gitdir,config.worktree}                   read-only
//! ```
//!
//! `open` makes it, and `take_in` brings the worktree's branch back: the objects in a pack, whose objects git
//! checks and hashes again, and the ref by compare-and-swap. No git of ours ever runs on the stand-in.

mod import;
mod open;
mod refs;
mod take_in;

use std::path::{Path, PathBuf};

use crate::repository::Repository;

pub(crate) use import::borrowing;
pub(crate) use refs::read_plain;

/// Something that is seen at a path inside a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The path inside.
    pub path: PathBuf,
    /// The file or folder outside that is seen there.
    pub source: PathBuf,
    /// Whether it may be changed.
    pub is_writable: bool,
}

/// The name, within the stand-in, of the folder through which it sees the real objects.
const SHARED_OBJECTS: &str = "shared-objects";

/// The places of one stand-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    folder: PathBuf,
}

impl Place {
    /// Returns the folder that an agent sees as the git folder; all in it is the agent's.
    fn git(&self) -> PathBuf {
        self.folder.join("git")
    }

    /// Returns the one before it, while the next is being made.
    fn old(&self) -> PathBuf {
        self.folder.join("git.old")
    }

    /// Returns the one that is being made.
    fn next(&self) -> PathBuf {
        self.folder.join("git.new")
    }

    /// Returns the file that names the branch.
    fn branch(&self) -> PathBuf {
        self.folder.join("branch")
    }

    /// Returns the file that says where the agent's branch was when it was last looked at.
    fn seen(&self) -> PathBuf {
        self.folder.join("seen")
    }

    /// Returns the folder for what is on its way from the stand-in to the repository.
    fn import(&self) -> PathBuf {
        self.folder.join("import")
    }
}

impl Repository {
    /// Returns the folder of a worktree's stand-in, by the worktree's git folder; the main worktree has none.
    pub(crate) fn stand_in_place(&self, git_dir: &Path) -> Option<PathBuf> {
        let id = git_dir.file_name().filter(|_| git_dir != self.common_dir())?;
        Some(self.own_folder().join("stand-ins").join(id))
    }
}
