//! What an agent plants for the git of a person: settings and hooks of git folders inside its worktree.
//!
//! A worktree's own `.git` leads to a git folder whose settings an agent cannot change (see `stand_in`). But
//! git also obeys the git folders of submodules (`<git dir>/modules/…`) and any that lie among the files:
//! `git status` looks into them, and runs what their config names. An agent may make such folders, and must
//! be able to. So what git obeys there is recorded before a session, and after the session everything that
//! names a program and was not there before is removed: the folders themselves stay, with all commits in
//! them.
//!
//! ```text
//! note_obeyed     ─▶ stand-ins/<id>/obeyed     as long as it is there, a session has not been cleaned up after
//! list_unclean    ◀─ stand-ins/<id>/obeyed     after a crash, before anything else happens
//! remove_planted  ◀─ stand-ins/<id>/obeyed
//! ```
//!
//! No git runs in any of these folders; git only reads single config files for us, without includes.

mod find;
mod note;
mod settings;

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::folder;
use crate::location::Location;
use crate::repository::Repository;
use note::Noted;

/// A worktree that was not cleaned up after what worked there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclean {
    /// The worktree.
    pub worktree: PathBuf,
    /// Who worked there, in the words of the caller.
    pub worker: String,
}

impl Repository {
    /// Notes what git obeys in the git folders inside a worktree, before an agent works there; `worker` says who that is.
    pub async fn note_obeyed(&self, worktree: &Path, worker: &str) -> Result<(), Error> {
        let location = self.get_location(worktree)?;
        let Some(place) = self.stand_in_place(&location.git_dir) else { return Ok(()) };
        let worker = worker.to_owned();
        folder::blocking(move || note::write(&place, &location, &worker)).await
    }

    /// Lists the worktrees that were not cleaned up.
    pub async fn list_unclean(&self) -> Result<Vec<Unclean>, Error> {
        let locations = self.linked_locations()?.into_iter().filter(|location| location.path.is_dir());
        let unclean = locations.filter_map(|location| {
            let noted = Noted::read(&self.stand_in_place(&location.git_dir)?)?;
            Some(Unclean { worktree: location.path, worker: noted.read_worker() })
        });
        Ok(unclean.collect())
    }

    /// Removes what was planted since it was noted, and says what that was; nothing where nothing was noted.
    pub async fn remove_planted(&self, worktree: &Path) -> Result<Vec<String>, Error> {
        let location = self.get_location(worktree)?;
        let Some(place) = self.stand_in_place(&location.git_dir) else { return Ok(Vec::new()) };
        let Some(noted) = Noted::read(&place) else { return Ok(Vec::new()) };
        let mut removed = Vec::new();
        let found = {
            let location = location.clone();
            folder::blocking(move || find::find(&location)).await?
        };
        for link in found.links {
            if !noted.has_link(&link) && !leads_inside(&link, &location) {
                folder::remove(&link)?;
                removed.push(show(&location, &link));
            }
        }
        for git_folder in found.folders {
            let before = noted.find(&git_folder);
            removed.extend(settings::clean(&git_folder, before, &location).await?.into_iter().map(|what| {
                let (name, keys) = what;
                format!("{}{keys}", show(&location, &git_folder.join(name)))
            }));
        }
        if noted.restore_own(&location)? {
            removed.push(show(&location, &location.git_dir.join(note::OWN_CONFIG)));
        }
        note::remove(&place)?;
        Ok(removed)
    }
}

/// Tells whether a `.git` file leads to a git folder that is looked through as well.
fn leads_inside(link: &Path, location: &Location) -> bool {
    let Some(folder) = link.parent() else { return false };
    let is_plain = link.symlink_metadata().is_ok_and(|found| found.is_file());
    let target = is_plain.then(|| crate::checkout::find_git_dir(folder)).flatten();
    target.is_some_and(|target| find::places(location).iter().any(|place| is_below(&target, place)))
}

fn is_below(path: &Path, folder: &Path) -> bool {
    match (path.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

fn show(location: &Location, path: &Path) -> String {
    let below = path.strip_prefix(&location.path).ok().map(Path::to_owned);
    let own = || path.strip_prefix(&location.git_dir).ok().map(|below| Path::new("<git folder>").join(below));
    below.or_else(own).unwrap_or_else(|| path.to_owned()).display().to_string()
}
