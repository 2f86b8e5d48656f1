//! Makes a stand-in, or recreates it for the next session.
//!
//! All of it is written again each time, because the agent before may have left anything there. Only its
//! objects and its stash are kept, so that a stash outlives a session.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Mount, Place, SHARED_OBJECTS, refs};
use crate::error::Error;
use crate::folder;
use crate::location::Location;
use crate::name::BranchName;
use crate::repository::Repository;

/// What is copied of the real git folder: what git needs to agree with the repository on what a file is.
const COPIED: [&str; 6] = ["HEAD", "config", "config.worktree", "shallow", "info/exclude", "info/attributes"];

/// What is shown of the real git folder, if it is there, and whether it may be changed. Large files (LFS) are named by
/// their content, and would be lost if they stayed with the stand-in.
const SHOWN: [(&str, bool); 3] = [("hooks", false), ("modules", false), ("lfs", true)];

/// What says where a worktree belongs, and how git is set up there: no agent needs to change that.
const FIXED: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// Refs that are ours or that belong to one worktree.
const REFS_LEFT_OUT: [&str; 4] = ["refs/regatta/", "refs/worktree/", "refs/bisect/", "refs/rewritten/"];

impl Repository {
    /// Makes the git folder that an agent in a worktree sees in place of the real one, and returns what is mounted where.
    ///
    /// May be repeated. What the last agent committed there is taken in first.
    pub async fn open_stand_in(&self, worktree: &Path, branch: &BranchName) -> Result<Vec<Mount>, Error> {
        let serial = self.serialise().await?;
        let location = self.get_location(worktree)?;
        let Some(folder) = self.stand_in_place(&location.git_dir) else {
            return Err(Error::NotAWorktree { path: location.path });
        };
        let place = Place { folder };
        make_settings(&location)?;
        // Refs that are not kept as files cannot be copied as such; the agent then works without making commits.
        if self.common_dir().join("reftable").exists() {
            return Ok(mounts_of_worktree(&location));
        }
        self.take_in_held(&serial, &location).await?;
        let packed_refs = self.render_refs().await?;
        let tip = self.find_branch(branch).await?.map_or_else(String::new, |tip| tip.to_string());
        let (common_dir, git_dir) = (self.common_dir().to_path_buf(), location.git_dir.clone());
        let notes = Notes { branch: branch.to_string(), tip, packed_refs };
        let made = place.clone();
        folder::blocking(move || make(&made, &common_dir, &git_dir, &notes)).await?;
        Ok(self.mounts(&place, &location))
    }

    async fn render_refs(&self) -> Result<String, Error> {
        let mut text = String::from("# pack-refs with: sorted \n");
        for (name, id) in self.list_refs("refs/").await? {
            if !REFS_LEFT_OUT.iter().any(|folder| name.starts_with(folder)) {
                text.push_str(&format!("{id} {name}\n"));
            }
        }
        Ok(text)
    }

    fn mounts(&self, place: &Place, location: &Location) -> Vec<Mount> {
        let common_dir = self.common_dir();
        let mut mounts = vec![
            Mount { path: common_dir.to_path_buf(), source: place.git(), is_writable: true },
            Mount {
                path: common_dir.join(SHARED_OBJECTS),
                source: common_dir.join("objects"),
                is_writable: false,
            },
        ];
        for (name, is_writable) in SHOWN.into_iter().filter(|(name, _)| common_dir.join(name).is_dir()) {
            mounts.push(Mount { path: common_dir.join(name), source: common_dir.join(name), is_writable });
        }
        mounts.extend(mounts_of_worktree(location));
        mounts
    }
}

/// The worktree's own git folder, but for what says where it belongs.
fn mounts_of_worktree(location: &Location) -> Vec<Mount> {
    let itself = |path: PathBuf, is_writable| Mount { source: path.clone(), path, is_writable };
    let mut mounts = vec![itself(location.git_dir.clone(), true), itself(location.path.join(".git"), false)];
    mounts.extend(FIXED.map(|name| itself(location.git_dir.join(name), false)));
    mounts.retain(|mount| mount.source.symlink_metadata().is_ok_and(|found| !found.is_symlink()));
    mounts
}

