//! How often an object has changed: the version of its stream in the log.

use crate::core::{EpicId, PrdSlug, RunId, TaskId};
use crate::error::Error;
use crate::log::{self, SNAPSHOT_FORMAT};
use crate::project::Project;
use regatta_store::{StreamName, Version};
use std::fmt;

/// An object that has a version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the objects")]
pub enum Versioned {
    Task(TaskId),
    /// The file of a task.
    TaskFile(TaskId),
    Run(RunId),
    Epic(EpicId),
    Prd(PrdSlug),
}

impl Versioned {
    /// Returns the stream whose version is that of the object.
    pub(crate) fn stream(&self) -> StreamName {
        match self {
            Versioned::Task(task) => log::task_stream(*task),
            Versioned::TaskFile(task) => log::file_stream(*task),
            Versioned::Run(run) => log::run_stream(*run),
            Versioned::Epic(epic) => log::epic_stream(*epic),
            Versioned::Prd(prd) => log::prd_stream(prd),
        }
    }
}

impl fmt::Display for Versioned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Versioned::Task(task) => write!(formatter, "task #{task}"),
            Versioned::TaskFile(task) => write!(formatter, "the file of task #{task}"),
            Versioned::Run(run) => write!(formatter, "run {run}"),
            Versioned::Epic(epic) => write!(formatter, "epic {epic}"),
            Versioned::Prd(prd) => write!(formatter, "PRD {prd}"),
        }
    }
}

/// Returns the version of an object; 0 if there is no such object.
pub async fn find_version(project: &Project, of: &Versioned) -> Result<u64, Error> {
    load_version(project, &of.stream()).await.map(|version| version.0)
}

pub(crate) async fn load_version(project: &Project, stream: &StreamName) -> Result<Version, Error> {
    Ok(project.store().load(stream, SNAPSHOT_FORMAT).await?.version)
}

/// What a caller saw before a command: the command is refused if the object has another version by then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchanged {
    /// The object.
    pub of: Versioned,
    /// The versions that are accepted.
    pub versions: Vec<u64>,
}

impl Unchanged {
    /// Refuses another version.
    pub fn check(&self, version: u64) -> Result<(), Error> {
        if self.versions.contains(&version) {
            return Ok(());
        }
        Err(Error::Changed { of: self.of.clone() })
    }
}
