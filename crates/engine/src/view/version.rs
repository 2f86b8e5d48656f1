//! How often an object has changed: the version of its stream in the log.

use crate::core::{EpicId, PrdSlug, RunId, TaskId};
use crate::error::Error;
use crate::log::{self, SNAPSHOT_FORMAT};
use crate::project::Project;

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

/// Returns the version of an object; 0 if there is no such object.
pub async fn find_version(project: &Project, of: &Versioned) -> Result<u64, Error> {
    let stream = match of {
        Versioned::Task(task) => log::task_stream(*task),
        Versioned::TaskFile(task) => log::file_stream(*task),
        Versioned::Run(run) => log::run_stream(*run),
        Versioned::Epic(epic) => log::epic_stream(*epic),
        Versioned::Prd(prd) => log::prd_stream(prd),
    };
    Ok(project.store().load(&stream, SNAPSHOT_FORMAT).await?.version.0)
}
