//! Resets a worktree to a commit, after a role changed it that may not write.

use std::path::Path;

use crate::error::Error;
use crate::name::{BranchName, CommitId, RelativePath};
use crate::repository::Repository;

impl Repository {
    /// Puts a worktree back on its branch at a commit, with the files of that commit. Untracked files go; files that git
    /// ignores, and those that were copied into it, stay.
    ///
    /// What it throws away must be kept before.
    pub async fn restore_worktree(
        &self,
        worktree: &Path,
        branch: &BranchName,
        to: &CommitId,
        keep: &[RelativePath],
    ) -> Result<(), Error> {
        let serial = self.serialise().await?;
        let location = self.seal(self.get_location(worktree)?).await?;
        // Otherwise a reset would move whichever branch was checked out meanwhile.
        let head =
            location.git().args(["symbolic-ref", "-m", "regatta", "HEAD"]).arg(branch.to_ref().as_str());
        head.holding(&serial)?.success().await?;
        let reset = location.git().args(["reset", "--hard", "--quiet", to.as_str()]);
        reset.holding(&serial)?.success().await?;
        let mut clean = location.git().args(["clean", "-ffd", "--quiet"]);
        for path in keep {
            clean = clean.arg("-e").arg(format!("/{}", path.as_str()));
        }
        clean.holding(&serial)?.success().await?;
        Ok(())
    }
}
