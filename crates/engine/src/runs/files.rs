//! Reads the folder of a workflow from the disk.
//!
//! What lies there and is none of the workflow's business (hidden files, backups of editors, pictures, pipes) is passed
//! over. What it uses and cannot be read is noted in the folder, so that the workflow says so itself, in its place among
//! the others. Links are not followed, only files are opened, and nothing is read without bound.

use regatta_flow::{FILE_BYTES_MAX, FILES_MAX, Folder};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// How deep a workflow's folder may be nested; children of children are rare already.
const DEPTH_MAX: usize = 8;

/// The most entries that are looked at: far more than a workflow has, and soon listed.
const ENTRIES_MAX: usize = 10_000;

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("it is a link, and links are not followed")]
    Link,
    #[error("it is neither a file nor a folder that can be read")]
    NoFile,
    #[error("it has {bytes} bytes, more than {FILE_BYTES_MAX}")]
    TooLarge { bytes: u64 },
    #[error("the folder has more than {FILES_MAX} files")]
    TooMany,
    #[error("{0}")]
    Disk(#[from] std::io::Error),
}

/// Reads a folder of texts.
pub(crate) fn read_folder(root: &Path) -> Folder {
    let mut unreadable = BTreeMap::new();
    let mut found = list_files(root, &mut unreadable);
    // Where there are too many, those that are used for certain come first.
    found.sort_by_key(|(name, ..)| (!Folder::is_used(name), name.clone()));
    let mut files = BTreeMap::new();
    for (place, (name, path, metadata)) in found.into_iter().enumerate() {
        match read_file(&path, &metadata, place) {
            Ok(text) => drop(files.insert(name, text)),
            Err(why) => drop(unreadable.insert(name, why.to_string())),
        }
    }
    Folder::new(files).with_unreadable(unreadable)
}

type Found = (String, PathBuf, Metadata);

fn list_files(root: &Path, unreadable: &mut BTreeMap<String, String>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_owned(), 0)];
    let mut entries_left = ENTRIES_MAX;
    while let Some((folder, depth)) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                let name = if depth == 0 { "workflow.toml".to_owned() } else { name_of(root, &folder) };
                unreadable.insert(name, Unreadable::from(error).to_string());
                continue;
            }
        };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            let name = name_of(root, &path);
            let Some(left) = entries_left.checked_sub(1) else { return found };
            entries_left = left;
            match path.symlink_metadata() {
                _ if Folder::is_passed_over(&name) => {}
                Ok(metadata) if metadata.is_dir() && depth < DEPTH_MAX => folders.push((path, depth + 1)),
                Ok(metadata) => found.push((name, path, metadata)),
                Err(error) => drop(unreadable.insert(name, Unreadable::from(error).to_string())),
            }
        }
    }
    found
}

fn name_of(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// Reads one file, or says why not. A pipe is never opened: nobody may be at its other end.
fn read_file(path: &Path, metadata: &Metadata, place: usize) -> Result<String, Unreadable> {
    if metadata.is_symlink() {
        return Err(Unreadable::Link);
    }
    if !metadata.is_file() {
        return Err(Unreadable::NoFile);
    }
    if metadata.len() > FILE_BYTES_MAX as u64 {
        return Err(Unreadable::TooLarge { bytes: metadata.len() });
    }
    if place >= FILES_MAX {
        return Err(Unreadable::TooMany);
    }
    Ok(std::fs::read_to_string(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_a_workflow_does_not_use_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("roles")).unwrap();
        fs::create_dir_all(at(".git/objects")).unwrap();
        fs::write(at("workflow.toml"), "name = \"a\"").unwrap();
        fs::write(at(".workflow.toml.swp"), b"\xff\xfe").unwrap();
        fs::write(at(".DS_Store"), b"\x00\xff").unwrap();
        fs::write(at(".git/objects/a"), b"\xff").unwrap();
        fs::write(at("roles/coder.md~"), b"\xff").unwrap();
        fs::write(at("picture.png"), b"\x89PNG\xff").unwrap();
        fs::write(at("roles/coder.md"), "Work.").unwrap();
        std::os::unix::fs::symlink("/nowhere", at("link")).unwrap();
        let folder = read_folder(root.path());
        assert_eq!(folder.files().keys().collect::<Vec<_>>(), ["roles/coder.md", "workflow.toml"]);
        assert_eq!(folder.unreadable().keys().collect::<Vec<_>>(), ["link", "picture.png"]);
        assert!(folder.unreadable().keys().all(|name| !Folder::is_used(name)));
    }

    #[test]
    fn what_it_uses_and_cannot_be_read_is_noted() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("roles")).unwrap();
        fs::write(at("workflow.toml"), b"\xff").unwrap();
        fs::write(at("roles/coder.md"), "x".repeat(FILE_BYTES_MAX + 1)).unwrap();
        let folder = read_folder(root.path());
        assert!(folder.files().is_empty());
        let faults = regatta_flow::check_folder(&folder);
        let told: Vec<(&str, &str)> = faults.iter().map(|fault| (fault.rule, fault.file.as_str())).collect();
        assert!(told.contains(&("unreadable-file", "workflow.toml")), "{told:?}");
        assert!(told.contains(&("unreadable-file", "roles/coder.md")), "{told:?}");
        let nowhere = read_folder(&at("nowhere"));
        assert_eq!(nowhere.unreadable().keys().collect::<Vec<_>>(), ["workflow.toml"]);
    }
}
