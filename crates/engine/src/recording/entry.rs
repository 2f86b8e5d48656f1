//! One answer of a role as a recording records it, and the name of its files.
//!
//! A name consists of the path to the run within its family, the step, the node and the item. It uses only
//! characters that every file system accepts, and is unique on its recording.

use crate::core::CommitId;
use crate::digest::sha256;
use crate::recording::files::RecordingFiles;
use crate::recording::fit::RecordedChange;
use crate::runs::path::Stage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The longest name of a recorded answer; file systems allow 255 bytes, and an extension is added.
const NAME_BYTES_MAX: usize = 200;

/// This much of the digest keeps shortened names unique.
const DIGEST_CHARACTERS: usize = 32;

/// One answer of a role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    /// The path to its run, if that is a child.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) way: Vec<Stage>,
    pub(crate) step: u64,
    pub(crate) node: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) item: Option<String>,
    pub(crate) visit: u32,
    #[serde(default)]
    pub(crate) asks: u32,
    pub(crate) prompt_digest: String,
    pub(crate) output: Value,
    /// The commit from which its task, or its own worktree, started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<CommitId>,
    #[serde(flatten)]
    pub(crate) files: RecordingFiles,
    /// What it changes in the files of its task.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) changes: BTreeMap<String, RecordedChange>,
}

impl Entry {
    /// Names its files: the stages of the path, then the step, the node and the item.
    pub(crate) fn name(&self) -> String {
        let mut name = String::new();
        for stage in &self.way {
            let _ = write!(name, "{:04}-{}.", stage.step, plain(&stage.item));
        }
        let _ = write!(name, "{:04}-{}", self.step, plain(&self.node));
        if let Some(item) = &self.item {
            let _ = write!(name, "-{}", plain(item));
        }
        if self.asks > 0 {
            let _ = write!(name, "-again{}", self.asks);
        }
        if name.len() > NAME_BYTES_MAX {
            let digest = sha256(&name);
            name.truncate(NAME_BYTES_MAX - DIGEST_CHARACTERS - 1);
            let _ = write!(name, "~{}", &digest[..DIGEST_CHARACTERS]);
        }
        name
    }
}

/// Writes a key in characters that every file system accepts; the dot and the tilde are reserved for the name
/// itself.
fn plain(text: &str) -> String {
    let mut name = String::new();
    for byte in text.bytes() {
        match byte {
            b'-' | b'_' => name.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => name.push(char::from(byte)),
            _ => drop(write!(name, "%{byte:02X}")),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn take(way: &[(u64, &str)], step: u64, item: Option<&str>, asks: u32) -> Entry {
        let stage = |(step, item): &(u64, &str)| Stage {
            step: *step,
            node: "each".to_owned(),
            visit: 1,
            item: (*item).to_owned(),
        };
        Entry {
            way: way.iter().map(stage).collect(),
            step,
            node: "coder".to_owned(),
            item: item.map(str::to_owned),
            visit: 1,
            asks,
            prompt_digest: sha256(""),
            output: Value::Null,
            base: None,
            files: RecordingFiles::default(),
            changes: BTreeMap::new(),
        }
    }

    #[test]
    fn no_two_takes_share_a_name() {
        let long = ["a", "b"].map(|last| format!("{}{last}", "k".repeat(400)));
        let takes = [
            take(&[], 2, Some("T001"), 0),
            take(&[], 2, Some("T001"), 1),
            take(&[(1, "p q")], 1, None, 0),
            take(&[(1, "p_q")], 1, None, 0),
            take(&[(1, "p%20q")], 1, None, 0),
            // A second round of the same map.
            take(&[(2, "p q")], 1, None, 0),
            take(&[(1, "a"), (1, "x")], 1, None, 0),
            take(&[(1, "b"), (1, "x")], 1, None, 0),
            take(&[(1, "a.0001-x")], 1, None, 0),
            take(&[(1, &long[0])], 1, None, 0),
            take(&[(1, &long[1])], 1, None, 0),
        ];
        let names: BTreeSet<String> = takes.iter().map(Entry::name).collect();
        assert_eq!(names.len(), takes.len(), "{names:?}");
        assert!(names.iter().all(|name| name.len() <= NAME_BYTES_MAX), "{names:?}");
        assert_eq!(takes[0].name(), "0002-coder-T001");
        assert_eq!(takes[2].name(), "0001-p%20q.0001-coder");
    }
}
