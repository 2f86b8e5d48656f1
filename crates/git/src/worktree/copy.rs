//! Gives a worktree the files that git does not track, such as a local settings file.
//!
//! Files are copied only where nothing exists yet, and no symlink is followed on either side: a committed
//! symlink in the worktree could otherwise lead the copy out of it. A symlink is copied as one if it leads to
//! a place in the project, and refused if it leads elsewhere: its target would otherwise be handed to an
//! agent.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

use crate::error::Error;
use crate::folder;
use crate::name::RelativePath;
use crate::repository::Repository;

impl Repository {
    /// Copies files of the main worktree, with their modes, into another worktree that lacks them.
    ///
    /// Returns those that were copied; what is missing in the main worktree or present in the other is passed over.
    pub async fn copy_into(
        &self,
        files: &[RelativePath],
        worktree: &Path,
    ) -> Result<Vec<RelativePath>, Error> {
        let target = self.get_location(worktree)?.path;
        let (root, files) = (self.root().to_path_buf(), files.to_vec());
        folder::blocking(move || {
            let mut copied = Vec::new();
            for file in files {
                if copy(&root, &target, &file)? {
                    copied.push(file);
                }
            }
            Ok(copied)
        })
        .await
    }
}

fn copy(root: &Path, target: &Path, file: &RelativePath) -> Result<bool, Error> {
    let found = find_plain(root, file)?;
    let Some(found) = found else { return Ok(false) };
    let Some(place) = prepare_place(target, file)? else { return Ok(false) };
    let source = match found {
        Found::File(source) => source,
        Found::Link(link) => {
            return std::os::unix::fs::symlink(link, &place)
                .map(|()| true)
                .map_err(Error::io("create", &place));
        }
    };
    let read = OpenOptions::new().read(true).custom_flags(no_follow()).open(&source);
    let mut input = read.map_err(Error::io("read", &source))?;
    let mode = input.metadata().map_err(Error::io("read", &source))?.permissions().mode() & 0o777;
    // Written aside and renamed, so that an interrupted copy is not taken for a complete one.
    let aside = aside(&place);
    folder::remove(&aside)?;
    let write = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside);
    let mut output: File = write.map_err(Error::io("create", &aside))?;
    std::io::copy(&mut input, &mut output).map_err(Error::io("write", &aside))?;
    output.set_permissions(PermissionsExt::from_mode(mode)).map_err(Error::io("write", &aside))?;
    std::fs::rename(&aside, &place).map_err(Error::io("write", &place))?;
    Ok(true)
}

/// What is to be copied.
enum Found {
    File(PathBuf),
    /// A symlink with this target.
    Link(PathBuf),
}

/// Returns the file when it and all folders above it are what they seem to be; nothing when there is none.
fn find_plain(root: &Path, file: &RelativePath) -> Result<Option<Found>, Error> {
    let mut place = root.to_path_buf();
    let mut parts = file.as_str().split('/').peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        let Ok(found) = place.symlink_metadata() else { return Ok(None) };
        let is_last = parts.peek().is_none();
        if found.is_symlink() {
            let target = std::fs::read_link(&place).map_err(Error::io("read", &place))?;
            let is_inside = is_last && stays_inside(file, &target);
            return match is_inside {
                true => Ok(Some(Found::Link(target))),
                false => Err(Error::LinkRefused { path: file.as_str().to_owned(), target }),
            };
        }
        if !(if is_last { found.is_file() } else { found.is_dir() }) {
            return Ok(None);
        }
    }
    Ok(Some(Found::File(place)))
}

/// Tells whether a symlink leads from its place to one below the same root, and never above it on the way.
fn stays_inside(file: &RelativePath, target: &Path) -> bool {
    let mut depth = file.as_str().split('/').count() - 1;
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Makes the folders above the file; nothing when the file, or something else in its way, is there already.
fn prepare_place(target: &Path, file: &RelativePath) -> Result<Option<PathBuf>, Error> {
    let mut place = target.to_path_buf();
    let mut parts = file.as_str().split('/').peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        let found = place.symlink_metadata();
        match (found, parts.peek().is_some()) {
            (Ok(found), true) if found.is_dir() => {}
            (Ok(_), _) => return Ok(None),
            (Err(error), _) if error.kind() != ErrorKind::NotFound => {
                return Err(Error::io("inspect", &place)(error));
            }
            (Err(_), true) => std::fs::create_dir(&place).map_err(Error::io("create", &place))?,
            (Err(_), false) => {}
        }
    }
    Ok(Some(place))
}

fn aside(place: &Path) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(".regatta-copy");
    place.with_file_name(name)
}

fn no_follow() -> i32 {
    i32::try_from(OFlags::NOFOLLOW.bits()).expect("the flag is a small bit")
}
