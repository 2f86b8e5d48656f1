//! Removes a worktree with its folder, its entry and its branch, in whatever shape an agent left it.
//!
//! The entries are removed here and not by `git worktree remove`, which refuses a locked or damaged worktree.
//! The folder goes first and the branch last, so that an interrupted call can be repeated. The folder is
//! moved aside before it is emptied, so that after an interruption it is there as a whole or not at all, and
//! a half-emptied folder is never mistaken for work in which files were deleted. The same goes for the
//! stand-in, half of which would look like one that its agent damaged, and for the entry, which holds the git
//! folders of submodules. Nothing is kept: the caller has salvaged before.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::folder;
use crate::location::settle;
use crate::name::BranchName;
use crate::repository::Repository;
use crate::salvage::{SalvageRequest, Salvaged};
use crate::serial::Serial;

/// A step of a removal that has just been done; for tests that end the process there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalStep {
    /// The folder has another name.
    MovedAside,
    /// The folder is gone.
    FolderRemoved,
    /// Git no longer knows the worktree.
    EntryRemoved,
    /// The branch is gone.
    BranchRemoved,
}

/// The right to change a repository, until it is dropped; no other process of ours changes it meanwhile.
///
/// A caller that may have lost its own right to change the repository, such as an engine that slept, checks
/// that after taking a turn. From then on nothing can change what it finds.
#[derive(Debug)]
pub struct Turn {
    serial: Serial,
}

impl Repository {
    /// Waits for this repository's turn to be changed.
    pub async fn take_turn(&self) -> Result<Turn, Error> {
        Ok(Turn { serial: self.serialise().await? })
    }

    /// Removes a worktree and its branch if they are still exactly what was salvaged of them; says whether they were.
    pub async fn remove_salvaged(
        &self,
        turn: &Turn,
        request: &SalvageRequest,
        salvaged: &Salvaged,
        observer: fn(RemovalStep),
    ) -> Result<bool, Error> {
        if !self.is_as_salvaged(&turn.serial, request, salvaged).await? {
            return Ok(false);
        }
        self.remove_held(turn, &request.worktree, &request.branch, observer).await.map(|()| true)
    }

    /// Removes the worktree at the path and the branch; may be repeated.
    ///
    /// Refuses the main worktree, any folder that holds it, and a branch that another worktree stands on.
    pub async fn remove_worktree(&self, path: &Path, branch: &BranchName) -> Result<(), Error> {
        let turn = self.take_turn().await?;
        self.remove_in_turn(&turn, path, branch).await
    }

    /// Removes the worktree at the path and the branch, like [`Self::remove_worktree`].
    pub async fn remove_in_turn(&self, turn: &Turn, path: &Path, branch: &BranchName) -> Result<(), Error> {
        self.remove_held(turn, path, branch, |_| {}).await
    }

    async fn remove_held(
        &self,
        turn: &Turn,
        path: &Path,
        branch: &BranchName,
        observer: fn(RemovalStep),
    ) -> Result<(), Error> {
        let path = settle(path)?;
        if self.root().starts_with(&path)
            || self.common_dir().starts_with(&path)
            || path.starts_with(self.common_dir())
        {
            return Err(Error::MainWorktree { path });
        }
        self.refuse_branch_in_use(&path, branch).await?;
        let git_dir = self.find_location(&path)?.map(|location| location.git_dir);
        let stand_in = git_dir.as_deref().and_then(|git_dir| self.stand_in_place(git_dir));
        let entries = self.common_dir().join("worktrees");
        let aside = self.own_folder().join("removing");
        let folder_path = path.clone();
        folder::blocking(move || {
            folder::remove(&aside)?;
            remove_at_once(&folder_path, || observer(RemovalStep::MovedAside))?;
            observer(RemovalStep::FolderRemoved);
            if let Some(git_dir) = git_dir {
                if let Some(stand_in) = stand_in {
                    remove_at_once(&stand_in, || {})?;
                }
                remove_by_way_of(&git_dir, &aside, || {})?;
            }
            // Git removes the folder with the last entry too; it stays while there are others.
            let _ = std::fs::remove_dir(entries);
            observer(RemovalStep::EntryRemoved);
            Ok(())
        })
        .await?;
        if let Some(head) = self.find_branch(branch).await? {
            self.delete_ref(&turn.serial, &branch.to_ref(), &head).await?;
        }
        observer(RemovalStep::BranchRemoved);
        self.forget_begun(&path)
    }

    async fn refuse_branch_in_use(&self, path: &Path, branch: &BranchName) -> Result<(), Error> {
        for entry in self.list_worktrees().await? {
            if entry.branch.as_ref() == Some(branch) && settle(&entry.path)? != path {
                return Err(Error::BranchInUse { branch: branch.clone(), path: entry.path });
            }
        }
        Ok(())
    }
}

/// Removes a folder in one step, as seen from its path, and what an interrupted call left of it.
fn remove_at_once(path: &Path, moved_aside: impl FnOnce()) -> Result<(), Error> {
    remove_by_way_of(path, &place_aside(path), moved_aside)
}

fn remove_by_way_of(path: &Path, aside: &Path, moved_aside: impl FnOnce()) -> Result<(), Error> {
    folder::remove(aside)?;
    match std::fs::rename(path, aside) {
        Ok(()) => {
            moved_aside();
            folder::remove(aside)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("move aside", path)(error)),
    }
}

/// Returns a place beside the path, where a move is one step whatever disk it is on.
fn place_aside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".removing-");
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}
