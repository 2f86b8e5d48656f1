//! Finds the checkouts of a branch, and operations in progress that concern it.
//!
//! A rebase or a bisect detaches HEAD and returns to the branch at its end, with the branch as it was at the
//! beginning. Such a worktree has nothing to move and is an obstacle all the same.

use std::path::Path;

use super::obstacle::{Obstacle, Reason};
use crate::error::Error;
use crate::location::Location;
use crate::name::BranchName;
use crate::repository::Repository;

/// What git keeps in a worktree's git folder while it waits for its user.
const OPERATIONS: [(&str, &str); 8] = [
    ("MERGE_HEAD", "a merge is in progress"),
    ("CHERRY_PICK_HEAD", "a cherry-pick is in progress"),
    ("REVERT_HEAD", "a revert is in progress"),
    ("rebase-merge", "a rebase is in progress"),
    ("rebase-apply/applying", "an `am` is in progress"),
    ("rebase-apply", "a rebase is in progress"),
    ("sequencer", "a series of commits is being applied"),
    ("BISECT_START", "a bisect is in progress"),
];

impl Repository {
    /// Finds the worktrees that stand on a branch, the main one first, and those that began an operation on it.
    pub(super) async fn find_checkouts(
        &self,
        branch: &BranchName,
    ) -> Result<(Vec<Location>, Vec<Obstacle>), Error> {
        let (mut found, mut obstacles) = (Vec::new(), Vec::new());
        for location in self.locations()? {
            // An entry that cannot be read is no checkout that anybody could commit in.
            let Ok(stands_on) = location.branch().await else { continue };
            let is_on_branch = stands_on.as_ref() == Some(branch);
            let path = &location.path;
            if !path.is_dir() {
                // A locked worktree may be on a disk that comes back; another one was deleted.
                if is_on_branch && location.git_dir.join("locked").exists() {
                    let why = "its worktree is locked, and its folder is not there";
                    obstacles.push(Obstacle::new(path, Reason::Missing, Vec::new(), why));
                }
            } else if is_on_branch {
                found.push(self.seal(location).await?);
            } else if let Some(why) = find_begun(&location.git_dir, branch) {
                obstacles.push(Obstacle::new(path, Reason::Operation, Vec::new(), why));
            }
        }
        Ok((found, obstacles))
    }

    /// Returns the folders of the worktrees that stand on a branch.
    pub(crate) async fn list_checkouts(&self, branch: &BranchName) -> Result<Vec<std::path::PathBuf>, Error> {
        let (found, _) = self.find_checkouts(branch).await?;
        Ok(found.into_iter().map(|location| location.path).collect())
    }

    fn locations(&self) -> Result<Vec<Location>, Error> {
        let main = (!self.is_bare()).then(|| self.main_location(self.root().to_path_buf()));
        let mut linked = self.linked_locations()?;
        linked.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(main.into_iter().chain(linked).collect())
    }
}

/// Returns what is in progress in a worktree that stands on the branch.
pub(super) fn find_operation(location: &Location) -> Option<Obstacle> {
    let obstacle = |reason, why: &str| Obstacle::new(&location.path, reason, Vec::new(), why);
    if location.git_dir.join("index.lock").exists() {
        let why = "another git is running there, or died and left its index.lock";
        return Some(obstacle(Reason::Locked, why));
    }
    let under_way = OPERATIONS.iter().find(|(name, _)| location.git_dir.join(name).exists());
    under_way.map(|(_, why)| obstacle(Reason::Operation, why))
}

/// Tells which operation of a worktree that stands elsewhere will come back to the branch.
fn find_begun(git_dir: &Path, branch: &BranchName) -> Option<&'static str> {
    let read = |name: &str| std::fs::read_to_string(git_dir.join(name)).unwrap_or_default();
    let full = branch.to_ref();
    let is_named = |name: &str| read(name).trim() == full.as_str();
    if is_named("rebase-merge/head-name") || is_named("rebase-apply/head-name") {
        return Some("a rebase that began on the branch is in progress");
    }
    // `git rebase --update-refs` moves branches beside its own.
    if read("rebase-merge/update-refs").lines().any(|line| line == full.as_str()) {
        return Some("a rebase that is to move the branch is in progress");
    }
    (read("BISECT_START").trim() == branch.as_str())
        .then_some("a bisect that began on the branch is in progress")
}
