//! What happened to one task, from its own stream of the log.

use crate::core::TaskId;
use crate::error::Error;
use crate::log;
use crate::log::NO_SNAPSHOT;
use crate::log::journal::Entry;
use crate::project::Project;

/// Returns the events of a task, oldest first.
pub async fn list_task_events(project: &Project, task: TaskId) -> Result<Vec<Entry>, Error> {
    let loaded = project.store().load(&log::task_stream(task), NO_SNAPSHOT).await?;
    loaded.tail.iter().map(Entry::from_recorded).collect()
}
