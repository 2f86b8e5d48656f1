//! Adds everything in a worktree's folder to an index, and writes the index as a tree.
//!
//! The paths are listed and fed to `update-index`, rather than left to `git add --all`: that one records a
//! nested repository as a link to commits which exist nowhere else (or fails when it has none), and its
//! exclusions would be patterns. Here the files of a nested repository are added like any others, and ignored
//! paths are plain names.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::command::Git;
use crate::error::Error;
use crate::location::Location;
use crate::name::{CommitId, RelativePath};
use crate::repository::Repository;
use crate::serial::Serial;

/// Repositories inside repositories inside … : more levels than this are left out.
const NESTING_MAX: usize = 4;

/// A worktree, the index to fill for it, and what is to stay out.
pub(crate) struct Stage<'a> {
    pub(crate) location: &'a Location,
    /// Another index file than the worktree's own.
    pub(crate) index: Option<&'a Path>,
    /// The commit that ignored paths are taken from, if they are in it.
    pub(crate) head: Option<&'a CommitId>,
    pub(crate) ignore: &'a [RelativePath],
}

/// The paths that differ from the index.
#[derive(Default)]
struct Changes {
    present: BTreeSet<Vec<u8>>,
    gone: BTreeSet<Vec<u8>>,
}

impl Repository {
    /// Fills the index with everything in the folder that is not excluded, and returns the tree it makes.
    pub(crate) async fn stage(&self, serial: &Serial, stage: &Stage<'_>) -> Result<String, Error> {
        let mut changes = stage.list_tracked().await?;
        self.list_untracked(stage, &mut changes).await?;
        let is_ignored = |path: &Vec<u8>| stage.ignore.iter().any(|ignored| ignored.covers(path));
        changes.present.retain(|path| !is_ignored(path));
        changes.gone.retain(|path| !is_ignored(path));
        stage.update(&["--force-remove"], &join(&changes.gone)).await?;
        stage.update(&["--add", "--replace"], &join(&changes.present)).await?;
        stage.restore_ignored().await?;
        stage.git().arg("write-tree").holding(serial)?.text().await
    }

    async fn list_untracked(&self, stage: &Stage<'_>, changes: &mut Changes) -> Result<(), Error> {
        let worktrees: Vec<PathBuf> = self.linked_locations()?.into_iter().map(|found| found.path).collect();
        let listed = stage.git().args(["ls-files", "-z", "--others", "--exclude-standard"]).success().await?;
        let mut levels: Vec<(Vec<u8>, usize)> =
            split(&listed.stdout).map(|path| (path.to_vec(), NESTING_MAX)).collect();
        while let Some((path, levels_left)) = levels.pop() {
            let Some(nested) = path.strip_suffix(b"/") else {
                changes.present.insert(path);
                continue;
            };
            let folder = stage.location.path.join(OsStr::from_bytes(nested));
            if levels_left == 0 || worktrees.contains(&folder) {
                continue;
            }
            // Seen as a plain folder of ours, so that nothing in the nested repository's own git folder is believed.
            let git = Git::of(&stage.location.git_dir, Some(&folder)).env("GIT_INDEX_FILE", self.no_index());
            let listed = git.args(["ls-files", "-z", "--others", "--exclude-standard"]).success().await?;
            levels.extend(split(&listed.stdout).map(|below| ([&path, below].concat(), levels_left - 1)));
        }
        Ok(())
    }

    /// Returns the path of an index that does not exist, which git reads as an empty one.
    pub(crate) fn no_index(&self) -> PathBuf {
        self.own_folder().join("no-index")
    }
}

impl Stage<'_> {
    fn git(&self) -> Git {
        match self.index {
            Some(index) => self.location.git().env("GIT_INDEX_FILE", index),
            None => self.location.git(),
        }
    }

    async fn list_tracked(&self) -> Result<Changes, Error> {
        let words = [
            "diff-files",
            "-z",
            "--name-status",
            "--no-renames",
            "--no-ext-diff",
            "--ignore-submodules=dirty",
        ];
        let listed = self.git().args(words).success().await?;
        let mut changes = Changes::default();
        let mut fields = split(&listed.stdout);
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            let is_gone = match status {
                b"D" => true,
                // An unmerged path comes a second time when its file differs, but not when it is gone.
                b"U" => self.location.path.join(OsStr::from_bytes(path)).symlink_metadata().is_err(),
                _ => false,
            };
            if is_gone {
                changes.gone.insert(path.to_vec())
            } else {
                changes.present.insert(path.to_vec())
            };
        }
        changes.present.retain(|path| !changes.gone.contains(path));
        Ok(changes)
    }

    /// Undoes whatever an agent staged itself of the ignored paths.
    async fn restore_ignored(&self) -> Result<(), Error> {
        if self.ignore.is_empty() {
            return Ok(());
        }
        let names = self.ignore.iter().map(RelativePath::as_str);
        let staged =
            self.git().args(["ls-files", "-z", "--cached", "--"]).args(names.clone()).success().await?;
        if staged.stdout.is_empty() {
            return Ok(());
        }
        self.update(&["--force-remove"], &staged.stdout).await?;
        if let Some(head) = self.head {
            let listed =
                self.git().args(["ls-tree", "-r", "-z", "--full-tree", head.as_str(), "--"]).args(names);
            let committed = listed.success().await?.stdout;
            self.git().args(["update-index", "-z", "--index-info"]).input(committed).success().await?;
        }
        Ok(())
    }

    async fn update(&self, options: &[&str], paths: &[u8]) -> Result<(), Error> {
        if paths.is_empty() {
            return Ok(());
        }
        let git = self.git().arg("update-index").args(options).args(["-z", "--stdin"]);
        git.input(paths.to_vec()).success().await.map(drop)
    }
}

/// Splits output of `-z` into its fields.
pub(crate) fn split(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

fn join(paths: &BTreeSet<Vec<u8>>) -> Vec<u8> {
    paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect()
}
