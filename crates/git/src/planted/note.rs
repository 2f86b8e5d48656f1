//! Records what git obeys inside a worktree while a session runs there, where its agent cannot reach it.
//!
//! ```text
//! obeyed/worker         who works there, in the words of the caller
//! obeyed/own            the worktree's own `config.worktree`, if it has one
//! obeyed/links          the paths of `.git` files, each ended by a zero byte
//! obeyed/<n>/path       the path of a git folder
//! obeyed/<n>/{config,config.worktree,commondir,hooks/*,info/*}
//! ```

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::find;
use crate::error::Error;
use crate::folder;
use crate::location::Location;
use crate::stand_in::read_plain;

/// Settings of one worktree, which git reads if the repository's config says so.
pub(super) const OWN_CONFIG: &str = "config.worktree";

/// Files of a git folder that say where or how git works there.
pub(super) const FILES: [&str; 3] = ["config", OWN_CONFIG, "commondir"];

/// Folders of a git folder whose files git runs or obeys.
pub(super) const FOLDERS: [&str; 2] = ["hooks", "info"];

/// What was noted, by the folder that it is kept in.
pub(super) struct Noted {
    folder: PathBuf,
    links: Vec<PathBuf>,
    folders: Vec<(PathBuf, PathBuf)>,
}

/// Notes everything, in one step.
pub(super) fn write(place: &Path, location: &Location, worker: &str) -> Result<(), Error> {
    let new = place.join("obeyed.new");
    folder::remove(&new)?;
    create(&new)?;
    let found = find::find(location)?;
    copy(&location.git_dir.join(OWN_CONFIG), &new.join("own"))?;
    let mut links = Vec::new();
    for link in &found.links {
        links.extend_from_slice(link.as_os_str().as_bytes());
        links.push(0);
    }
    save(&new.join("links"), &links)?;
    save(&new.join("worker"), worker.as_bytes())?;
    for (number, git_folder) in found.folders.iter().enumerate() {
        let own = new.join(number.to_string());
        create(&own)?;
        save(&own.join("path"), git_folder.as_os_str().as_bytes())?;
        for name in FILES {
            copy(&git_folder.join(name), &own.join(name))?;
        }
        for name in FOLDERS {
            create(&own.join(name))?;
            for file in list_files(&git_folder.join(name)) {
                copy(&git_folder.join(name).join(&file), &own.join(name).join(&file))?;
            }
        }
    }
    let kept = place.join("obeyed");
    folder::remove(&kept)?;
    std::fs::rename(&new, &kept).map_err(Error::io("move", &new))
}

/// Removes the note: what stands there now is nobody's doing.
pub(super) fn remove(place: &Path) -> Result<(), Error> {
    folder::remove(&place.join("obeyed"))
}

impl Noted {
    pub(super) fn read(place: &Path) -> Option<Noted> {
        let folder = place.join("obeyed");
        let links = std::fs::read(folder.join("links")).ok()?;
        let links = links.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let links = links.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect();
        let entries = std::fs::read_dir(&folder).ok()?.flatten();
        let folders = entries.filter_map(|entry| {
            let path = std::fs::read(entry.path().join("path")).ok()?;
            Some((PathBuf::from(OsStr::from_bytes(&path)), entry.path()))
        });
        let folders = folders.collect();
        Some(Noted { links, folders, folder })
    }

    /// Returns who worked there; nothing is said in the note of an earlier version.
    pub(super) fn read_worker(&self) -> String {
        std::fs::read_to_string(self.folder.join("worker")).unwrap_or_default()
    }

    pub(super) fn has_link(&self, link: &Path) -> bool {
        self.links.iter().any(|known| known == link)
    }

    /// Returns the folder with the copy of what a git folder had.
    pub(super) fn find(&self, git_folder: &Path) -> Option<&Path> {
        self.folders.iter().find(|(known, _)| known == git_folder).map(|(_, copy)| copy.as_path())
    }

    /// Puts the worktree's own settings back, and tells whether they had changed.
    pub(super) fn restore_own(&self, location: &Location) -> Result<bool, Error> {
        let (own, before) = (location.git_dir.join(OWN_CONFIG), read_plain(&self.folder.join("own")));
        let is_there = own.symlink_metadata().is_ok();
        let now = read_plain(&own);
        // An empty one is ours: it is made so that it can be mounted.
        if now == before || (is_there && before.is_none() && now.as_deref() == Some(b"")) {
            return Ok(false);
        }
        folder::remove(&own)?;
        if let Some(before) = before {
            save(&own, &before)?;
        }
        Ok(true)
    }
}

/// Lists the files of a folder; nothing where there is none, or a symlink stands for it.
pub(super) fn list_files(folder: &Path) -> Vec<std::ffi::OsString> {
    if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Vec::new();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    names
}

/// Copies a regular file with its mode; anything else is not there for git either, or is planted.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let Some(content) = read_plain(from) else { return Ok(()) };
    save(to, &content)?;
    let mode = from.metadata().map_or(0o644, |found| found.permissions().mode() & 0o777);
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(mode)).map_err(Error::io("write", to))
}

fn save(path: &Path, content: &[u8]) -> Result<(), Error> {
    std::fs::write(path, content).map_err(Error::io("write", path))
}

fn create(folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(Error::io("create", folder))
}
