//! The place of a worktree: made there, whatever was left in its way.
//!
//! A killed engine, or an agent that outlived it, may have left a folder where a worktree was before. Nobody owns it,
//! and nothing in it is thrown away: it is moved beside the worktree, under a name that says so. What stands in a place
//! where none of ours was is somebody else's, and stays.

use crate::error::Error;
use crate::project::Project;
use regatta_git::{BranchName, CommitId};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What stands between the name of a worktree and a number, where a folder was moved beside it.
const LEFT: &str = ".left-";
/// More folders were never left in one place; beyond that a person has to look.
const LEFT_MAX: u32 = 1_000;

/// Makes a worktree; if there `was_one` before, a folder in its place is moved beside it first.
pub(crate) async fn ensure(
    project: &Project,
    place: &Path,
    branch: &BranchName,
    start: &CommitId,
    was_one: bool,
) -> Result<(), Error> {
    let repository = project.repository();
    match repository.ensure_worktree(place, branch, start).await {
        Err(taken @ regatta_git::Error::PathTaken { .. }) if was_one && place.is_dir() => {
            let Some(aside) = find_aside(project, place) else { return Err(taken.into()) };
            std::fs::rename(place, &aside).map_err(Error::io("move aside", place))?;
            Ok(repository.ensure_worktree(place, branch, start).await?)
        }
        made => Ok(made?),
    }
}

/// Finds the folders that were moved beside worktrees and are still there.
pub(crate) fn find_left(project: &Project) -> Result<Vec<PathBuf>, Error> {
    let folder = project.place(&project.config().worktrees);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", &folder)(error)),
    };
    let mut left = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io("list", &folder))?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.rsplit_once(LEFT)).map(|(_, number)| number);
        if number.is_some_and(|number| number.parse::<u32>().is_ok()) {
            left.push(entry.path());
        }
    }
    left.sort();
    Ok(left)
}

/// Finds a free name beside the place, if it lies in the folder of worktrees.
fn find_aside(project: &Project, place: &Path) -> Option<PathBuf> {
    let name = place.file_name()?.to_string_lossy().into_owned();
    let folder = place.parent().filter(|folder| *folder == project.place(&project.config().worktrees))?;
    let mut names = (1..=LEFT_MAX).map(|number| folder.join(format!("{name}{LEFT}{number}")));
    names.find(|aside| aside.symlink_metadata().is_err())
}
