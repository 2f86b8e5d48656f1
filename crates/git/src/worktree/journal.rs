//! A note of what a call is making, kept while a worktree is being made.
//!
//! It is written after the path and the branch were found free, and removed when the worktree is complete. If
//! a later call finds it, it proves that the folder, the entry and the branch of these names come from a call
//! that died.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::name::{BranchName, CommitId};
use crate::repository::Repository;

/// A worktree that some call began to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Begun {
    pub(crate) path: PathBuf,
    pub(crate) branch: BranchName,
    pub(crate) start: CommitId,
}

impl Repository {
    /// Writes the note; it is on disk when this returns.
    pub(crate) fn save_begun(&self, begun: &Begun) -> Result<(), Error> {
        let place = self.begun_place(&begun.path);
        let folder = self.begun_folder();
        std::fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        let mut text = format!("{}\0{}\0", begun.branch, begun.start).into_bytes();
        text.extend_from_slice(begun.path.as_os_str().as_bytes());
        let temporary = place.with_extension("new");
        let mut file = std::fs::File::create(&temporary).map_err(Error::io("create", &temporary))?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(Error::io("write", &temporary))?;
        std::fs::rename(&temporary, &place).map_err(Error::io("write", &place))?;
        let synced = std::fs::File::open(&folder).and_then(|folder| folder.sync_all());
        synced.map_err(Error::io("write", &folder))
    }

    /// Returns the note about a path, if a call that made it did not finish.
    pub(crate) fn find_begun(&self, path: &Path) -> Result<Option<Begun>, Error> {
        let place = self.begun_place(path);
        match std::fs::read(&place) {
            Ok(content) => Ok(parse(&content).filter(|begun| begun.path == path)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &place)(error)),
        }
    }

    /// Removes the note about a path; may be repeated.
    pub(crate) fn forget_begun(&self, path: &Path) -> Result<(), Error> {
        crate::folder::remove(&self.begun_place(path))
    }

    fn begun_folder(&self) -> PathBuf {
        self.own_folder().join("making")
    }

    fn begun_place(&self, path: &Path) -> PathBuf {
        let digest = Sha256::digest(path.as_os_str().as_bytes());
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.begun_folder().join(name)
    }
}

fn parse(content: &[u8]) -> Option<Begun> {
    let mut fields = content.splitn(3, |byte| *byte == 0);
    let mut text = || std::str::from_utf8(fields.next()?).ok();
    let branch = BranchName::parse(text()?).ok()?;
    let start = CommitId::parse(text()?).ok()?;
    let path = PathBuf::from(OsStr::from_bytes(fields.next()?));
    Some(Begun { path, branch, start })
}
