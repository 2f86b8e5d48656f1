//! What a folder holds at the paths that a move changes, in git's own terms.
//!
//! Git reads files that differ from the index into a separate index, so that line endings, modes and links
//! count as they do in a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::entry::{EntryChange, TreeEntry, list_index, to_path};
use crate::error::Error;
use crate::folder;
use crate::location::Location;
use crate::repository::Repository;
use crate::stage::split;

/// More names of files in the way do not help a reader.
const NAMES_MAX: usize = 20;

/// What stands at a path in the folder.
pub(super) enum Found {
    /// What git would take in there, if anything.
    Entry(Option<TreeEntry>),
    /// What git would have to overwrite: a folder with files, a pipe, a file where a folder has to be.
    Other(Vec<String>),
}

/// A worktree's index and folder, at the paths that a move changes.
pub(super) struct View {
    pub(super) index: BTreeMap<PathBuf, TreeEntry>,
    /// The paths that differ between index and folder, whether or not the move changes them.
    pub(super) differing: BTreeSet<PathBuf>,
    found: BTreeMap<PathBuf, Found>,
}

impl View {
    /// Returns what stands at a path that the move changes.
    pub(super) fn at(&self, path: &Path) -> Found {
        match self.found.get(path) {
            Some(Found::Entry(entry)) => Found::Entry(entry.clone()),
            Some(Found::Other(files)) => Found::Other(files.clone()),
            None => Found::Entry(self.index.get(path).cloned()),
        }
    }
}

impl Repository {
    /// Looks at the paths of a move that are no submodules.
    pub(super) async fn look(&self, location: &Location, changes: &[EntryChange]) -> Result<View, Error> {
        let paths: Vec<PathBuf> = changes.iter().map(|change| change.path.clone()).collect();
        let index = list_index(|| location.git(), &paths).await?;
        let differing = list_differing(location).await?;
        let leaving: BTreeSet<&PathBuf> =
            changes.iter().filter(|change| change.after.is_none()).map(|change| &change.path).collect();
        let mut view = View { index, differing, found: BTreeMap::new() };
        let mut unread = Vec::new();
        for change in changes.iter().filter(|change| !change.concerns_link()) {
            let path = &change.path;
            if view.index.contains_key(path) && !view.differing.contains(path) {
                continue;
            }
            match inspect(&location.path, path, view.index.contains_key(path), &leaving)? {
                Some(found) => drop(view.found.insert(path.clone(), found)),
                None => unread.push(path.clone()),
            }
        }
        let read = self.read_aside(location, &unread).await?;
        let read = unread.into_iter().map(|path| {
            let entry = read.get(&path).cloned();
            (path, Found::Entry(entry))
        });
        view.found.extend(read);
        Ok(view)
    }

    /// Reads files into an index aside and returns what they are there.
    async fn read_aside(
        &self,
        location: &Location,
        paths: &[PathBuf],
    ) -> Result<BTreeMap<PathBuf, TreeEntry>, Error> {
        if paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let index = self.landing_folder()?.join("folder-index");
        folder::remove(&index)?;
        // A copy, since what a file is may depend on what it was, such as the mode where the disk has none.
        let _ = std::fs::copy(location.git_dir.join("index"), &index);
        let git = || location.git().env("GIT_INDEX_FILE", &index);
        let listed: Vec<u8> =
            paths.iter().flat_map(|path| path.as_os_str().as_bytes().iter().copied().chain([0])).collect();
        let update = git().args(["update-index", "--add", "--replace", "-z", "--stdin"]);
        update.input(listed).success().await?;
        let entries = list_index(git, paths).await;
        folder::remove(&index)?;
        entries
    }
}

async fn list_differing(location: &Location) -> Result<BTreeSet<PathBuf>, Error> {
    let words =
        ["diff-files", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=all"];
    let listed = location.git().args(words).success().await?;
    Ok(split(&listed.stdout).map(to_path).collect())
}

/// Returns what stands at a path, or nothing when it is a file that has to be read.
fn inspect(
    root: &Path,
    path: &Path,
    is_tracked: bool,
    leaving: &BTreeSet<&PathBuf>,
) -> Result<Option<Found>, Error> {
    let absent = Ok(Some(Found::Entry(None)));
    let other = |path: &Path| Ok(Some(Found::Other(vec![path.to_string_lossy().into_owned()])));
    let mut above: Vec<&Path> =
        path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty()).collect();
    above.reverse();
    for folder in above {
        match root.join(folder).symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            // A tracked file that becomes a folder is judged separately.
            Ok(_) if leaving.contains(&folder.to_path_buf()) => return absent,
            Ok(_) => return other(folder),
            Err(_) => return absent,
        }
    }
    let place = root.join(path);
    match place.symlink_metadata() {
        Err(_) => absent,
        Ok(found) if found.is_file() || found.is_symlink() => Ok(None),
        Ok(found) if found.is_dir() && !is_tracked && !place.join(".git").exists() => {
            let kept = |below: &PathBuf| {
                let full = path.join(below);
                (!leaving.contains(&full)).then(|| full.to_string_lossy().into_owned())
            };
            let files: Vec<String> = folder::files(&place)?.iter().filter_map(kept).take(NAMES_MAX).collect();
            if files.is_empty() { absent } else { Ok(Some(Found::Other(files))) }
        }
        Ok(_) => other(path),
    }
}
