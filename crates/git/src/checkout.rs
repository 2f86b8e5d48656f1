//! The user's checkout of a branch: whether it may follow the branch, and letting it.
//!
//! A checkout is moved only when it has nothing of its own: nothing staged, nothing changed, no operation under way,
//! and no untracked or ignored file where the new commit brings one. Otherwise it is left alone, and said so.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::command::CHECKOUT_TIME_MAX;
use crate::error::Error;
use crate::location::Location;
use crate::name::{BranchName, CommitId};
use crate::repository::Repository;
use crate::serial::Serial;
use crate::stage::split;

/// What a merge did to the checkout that stands on its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checkout {
    /// No worktree stands on the target.
    NotThere,
    /// The checkout was clean and is now at the target's new head.
    FastForwarded {
        /// Its folder.
        path: PathBuf,
    },
    /// The checkout was not touched.
    LeftAlone {
        /// Its folder.
        path: PathBuf,
        /// Why not, in a clause such as "it has staged changes".
        why: String,
    },
}

/// What git keeps in a worktree's git folder while it is at work or waits for its user.
const OPERATIONS: [(&str, &str); 7] = [
    ("index.lock", "another git is at work there, or died and left its index.lock"),
    ("MERGE_HEAD", "a merge is in progress"),
    ("CHERRY_PICK_HEAD", "a cherry-pick is in progress"),
    ("REVERT_HEAD", "a revert is in progress"),
    ("rebase-merge", "a rebase is in progress"),
    ("rebase-apply", "a rebase is in progress"),
    ("sequencer", "a series of commits is being applied"),
];

impl Repository {
    /// Finds the worktree that stands on a branch, the main one first.
    pub(crate) async fn find_checkout(&self, branch: &BranchName) -> Result<Option<Location>, Error> {
        if !self.is_bare() && self.current_branch().await?.as_ref() == Some(branch) {
            let location = self.seal(self.main_location(self.root().to_path_buf())).await?;
            return Ok(Some(location));
        }
        for location in self.linked_locations()? {
            // An entry that cannot be read is no checkout that could follow.
            if location.path.is_dir()
                && matches!(location.branch().await, Ok(Some(found)) if found == *branch)
            {
                return self.seal(location).await.map(Some);
            }
        }
        Ok(None)
    }

    /// Returns why a checkout is not exactly at a commit, or nothing when it is.
    pub(crate) async fn judge_checkout(
        &self,
        serial: &Serial,
        location: &Location,
        expected: &CommitId,
    ) -> Result<Option<String>, Error> {
        let under_way = OPERATIONS.iter().find(|(name, _)| location.git_dir.join(name).exists());
        if let Some((_, why)) = under_way {
            return Ok(Some((*why).to_owned()));
        }
        // Without this, files that were only touched would count as changed. Status 1 says that some are changed.
        let refreshed =
            location.git().args(["update-index", "-q", "--refresh"]).holding(serial)?.run().await?;
        if !matches!(refreshed.code, Some(0 | 1)) {
            return Ok(Some(format!("its index cannot be refreshed: {}", first_line(&refreshed.stderr))));
        }
        let quiet = ["--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];
        let staged = location.git().arg("diff-index").args(quiet).args(["--cached", expected.as_str(), "--"]);
        if !staged.answer().await? {
            return Ok(Some("it has staged changes".to_owned()));
        }
        if !location.git().arg("diff-files").args(quiet).answer().await? {
            return Ok(Some("it has changes that are not committed".to_owned()));
        }
        Ok(None)
    }

    /// Moves a checkout that was judged to be at `old` to `new`, unless a file of the user's is in the way.
    pub(crate) async fn advance_checkout(
        &self,
        serial: &Serial,
        location: &Location,
        old: &CommitId,
        new: &CommitId,
    ) -> Result<Checkout, Error> {
        let path = location.path.clone();
        if let Some(file) = self.find_file_in_the_way(location, old, new).await? {
            return Ok(Checkout::LeftAlone {
                path,
                why: format!("the merge would overwrite its untracked file {file}"),
            });
        }
        let git = location.git().args(["read-tree", "-m", "-u", old.as_str(), new.as_str()]);
        let finished = git.time_max(CHECKOUT_TIME_MAX).holding(serial)?.run().await?;
        match finished.code {
            Some(0) => Ok(Checkout::FastForwarded { path }),
            // Git checks everything once more before it touches the first file, so a change made since is safe too.
            _ => Ok(Checkout::LeftAlone {
                path,
                why: format!("git refused: {}", first_line(&finished.stderr)),
            }),
        }
    }

    /// Finds a file that git does not track where the new commit adds one; git itself would overwrite ignored ones.
    async fn find_file_in_the_way(
        &self,
        location: &Location,
        old: &CommitId,
        new: &CommitId,
    ) -> Result<Option<String>, Error> {
        let words = [
            "diff-tree",
            "-r",
            "-z",
            "--name-status",
            "--no-renames",
            "--no-ext-diff",
            old.as_str(),
            new.as_str(),
        ];
        let listed = self.git().args(words).success().await?;
        let mut fields = split(&listed.stdout);
        let (mut added, mut tracked) = (Vec::new(), HashSet::new());
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            if status == b"A" {
                added.push(path);
            } else {
                tracked.insert(path);
            }
        }
        let blocked = |path: &&&[u8]| is_blocked(&location.path, path, &tracked);
        Ok(added.iter().find(blocked).map(|path| String::from_utf8_lossy(path).into_owned()))
    }
}

/// Tells whether something untracked stands at the path, or where a folder above it has to be.
fn is_blocked(root: &Path, path: &[u8], tracked: &HashSet<&[u8]>) -> bool {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    for end in slashes {
        let above = &path[..end];
        match root.join(OsStr::from_bytes(above)).symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            // A tracked file that becomes a folder; the judgement has seen that it is unchanged.
            Ok(_) if tracked.contains(above) => return false,
            Ok(_) => return true,
            Err(_) => return false,
        }
    }
    root.join(OsStr::from_bytes(path)).symlink_metadata().is_ok()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
