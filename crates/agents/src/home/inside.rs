//! Files of a folder that an agent may change at any moment: no symlink is followed, no pipe waited for.
//!
//! Every path is walked from an open handle of the folder, one name at a time. So whatever the agent puts in the way, a
//! read or a write stays below the folder or fails.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, renameat, unlinkat};

use super::fields::FILE_BYTES_MAX;

/// An open folder.
#[derive(Debug)]
pub(super) struct Inside {
    root: OwnedFd,
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The name under which a file is written before it takes its place.
const NEW: &str = ".regatta-new";

impl Inside {
    /// Opens a folder that exists; its own path is trusted.
    pub(super) fn open(folder: &Path) -> io::Result<Inside> {
        Ok(Inside { root: openat(CWD, folder, FOLDER, Mode::empty())? })
    }

    /// Returns the handle of the folder, for a lock on it.
    pub(super) fn handle(&self) -> &OwnedFd {
        &self.root
    }

    /// Reads a file of text; nothing when there is none, or it is something else than a file of a plausible size.
    pub(super) fn read(&self, path: &str) -> Option<String> {
        let (folder, name) = self.parent(path, false).ok()?;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&folder, name, flags, Mode::empty()).ok()?;
        read_regular(file)
    }

    /// Puts a file in place, for its owner only, with the folders above it.
    pub(super) fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let (folder, name) = self.parent(path, true)?;
        let _ = unlinkat(&folder, NEW, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&folder, NEW, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(text.as_bytes())?;
        Ok(renameat(&folder, NEW, &folder, name)?)
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, path: &str) {
        if let Ok((folder, name)) = self.parent(path, false) {
            let _ = unlinkat(&folder, name, AtFlags::empty());
        }
    }

    fn parent<'a>(&self, path: &'a str, is_made: bool) -> io::Result<(OwnedFd, &'a str)> {
        let mut folder = self.root.try_clone()?;
        let mut rest = path;
        while let Some((name, below)) = rest.split_once('/') {
            if is_made {
                match mkdirat(&folder, name, Mode::RWXU) {
                    Err(error) if error != rustix::io::Errno::EXIST => return Err(error.into()),
                    _ => {}
                }
            }
            folder = openat(&folder, name, FOLDER, Mode::empty())?;
            rest = below;
        }
        Ok((folder, rest))
    }
}

/// Reads an open file to its end, if it is a file of text of a plausible size.
pub(super) fn read_regular(file: OwnedFd) -> Option<String> {
    let found = fstat(&file).ok()?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut text = String::new();
    let limit = u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX);
    File::from(file).take(limit + 1).read_to_string(&mut text).ok()?;
    (text.len() <= FILE_BYTES_MAX).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_leads_out() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        std::fs::create_dir_all(home.join("real")).unwrap();
        std::fs::create_dir(folder.path().join("outside")).unwrap();
        std::fs::write(folder.path().join("outside/file"), "secret").unwrap();
        symlink("../outside", home.join("link")).unwrap();
        symlink("../../outside/file", home.join("real/link")).unwrap();
        rustix::fs::mknodat(CWD, home.join("real/pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        std::fs::write(home.join("real/large"), vec![b'x'; FILE_BYTES_MAX + 1]).unwrap();
        let inside = Inside::open(&home).unwrap();
        for path in ["link/file", "real/link", "real/pipe", "real/large", "real", "none/file", "none"] {
            assert_eq!(inside.read(path), None, "{path}");
        }
        assert!(inside.write("link/file", "planted").is_err());
        inside.write("real/link", "own").unwrap();
        inside.write("new/deep/file", "own").unwrap();
        assert_eq!(inside.read("real/link").unwrap(), "own", "a link is replaced, not followed");
        assert_eq!(inside.read("new/deep/file").unwrap(), "own");
        inside.remove("link/file");
        assert_eq!(std::fs::read_to_string(folder.path().join("outside/file")).unwrap(), "secret");
    }
}