/// Makes the worktree's own settings, so that they can be mounted: an agent could otherwise create them.
fn make_settings(location: &Location) -> Result<(), Error> {
    let path = location.git_dir.join("config.worktree");
    match std::fs::File::create_new(&path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(Error::io("create", &path)(error)),
        _ => Ok(()),
    }
}

/// What a stand-in starts with.
struct Notes {
    branch: String,
    tip: String,
    packed_refs: String,
}

fn make(place: &Place, common_dir: &Path, git_dir: &Path, notes: &Notes) -> Result<(), Error> {
    let (current, old, new) = (place.git(), place.old(), place.next());
    finish_or_undo(place)?;
    for name in ["refs/heads", "refs/tags", "info", "worktrees", SHARED_OBJECTS] {
        create(&new.join(name))?;
    }
    create(&new.join("worktrees").join(git_dir.file_name().unwrap_or_default()))?;
    for (name, _) in SHOWN.into_iter().filter(|(name, _)| common_dir.join(name).is_dir()) {
        create(&new.join(name))?;
    }
    for name in COPIED {
        copy(&common_dir.join(name), &new.join(name))?;
    }
    write(&new.join("packed-refs"), &notes.packed_refs)?;
    keep_stash(&current, &new)?;
    write(&place.branch(), &notes.branch)?;
    let is_there = current.symlink_metadata().is_ok();
    if is_there {
        std::fs::rename(&current, &old).map_err(Error::io("move aside", &current))?;
    }
    keep_objects(&old.join("objects"), &new.join("objects"))?;
    std::fs::rename(&new, &current).map_err(Error::io("move", &new))?;
    // Last: the note must never be newer than the stand-in, or its old branch would pass for a move of the agent's.
    write(&place.seen(), &notes.tip)?;
    folder::remove(&old)
}

/// Cleans up after a call that died: the last stand-in is whole again, or the next one is in place.
///
/// The last one is always whole except while its objects are with the next one: these are moved back first.
/// So this call may die too.
pub(super) fn finish_or_undo(place: &Place) -> Result<(), Error> {
    let (current, old, new) = (place.git(), place.old(), place.next());
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    if is_there(&current) {
        folder::remove(&old)?;
    } else if is_there(&old) {
        let (lent, own) = (new.join("objects"), old.join("objects"));
        if is_there(&lent) && !is_there(&own) {
            if !is_there(&lent.join("info")) {
                create(&lent.join("info"))?;
            }
            std::fs::rename(&lent, &own).map_err(Error::io("move", &lent))?;
        }
        std::fs::rename(&old, &current).map_err(Error::io("move", &old))?;
    }
    folder::remove(&new)
}

/// Takes the objects over from the last stand-in, or makes an empty folder for them, that borrows from the real ones.
fn keep_objects(old: &Path, new: &Path) -> Result<(), Error> {
    if old.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        std::fs::rename(old, new).map_err(Error::io("move", old))?;
    }
    let info = new.join("info");
    folder::remove(&info)?;
    create(&info)?;
    write(&info.join("alternates"), &format!("../{SHARED_OBJECTS}\n"))
}

fn keep_stash(old: &Path, new: &Path) -> Result<(), Error> {
    let Some(stash) = refs::find(old, "refs/stash") else { return Ok(()) };
    write(&new.join("refs/stash"), &format!("{stash}\n"))?;
    create(&new.join("logs/refs"))?;
    copy(&old.join("logs/refs/stash"), &new.join("logs/refs/stash"))
}

fn create(folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(Error::io("create", folder))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(Error::io("write", path))
}

/// Copies a regular file, if there is one.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    match refs::read_plain(from) {
        Some(content) => std::fs::write(to, content).map_err(Error::io("write", to)),
        None => Ok(()),
    }
}
