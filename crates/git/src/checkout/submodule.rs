//! Submodules of a checkout: whether they can move along with it.
//!
//! Git itself moves only the entry in the index, and the folder then looks like an edit that reverts the
//! merge. A submodule that is not checked out has nothing to move. One that is checked out moves if it stands
//! on the old commit, has no edits, and has the new commit already; nothing is fetched.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::judge::{Plan, list_staged};
use super::look::View;
use super::obstacle::{Obstacle, Reason};
use crate::entry::{EntryChange, TreeEntry};
use crate::error::Error;
use crate::location::Location;
use crate::name::{BranchName, CommitId};
use crate::programs::Overrides;
use crate::repository::Repository;
use crate::serial::Serial;

/// How a submodule moves.
#[derive(Debug)]
pub(super) struct SubmodulePlan {
    pub(super) plan: Plan,
    /// The branch that it stood on; a move detaches its HEAD, as `git submodule update` does.
    pub(super) branch: Option<BranchName>,
}

/// What was found out about one submodule; both empty when there is nothing to do.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) plan: Option<SubmodulePlan>,
    pub(super) obstacle: Option<Obstacle>,
}

impl Repository {
    /// Judges a path where a submodule stands before the move, after it, or both.
    pub(super) async fn judge_link(
        &self,
        serial: &Serial,
        location: &Location,
        change: &EntryChange,
        changes: &[EntryChange],
        view: &View,
    ) -> Result<Verdict, Error> {
        let EntryChange { path, before, after } = change;
        let staged = view.index.get(path);
        let file = path.to_string_lossy().into_owned();
        let refuse = |reason, why: String| {
            let obstacle = Some(Obstacle::new(&location.path, reason, vec![file.clone()], why));
            Ok(Verdict { plan: None, obstacle })
        };
        if staged != before.as_ref() && staged != after.as_ref() {
            return refuse(Reason::Edited, "it has edits to files that the merge changes".to_owned());
        }
        let place = location.path.join(path);
        let (old, new) = (find_link(before.as_ref())?, find_link(after.as_ref())?);
        if let (Some(old), Some(new)) = (&old, &new) {
            return match find_git_dir(&place) {
                Some(git_dir) => self.judge_filled(serial, location, path, git_dir, (old, new)).await,
                None if place.symlink_metadata().is_ok_and(|found| !found.is_dir()) => {
                    refuse(Reason::Edited, "a file is where it has a submodule".to_owned())
                }
                None => Ok(Verdict::default()),
            };
        }
        if old.is_some() {
            // Git leaves the folder where it is, unless something else is to stand there; nothing in it is lost.
            let comes_below = |other: &EntryChange| other.path != *path && other.path.starts_with(path);
            let has_successor = after.is_some() || changes.iter().any(comes_below);
            return match has_successor && !is_free(&place) {
                true => refuse(
                    Reason::Submodule,
                    format!("the submodule `{file}` is where the merge brings files"),
                ),
                false => Ok(Verdict::default()),
            };
        }
        let is_edited = before.is_some() && view.differing.contains(path);
        let is_blocked = match (before, &new) {
            (None, Some(new)) => !is_free(&place) && !stands_on(&place, new).await,
            _ => false,
        };
        match (is_edited, is_blocked) {
            (true, _) => refuse(Reason::Edited, "it has edits to files that the merge changes".to_owned()),
            (_, true) => {
                let why = "it has files that git does not track where the merge brings files";
                refuse(Reason::Untracked, why.to_owned())
            }
            _ => Ok(Verdict::default()),
        }
    }

    async fn judge_filled(
        &self,
        serial: &Serial,
        location: &Location,
        path: &Path,
        git_dir: PathBuf,
        (old, new): (&CommitId, &CommitId),
    ) -> Result<Verdict, Error> {
        let name = path.to_string_lossy().into_owned();
        let refuse = |why: String| {
            let why = format!("the submodule `{name}` cannot move along: {why}");
            let obstacle = Obstacle::new(&location.path, Reason::Submodule, vec![name.clone()], why);
            Ok(Verdict { plan: None, obstacle: Some(obstacle) })
        };
        let own = Location { git_dir, path: location.path.join(path), overrides: Overrides::default() };
        let own = self.seal(own).await?;
        match own.head().await? {
            Some(head) if head == *new => return Ok(Verdict::default()),
            Some(head) if head == *old => {}
            _ => return refuse(format!("it is at another commit than {old}")),
        }
        let known = own.git().args(["cat-file", "-e", &format!("{new}^{{commit}}")]).run().await?;
        if known.code != Some(0) {
            return refuse(format!("it does not have the commit {new}"));
        }
        let branch = own.branch().await?;
        let staged = list_staged(&own, old).await?;
        // A submodule may have submodules.
        let judged = Box::pin(self.judge(serial, own, old, new)).await?;
        let edited = |path: &&PathBuf| !judged.plan.changed.contains(path);
        let differing = judged.view.iter().flat_map(|view| &view.differing);
        let edits: Vec<String> = staged
            .iter()
            .chain(differing)
            .filter(edited)
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        if let Some(obstacle) = judged.obstacles.first() {
            return refuse(match obstacle.files.as_slice() {
                [] => obstacle.why.clone(),
                files => format!("{} ({})", obstacle.why, files.join(", ")),
            });
        }
        if !edits.is_empty() {
            return refuse(format!("it has edits that are not committed ({})", edits.join(", ")));
        }
        Ok(Verdict { plan: Some(SubmodulePlan { plan: judged.plan, branch }), obstacle: None })
    }
}

async fn stands_on(place: &Path, commit: &CommitId) -> bool {
    let Some(git_dir) = find_git_dir(place) else { return false };
    let own = Location { git_dir, path: place.to_path_buf(), overrides: Overrides::default() };
    matches!(own.head().await, Ok(Some(head)) if head == *commit)
}

/// Returns the commit of an entry that is a submodule's.
fn find_link(entry: Option<&TreeEntry>) -> Result<Option<CommitId>, Error> {
    let link = entry.filter(|entry| entry.is_link());
    Ok(link.map(|entry| CommitId::parse(&entry.id)).transpose()?)
}

/// Tells whether nothing stands at a place, or an empty folder.
fn is_free(place: &Path) -> bool {
    match std::fs::read_dir(place) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => place.symlink_metadata().is_err(),
    }
}

/// Finds the git folder of a repository whose files are in a folder: inside it, or where a `.git` file leads.
pub(crate) fn find_git_dir(place: &Path) -> Option<PathBuf> {
    let git = place.join(".git");
    let found = git.symlink_metadata().ok()?;
    if found.is_dir() {
        return Some(git);
    }
    let content = found.is_file().then(|| std::fs::read(&git).ok())??;
    let named = content.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    place.join(OsStr::from_bytes(named)).canonicalize().ok().filter(|folder| folder.is_dir())
}
