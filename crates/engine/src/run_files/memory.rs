//! What was last written to the files of a run, and why a file was not written.
//!
//! It tells a text of ours from the edit of somebody else, also after a crash: what is about to be written is remembered
//! before, so a file holds one of two texts that are known, or it was edited. Lost with its folder, it costs that a file
//! which differs from the log is set aside instead of compared.

use crate::core::{Failure, RunId};
use crate::error::Error;
use crate::project::Project;
use crate::run_files::place;
use crate::task_files::settled::Stamp;
use regatta_files::disk::{self, Digest};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Lists up to this length are replaced whole, so that no reader ever sees the half of a line.
pub(crate) const WHOLE_BYTES_MAX: u64 = 1024 * 1024;

/// What is remembered of the files of one run, by their names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Memory {
    pub(crate) files: BTreeMap<String, FileMemory>,
    /// Whether everything was written after the run had ended.
    pub(crate) is_over: bool,
    /// The names of the edits that were kept beside their files, of those that the run remembers.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) kept: BTreeSet<String>,
}

/// What is remembered of one file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct FileMemory {
    /// What is on the disk, unless somebody changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) written: Option<Version>,
    /// What is being put in its place, and may be there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<Version>,
    /// Whether that is what another run wrote that had the path before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_inherited: bool,
    /// Why the newest value was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<Failure>,
}

/// A version of a file that we wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Version {
    /// The digest of the file; of a list that is extended in place there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
    /// The event of the log that it is as of.
    pub(crate) seq: u64,
    /// The text of a place, with which an edit is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// How many items of a list are written.
    #[serde(default)]
    pub(crate) items: usize,
    /// How long the file is, up to the end of what we wrote last.
    pub(crate) bytes: u64,
    /// How a file looked that was extended in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stamp: Option<Stamp>,
}

impl Version {
    /// Makes the version of a document.
    pub(crate) fn of(text: &str, seq: u64) -> Version {
        let digest = Some(Digest::of(text.as_bytes()).as_str().to_owned());
        Version { digest, seq, text: None, items: 0, bytes: text.len() as u64, stamp: None }
    }

    /// Whether it is a list of a length that is extended in place.
    pub(crate) fn is_long_list(&self) -> bool {
        self.items > 0 && self.bytes > WHOLE_BYTES_MAX
    }

    fn has(&self, digest: &Digest) -> bool {
        self.digest.as_deref() == Some(digest.as_str())
    }
}

impl FileMemory {
    /// Finds the version of ours that has a digest.
    pub(crate) fn find(&self, digest: &Digest) -> Option<&Version> {
        [&self.begun, &self.written].into_iter().flatten().find(|version| version.has(digest))
    }

    /// Records which version was found on the disk, if a crash left that open.
    pub(crate) fn settle(&mut self, digest: &Digest) {
        if self.begun.as_ref().is_some_and(|begun| begun.has(digest)) {
            self.written = self.begun.take();
        } else if self.written.as_ref().is_some_and(|written| written.has(digest)) {
            self.begun = None;
        }
    }
}

impl Memory {
    /// Reads what is remembered of a run; nothing if there is none, or none that can be read.
    pub(crate) fn load(project: &Project, run: RunId) -> Option<Memory> {
        serde_json::from_slice(&std::fs::read(path(project, run)).ok()?).ok()
    }

    /// Tells whether anything is remembered of a run.
    pub(crate) fn is_there(project: &Project, run: RunId) -> bool {
        path(project, run).exists()
    }

    /// Keeps it, and makes sure of that.
    pub(crate) fn save(&self, project: &Project, run: RunId) -> Result<(), Error> {
        let path = path(project, run);
        let folder = place::memories(project);
        std::fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        let text = serde_json::to_vec(self).expect("the memory is plain data");
        disk::write_atomically(&path, &text).map_err(Error::StateFile)
    }

    /// Lists the runs of which anything is remembered.
    pub(crate) fn list(project: &Project) -> Vec<RunId> {
        let entries = std::fs::read_dir(place::memories(project)).into_iter().flatten().flatten();
        let run = |entry: std::fs::DirEntry| entry.file_name().to_str()?.strip_suffix(".json")?.parse().ok();
        let mut runs: Vec<RunId> = entries.filter_map(run).collect();
        runs.sort();
        runs
    }
}

fn path(project: &Project, run: RunId) -> PathBuf {
    place::memories(project).join(format!("{run}.json"))
}
