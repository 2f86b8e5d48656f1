//! Keeps a copy of everything that was imported, word for word, below `.regatta/imports`.
//!
//! The folder is named for the bytes in it, so the same files are kept once however often they are imported.

use crate::digest::sha256;
use crate::error::Error;
use crate::project::Project;
use crate::takeover::found::Found;
use regatta_files::{beneath, disk};
use std::path::{Path, PathBuf};

/// Where the copies are.
const FOLDER: &str = ".regatta/imports";
/// As many digits of the digest name a folder.
const DIGITS: usize = 12;

/// The copies of one import.
pub(super) struct Copies {
    /// Their folder, from the project's root.
    pub(super) folder: String,
}

impl Copies {
    /// Names the copies of these files, without making them.
    pub(super) fn of(found: &Found) -> Self {
        let mut said = String::new();
        for (path, bytes) in found.sources.iter() {
            said.push_str(&format!("{path:?} {}\n", sha256(bytes)));
        }
        for (path, size) in &found.sources.unread {
            said.push_str(&format!("{path:?} {size}\n"));
        }
        let digest = sha256(said);
        Copies { folder: format!("{FOLDER}/{}-{}", found.kind, &digest[..DIGITS]) }
    }

    /// Returns where the copy of a file is, from the project's root.
    pub(super) fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    /// Makes the copies; those that are there already stay. Returns how many were made.
    pub(super) fn make(&self, project: &Project, found: &Found) -> Result<usize, Error> {
        let root = project.root();
        let mut made = 0;
        for (path, bytes) in found.sources.iter() {
            let target = self.prepare(root, path)?;
            let is_there = disk::read_itself(root, &target)
                .is_ok_and(|there| matches!(there, disk::Itself::File(known, _) if known == bytes));
            if !is_there {
                disk::write_new(root, &target, bytes).map_err(Error::StateFile)?;
                made += 1;
            }
        }
        for (path, size) in &found.sources.unread {
            let target = self.prepare(root, path)?;
            let is_there =
                target.symlink_metadata().is_ok_and(|there| there.is_file() && there.len() == *size);
            if !is_there {
                let source = found.sources.root.join(path);
                disk::copy_new((&found.sources.root, &source), (root, &target)).map_err(Error::StateFile)?;
                made += 1;
            }
        }
        Ok(made)
    }

    /// Makes the folders of a copy, none of which may be a link.
    fn prepare(&self, root: &Path, file: &str) -> Result<PathBuf, Error> {
        let target = root.join(self.path(file));
        if let Some(folder) = target.parent() {
            beneath::ensure_folder(root, folder).map_err(Error::of_folder)?;
        }
        Ok(target)
    }
}
