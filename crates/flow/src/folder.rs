//! A workflow's files as text, in the order of their names.
//!
//! The owner of the files (a disk, the binary, the log) builds the folder; this crate never opens one. The folder decides
//! which files belong to a workflow and ignores what an editor or the system leaves behind. The digest identifies the
//! contents, so a run can record the definition it started with.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The most files of one workflow with its children: some hundred roles, and far from filling a memory.
pub const FILES_MAX: usize = 512;

/// The largest file, in bytes: a long prompt has some ten thousand.
pub const FILE_BYTES_MAX: usize = 256 * 1024;

/// The files of a workflow, by their names relative to its folder, with `/` between the parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folder {
    files: BTreeMap<String, String>,
    unreadable: BTreeMap<String, String>,
}

/// The files that a workflow has by their names alone.
const MAIN_FILES: [&str; 3] = ["workflow.toml", "state.schema.json", "input.schema.json"];

/// The folders that a workflow has.
const FOLDERS: [&str; 2] = ["roles", "children"];

/// What the files of a role end with.
const ROLE_ENDINGS: [&str; 2] = [".md", ".output.json"];

/// What editors end the names of their backups and locks with.
const BACKUP_ENDINGS: [&str; 7] = ["~", "#", ".bak", ".orig", ".swo", ".swp", ".tmp"];

impl Folder {
    /// Makes a folder of named texts.
    pub fn new(files: BTreeMap<String, String>) -> Folder {
        Folder { files, unreadable: BTreeMap::new() }
    }

    /// Adds files that are there and cannot be read, each with why. They count only if the workflow uses them.
    pub fn with_unreadable(self, unreadable: BTreeMap<String, String>) -> Folder {
        Folder { unreadable, ..self }
    }

    /// Whether no workflow uses a file or folder of that name: it is hidden, or the backup of an editor.
    pub fn is_passed_over(name: &str) -> bool {
        let last = name.rsplit('/').next().unwrap_or(name);
        last.starts_with('.') || BACKUP_ENDINGS.iter().any(|ending| last.ends_with(ending))
    }

    /// Whether a workflow uses a file or folder by its name alone. It may name other files in `workflow.toml`.
    pub fn is_used(name: &str) -> bool {
        let mut rest = name;
        while let Some((_, inner)) = rest.strip_prefix("children/").and_then(|child| child.split_once('/')) {
            rest = inner;
        }
        let is_of_role = |file: &str| ROLE_ENDINGS.iter().any(|ending| file.ends_with(ending));
        MAIN_FILES.contains(&rest)
            || FOLDERS.contains(&rest)
            || rest.starts_with("children/")
            || rest.strip_prefix("roles/").is_some_and(|file| !file.contains('/') && is_of_role(file))
    }

    /// Returns the files that cannot be read, with why.
    pub fn unreadable(&self) -> &BTreeMap<String, String> {
        &self.unreadable
    }

    /// Lists the names of all files, also of those that cannot be read.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.files.keys().chain(self.unreadable.keys())
    }

    /// Returns the text of a file.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    /// Returns all files in the order of their names.
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// Returns the SHA-256 of names and texts, as hexadecimal digits.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        for part in self.files.iter().flat_map(|(name, text)| [name, text]) {
            // The length keeps the end of one part apart from the beginning of the next.
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().iter().fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        })
    }

    /// Returns the names of the folders directly within `folder`, such as `children`.
    pub(crate) fn names_within(&self, folder: &str) -> Vec<String> {
        let prefix = format!("{folder}/");
        let within = self.names().filter_map(|name| name.strip_prefix(&prefix)?.split_once('/'));
        let mut names: Vec<String> = within.map(|(name, _)| name.to_owned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl FromIterator<(String, String)> for Folder {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(files: T) -> Folder {
        Folder::new(files.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> Folder {
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn the_digest_names_the_contents() {
        let a = folder(&[("a", "1"), ("b", "2")]);
        assert_eq!(a.digest(), folder(&[("b", "2"), ("a", "1")]).digest());
        assert_eq!(a.digest().len(), 64);
        for other in
            [folder(&[("a", "1b2")]), folder(&[("a", "1"), ("b", "3")]), folder(&[("a1", ""), ("b", "2")])]
        {
            assert_ne!(a.digest(), other.digest());
        }
    }

    #[test]
    fn what_others_leave_in_a_folder_is_passed_over() {
        for name in
            [".DS_Store", ".workflow.toml.swp", "roles/coder.md~", "roles/#coder.md#", "workflow.toml.bak"]
        {
            assert!(Folder::is_passed_over(name) && !Folder::is_used(name), "{name}");
        }
        for name in [
            "workflow.toml",
            "roles/coder.md",
            "children/a/roles/coder.output.json",
            "children/a/workflow.toml",
        ] {
            assert!(Folder::is_used(name) && !Folder::is_passed_over(name), "{name}");
        }
        for name in ["picture.png", "README.md", "roles/notes.txt", "old/workflow.toml"] {
            assert!(!Folder::is_used(name) && !Folder::is_passed_over(name), "{name}");
        }
    }

    #[test]
    fn folders_within_are_listed_once() {
        let files =
            folder(&[("children/a/x", ""), ("children/a/y/z", ""), ("children/b/x", ""), ("children/c", "")]);
        assert_eq!(files.names_within("children"), ["a", "b"]);
    }
}
