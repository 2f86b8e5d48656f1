//! Reads a folder of somebody else: bounded, without following a link and without waiting for a pipe.

use crate::error::Error;
use crate::takeover::kind::Kind;
use regatta_files::disk::{self, FILE_BYTES_MAX, Itself};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// More files than this are not the state of a tool, but somebody's home.
const FILES_MAX: usize = 20_000;
/// How deep folders are searched.
const LEVELS_MAX: usize = 12;
/// All texts of one import are in memory at once.
const BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Folders that hold no state.
const SKIPPED: [&str; 3] = [".git", "node_modules", "target"];

/// The files of a folder by their paths, with what is odd about them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    /// The folder; for a single file, the folder that holds it.
    pub(crate) root: PathBuf,
    pub(crate) texts: BTreeMap<String, Vec<u8>>,
    /// Files that are kept but were not read: they are too large.
    pub(crate) unread: BTreeMap<String, u64>,
    pub(crate) oddities: Vec<(String, String)>,
    used: RefCell<BTreeSet<String>>,
    bytes: u64,
}

impl Files {
    /// Makes files of texts.
    #[cfg(test)]
    pub(crate) fn of(texts: impl IntoIterator<Item = (impl Into<String>, impl Into<Vec<u8>>)>) -> Self {
        let texts = texts.into_iter().map(|(path, bytes)| (path.into(), bytes.into())).collect();
        Files { texts, ..Files::default() }
    }

    /// Returns the files.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.texts.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// Returns a file, which counts as understood.
    pub(crate) fn take(&self, path: &str) -> Option<&[u8]> {
        let bytes = self.texts.get(path)?;
        self.note_used(path);
        Some(bytes)
    }

    /// Notes that something was made of a file.
    pub(crate) fn note_used(&self, path: &str) {
        self.used.borrow_mut().insert(path.to_owned());
    }

    pub(crate) fn is_used(&self, path: &str) -> bool {
        self.used.borrow().contains(path)
    }

    /// Returns every file with its size.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (&String, u64)> {
        let read = self.texts.iter().map(|(path, bytes)| (path, bytes.len() as u64));
        read.chain(self.unread.iter().map(|(path, size)| (path, *size)))
    }
}

/// Reads a folder, or one file.
pub(crate) fn gather(path: &Path, kind: Kind) -> Result<Files, Error> {
    let mut files = Files::default();
    if let (Kind::Csv | Kind::JsonLines, Some(folder), Some(name)) = (kind, path.parent(), path.file_name()) {
        folder.clone_into(&mut files.root);
        files.read(path, name.to_string_lossy().into_owned())?;
    } else {
        path.clone_into(&mut files.root);
        files.walk(path, "", 0)?;
    }
    Ok(files)
}

impl Files {
    fn walk(&mut self, folder: &Path, above: &str, level: usize) -> Result<(), Error> {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if level > 0 => {
                self.oddities.push((above.to_owned(), format!("cannot be read: {error}")));
                return Ok(());
            }
            Err(error) => return Err(Error::io("read", folder)(error)),
        };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let shown = format!("{above}{}", name.to_string_lossy());
            if name.to_str().is_none() {
                self.oddities.push((shown, "its name is not UTF-8; not read".to_owned()));
                continue;
            }
            if self.texts.len() + self.unread.len() >= FILES_MAX {
                return Err(too_much(&self.root, format!("it has more than {FILES_MAX} files")));
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && SKIPPED.iter().any(|skipped| name == *skipped) => {}
                Ok(kind) if kind.is_dir() && level < LEVELS_MAX => {
                    self.walk(&entry.path(), &format!("{shown}/"), level + 1)?;
                }
                Ok(kind) if kind.is_dir() => {
                    self.oddities.push((shown, "nested too deep; not read".to_owned()));
                }
                Ok(kind) if kind.is_symlink() => {
                    let target = std::fs::read_link(entry.path()).unwrap_or_default();
                    let what = format!("a link to {}, which was not followed", target.display());
                    self.oddities.push((shown, what));
                }
                Ok(kind) if kind.is_file() => self.read(&entry.path(), shown)?,
                Ok(_) => self.oddities.push((shown, "not a regular file; not read".to_owned())),
                Err(error) => self.oddities.push((shown, format!("cannot be read: {error}"))),
            }
        }
        Ok(())
    }

    fn read(&mut self, path: &Path, shown: String) -> Result<(), Error> {
        match disk::read_itself(&self.root, path) {
            Ok(Itself::File(bytes, _)) => {
                self.bytes += bytes.len() as u64;
                if self.bytes > BYTES_MAX {
                    let why = format!("its files have more than {} MiB", BYTES_MAX / 1024 / 1024);
                    return Err(too_much(&self.root, why));
                }
                self.texts.insert(shown, bytes);
            }
            Ok(Itself::Missing) => self.oddities.push((shown, "removed in the meantime".to_owned())),
            Ok(Itself::Odd) => match path.symlink_metadata() {
                Ok(found) if found.is_file() => {
                    let most = FILE_BYTES_MAX / 1024 / 1024;
                    let what = format!(
                        "{} bytes, and at most {most} MiB are read; only a copy is kept",
                        found.len()
                    );
                    self.oddities.push((shown.clone(), what));
                    self.unread.insert(shown, found.len());
                }
                _ => self.oddities.push((shown, "not a regular file; not read".to_owned())),
            },
            Err(error) => self.oddities.push((shown, format!("cannot be read: {}", error.source))),
        }
        Ok(())
    }
}

fn too_much(root: &Path, why: String) -> Error {
    use crate::core::{Code, Problem};
    let next = "name the folder that holds nothing but the state of the tool";
    Problem::new(Code::ImportUnknown, format!("{} was not imported", root.display()), why, next).into()
}
