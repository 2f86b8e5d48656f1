//! What an export says about itself: its files with their digests, and the refs.

use crate::digest::sha256;
use crate::transfer::container::Fault;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The newest export format that this version can read.
pub(crate) const FORMAT: u32 = 1;
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const MANIFEST_DIGEST: &str = "manifest.sha256";
pub(crate) const LOG: &str = "log.db";
pub(crate) const BUNDLE: &str = "refs.bundle";
/// A manifest has a line per file; this is room for hundreds of thousands.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 64 * 1024 * 1024;
const NAME_CHARACTERS_MAX: usize = 80;

/// What is in an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// The version of Regatta that wrote it.
    pub(crate) version: String,
    pub(crate) created: Timestamp,
    /// The place of the last event in its log.
    pub(crate) head: u64,
    pub(crate) files: Vec<File>,
    /// Review and salvage refs.
    pub(crate) refs: BTreeMap<String, String>,
    /// The branches of tasks in work.
    pub(crate) branches: BTreeMap<String, String>,
}

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

impl Manifest {
    /// Reads a manifest, and checks it against the digest beside it and the files that were found.
    pub(crate) fn read(text: &[u8], digest: &str, found: &[File]) -> Result<Self, Fault> {
        let wrong = |what: String| Fault::Wrong(what);
        if digest.trim_end() != sha256(text) {
            return Err(wrong(format!("{MANIFEST} is not what was written")));
        }
        let format: Format = serde_json::from_slice(text)
            .map_err(|error| wrong(format!("{MANIFEST} cannot be read: {error}")))?;
        if format.format > FORMAT {
            return Err(wrong(format!("a newer Regatta wrote it (format {})", format.format)));
        }
        let manifest: Manifest = serde_json::from_slice(text)
            .map_err(|error| wrong(format!("{MANIFEST} cannot be read: {error}")))?;
        let by_name: BTreeMap<&str, &File> = found.iter().map(|one| (one.name.as_str(), one)).collect();
        for file in &manifest.files {
            match by_name.get(file.name.as_str()) {
                Some(one) if **one == *file => {}
                Some(_) => return Err(wrong(format!("{} in it is damaged: its digest differs", file.name))),
                None => return Err(wrong(format!("{} is missing in it", file.name))),
            }
        }
        if manifest.files.len() != found.len() || by_name.len() != found.len() {
            return Err(wrong("it holds files that it does not name".to_owned()));
        }
        Ok(manifest)
    }
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// Where a file of an export belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// The log, the bundle and the files about the export itself.
    Top,
    Sessions,
    TaskStates,
    Archives,
}

impl Room {
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Room::Top => "",
            Room::Sessions => "sessions",
            Room::TaskStates => "task-states",
            Room::Archives => "archives",
        }
    }

    /// Returns the room of a file of an export, and its name there; any other name is refused.
    pub(crate) fn of(name: &str) -> Option<(Room, &str)> {
        let Some((folder, rest)) = name.split_once('/') else {
            let is_known = [LOG, BUNDLE, MANIFEST, MANIFEST_DIGEST].contains(&name);
            return is_known.then_some((Room::Top, name));
        };
        let room = [Room::Sessions, Room::TaskStates, Room::Archives];
        let room = room.into_iter().find(|room| room.folder() == folder)?;
        is_plain(rest).then_some((room, rest))
    }
}

/// Tells whether a name can be a file in one of our folders: nothing hidden, nothing that leads elsewhere.
pub(crate) fn is_plain(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    !name.is_empty()
        && name.len() <= NAME_CHARACTERS_MAX
        && !name.starts_with('.')
        && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_an_export_writes_are_taken() {
        assert_eq!(Room::of("log.db"), Some((Room::Top, "log.db")));
        assert_eq!(Room::of("sessions/a-1.jsonl"), Some((Room::Sessions, "a-1.jsonl")));
        for name in [
            "../log.db",
            "/etc/passwd",
            "sessions/../x",
            "sessions/a/b",
            "sessions/.hidden",
            "sessions/..",
            "sessions/",
            "config.toml",
            "hooks/post-merge",
            "./log.db",
            "sessions/a\nb",
            "task-states/é",
        ] {
            assert_eq!(Room::of(name), None, "{name}");
        }
    }
}
