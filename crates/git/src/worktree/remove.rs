//! Removing a worktree with its folder, its entry and its branch, in whatever shape an agent left it.
//!
//! The entries are removed here and not by `git worktree remove`, which refuses a locked or damaged worktree.
//! The folder goes first and the branch last, so that an interrupted call can be repeated. It is moved aside before
//! it is emptied: whoever looks after an interruption finds it whole or not at all, and takes no half-emptied folder
//! for work in which files were deleted. The same goes for the stand-in, half of which would pass for one that its agent
//! spoiled, and for the entry, which holds the git folders of submodules. Nothing is kept: the caller has salvaged before.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::folder;
use crate::location::settle;
use crate::name::BranchName;
use crate::repository::Repository;

impl Repository {
    /// Removes the worktree at the path and the branch; may be repeated.
    ///
    /// Refuses the main worktree, any folder that holds it, and a branch that another worktree stands on.
    pub async fn remove_worktree(&self, path: &Path, branch: &BranchName) -> Result<(), Error> {
        let serial = self.serialise().await?;
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
            remove_at_once(&folder_path)?;
            if let Some(git_dir) = git_dir {
                if let Some(stand_in) = stand_in {
                    remove_at_once(&stand_in)?;
                }
                remove_by_way_of(&git_dir, &aside)?;
            }
            // Git removes the folder with the last entry too; it stays while there are others.
            let _ = std::fs::remove_dir(entries);
            Ok(())
        })
        .await?;
        if let Some(head) = self.find_branch(branch).await? {
            self.delete_ref(&serial, &branch.to_ref(), &head).await?;
        }
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
fn remove_at_once(path: &Path) -> Result<(), Error> {
    remove_by_way_of(path, &place_aside(path))
}

fn remove_by_way_of(path: &Path, aside: &Path) -> Result<(), Error> {
    folder::remove(aside)?;
    match std::fs::rename(path, aside) {
        Ok(()) => folder::remove(aside),
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
