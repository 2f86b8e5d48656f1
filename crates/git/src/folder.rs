//! Removes and walks folders that an agent has written to: symlinks are never followed.

use std::fs::Permissions;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A process that dies late may still add a file or two while its folder is being removed.
const TRIES_MAX: u32 = 5;
/// Folders deeper than this are not made by builds; the walk stops rather than run out of memory.
const FOLDERS_MAX: usize = 1_000_000;

/// Levels of folders that are removed by recursion; what lies deeper is moved up first. An agent can make folders a
/// hundred thousand deep, on which recursion would end in a crash.
const LEVELS_MAX: usize = 100;

/// Runs file work where it does not hold up other tasks.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(error) => Err(Error::io("finish work on", Path::new("."))(std::io::Error::other(error))),
    }
}

/// Removes whatever stands at the path, if anything; a symlink is removed itself, not what it points to.
pub(crate) fn remove(path: &Path) -> Result<(), Error> {
    let mut tries = 0;
    loop {
        let result = match std::fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => remove_folder(path),
            Ok(_) => std::fs::remove_file(path),
            Err(error) => Err(error),
        };
        tries += 1;
        match result {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if tries >= TRIES_MAX => return Err(Error::io("remove", path)(error)),
            // Build tools write-protect their caches.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => open_up(path)?,
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
            Err(error) => return Err(Error::io("remove", path)(error)),
        }
    }
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    let mut lifted = Lifted { root: folder, folders: Vec::new(), count: 0 };
    remove_below(folder, LEVELS_MAX, &mut lifted)?;
    while let Some(next) = lifted.folders.pop() {
        // The walk of the root may have met it already.
        if next.symlink_metadata().is_ok() {
            remove_below(&next, LEVELS_MAX, &mut lifted)?;
            std::fs::remove_dir(&next)?;
        }
    }
    std::fs::remove_dir(folder)
}

/// What was moved up, to be removed from there.
struct Lifted<'a> {
    root: &'a Path,
    folders: Vec<PathBuf>,
    count: usize,
}

fn remove_below(folder: &Path, levels_left: usize, lifted: &mut Lifted<'_>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if !entry.file_type()?.is_dir() {
            std::fs::remove_file(&path)?;
        } else if levels_left > 0 {
            remove_below(&path, levels_left - 1, lifted)?;
            std::fs::remove_dir(&path)?;
        } else {
            lifted.count += 1;
            let to = lifted.root.join(format!(".regatta-lifted-{}-{}", std::process::id(), lifted.count));
            std::fs::rename(&path, &to)?;
            lifted.folders.push(to);
        }
    }
    Ok(())
}

/// Lists the files below a folder, as paths relative to it, without its `.git`; symlinks count as files.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    walk(root, |path, is_folder| {
        let relative = path.strip_prefix(root).unwrap_or(path);
        if !is_folder && !relative.starts_with(".git") {
            found.push(relative.to_path_buf());
        }
        Ok(())
    })?;
    Ok(found)
}

fn open_up(root: &Path) -> Result<(), Error> {
    let owner_only = || Permissions::from_mode(0o700);
    std::fs::set_permissions(root, owner_only()).map_err(Error::io("unprotect", root))?;
    walk(root, |path, is_folder| match is_folder {
        true => std::fs::set_permissions(path, owner_only()).map_err(Error::io("unprotect", path)),
        false => Ok(()),
    })
}

/// Visits everything below a folder, a folder before what is in it.
fn walk(root: &Path, mut visit: impl FnMut(&Path, bool) -> Result<(), Error>) -> Result<(), Error> {
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(Error::io("list", &folder))? {
            let entry = entry.map_err(Error::io("list", &folder))?;
            let path = entry.path();
            let is_folder = entry.file_type().map_err(Error::io("inspect", &path))?.is_dir();
            visit(&path, is_folder)?;
            if is_folder {
                folders.push(path);
            }
        }
        if folders.len() > FOLDERS_MAX {
            return Err(Error::io("list", root)(ErrorKind::QuotaExceeded.into()));
        }
    }
    Ok(())
}
