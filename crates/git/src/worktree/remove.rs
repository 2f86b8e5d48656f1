//! Removing a worktree with its folder, its entry and its branch, in whatever shape an agent left it.
//!
//! The entries are removed here and not by `git worktree remove`, which refuses a locked or damaged worktree.
//! The folder goes first and the branch last, so that an interrupted call can be repeated. Nothing is kept: the
//! caller has salvaged before.

use std::path::Path;

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
        let entries = self.common_dir().join("worktrees");
        let folder_path = path.clone();
        folder::blocking(move || {
            folder::remove(&folder_path)?;
            if let Some(git_dir) = git_dir {
                folder::remove(&git_dir)?;
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
