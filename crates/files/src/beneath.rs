//! Opens paths below a known folder without following a link anywhere on the way.
//!
//! An agent or a commit may replace a task file, an archive or a folder of them by a link. Following it would
//! read and write somewhere else. The kernel is asked to follow none (`openat2`); where it does not support
//! that, the path is walked folder by folder.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::disk::{Error, failed};

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW_FOLDER_MODE: u32 = 0o755;

/// Opens a file below a folder. A link on the way is `ELOOP`, a way out of the folder `EXDEV`.
pub(crate) fn open(root: &Path, path: &Path, flags: OFlags, mode: u32) -> io::Result<File> {
    let below = find_below(root, path)?;
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // The mode may only be given where a file may be made.
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(mode) } else { Mode::empty() };
    let folder = rustix::fs::open(root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    match open_at_once(&folder, &below, flags, mode) {
        // Too old a kernel, or a sandbox that does not know the call.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => open_by_steps(folder, &below, flags, mode),
        other => other.map(File::from).map_err(Into::into),
    }
}

/// Makes the folders of a path below a known folder, each of them a folder and no link.
pub fn ensure_folder(root: &Path, path: &Path) -> Result<(), Error> {
    let below = find_below(root, path).map_err(failed("use", path))?;
    let opened = rustix::fs::open(root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let mut folder = opened.map_err(|error| failed("open", root)(error.into()))?;
    let mut place = root.to_owned();
    for part in below.components() {
        place.push(part);
        folder = match open_folder(&folder, part.as_os_str().as_ref()) {
            Err(Errno::NOENT) => {
                match rustix::fs::mkdirat(&folder, part.as_os_str(), Mode::from_raw_mode(NEW_FOLDER_MODE)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(failed("make", &place)(error.into())),
                }
                open_folder(&folder, part.as_os_str().as_ref())
            }
            other => other,
        }
        .map_err(|errno| failed("use", &place)(explain(errno)))?;
    }
    Ok(())
}

/// Tells whether an error of this room says that a link, or something else that is no folder, is in the way.
pub fn is_in_the_way(error: &Error) -> bool {
    matches!(Errno::from_io_error(&error.source), Some(Errno::LOOP | Errno::NOTDIR))
}

fn explain(errno: Errno) -> io::Error {
    errno.into()
}

#[cfg(target_os = "linux")]
fn open_at_once(folder: &OwnedFd, below: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(folder, below, flags, mode, resolve)
}

#[cfg(not(target_os = "linux"))]
fn open_at_once(_folder: &OwnedFd, _below: &Path, _flags: OFlags, _mode: Mode) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

fn open_by_steps(mut folder: OwnedFd, below: &Path, flags: OFlags, mode: Mode) -> io::Result<File> {
    if let Some(above) = below.parent() {
        for part in above.components() {
            folder = open_folder(&folder, part.as_os_str().as_ref())?;
        }
    }
    let name = below.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::fs::openat(&folder, name, flags, mode)?.into())
}

/// Opens one folder in another; a link is `ELOOP`, where the kernel would say that it is no folder.
fn open_folder(folder: &OwnedFd, name: &Path) -> Result<OwnedFd, Errno> {
    match rustix::fs::openat(folder, name, FOLDER, Mode::empty()) {
        Err(Errno::NOTDIR) if is_link(folder, name) => Err(Errno::LOOP),
        other => other,
    }
}

fn is_link(folder: &OwnedFd, name: &Path) -> bool {
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

/// Returns the path from the folder on, if it consists of plain names alone.
fn find_below(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let below = path.strip_prefix(root).map_err(|_| io::Error::from(Errno::XDEV))?;
    let is_plain = below.components().all(|part| matches!(part, Component::Normal(_)));
    if is_plain { Ok(below.to_owned()) } else { Err(Errno::XDEV.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    fn world() -> (tempfile::TempDir, PathBuf) {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().join("project");
        fs::create_dir_all(root.join("folder")).unwrap();
        fs::write(root.join("folder/file"), "inside").unwrap();
        fs::write(outside.path().join("secret"), "outside").unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink("folder", root.join("way")).unwrap();
        symlink("..", root.join("up")).unwrap();
        (outside, root)
    }

    fn by_steps(root: &Path, path: &Path) -> io::Result<File> {
        let folder = rustix::fs::open(root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW;
        open_by_steps(folder, &find_below(root, path)?, flags, Mode::empty())
    }

    #[test]
    fn no_link_is_followed_at_the_end_or_on_the_way() {
        let (outside, root) = world();
        let ways: [fn(&Path, &Path) -> io::Result<File>; 2] =
            [|root, path| open(root, path, OFlags::RDONLY, 0), by_steps];
        for open in ways {
            let mut text = String::new();
            open(&root, &root.join("folder/file")).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "inside");
            for bad in ["link", "way/file", "up/secret"] {
                let error = open(&root, &root.join(bad)).unwrap_err();
                assert_eq!(Errno::from_io_error(&error), Some(Errno::LOOP), "{bad}: {error}");
            }
            for out in
                [root.join("../secret"), outside.path().join("secret"), root.join("folder/../../secret")]
            {
                let error = open(&root, &out).unwrap_err();
                assert_eq!(Errno::from_io_error(&error), Some(Errno::XDEV), "{out:?}: {error}");
            }
        }
    }

    #[test]
    fn folders_are_made_and_a_link_among_them_is_named() {
        let (outside, root) = world();
        ensure_folder(&root, &root.join("a/b")).unwrap();
        ensure_folder(&root, &root.join("a/b")).unwrap();
        assert!(root.join("a/b").is_dir());
        for bad in ["way", "up/new", "folder/file"] {
            let error = ensure_folder(&root, &root.join(bad)).unwrap_err();
            assert!(is_in_the_way(&error), "{bad}: {error}");
        }
        assert!(!outside.path().join("new").exists());
    }
}
