//! Noticing edits: every task file is looked at when an engine starts, and again whenever it changes.
//!
//! Edits are taken in here, and what a crash cut off is finished. What the engine itself has to say is otherwise
//! written by the effects that lead to it, so that the log has it in its place.

use super::{digest_of, file_path, sync};
use crate::core::{Actor, TaskId};
use crate::error::Error;
use crate::orders;
use crate::project::Project;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How often the folder is looked at; two looks must agree before a file counts as written to its end.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

#[derive(Default)]
struct Seen {
    last: Option<Stamp>,
    taken: Option<Stamp>,
}

/// Takes edits in for as long as it is polled.
pub(crate) async fn watch(project: Arc<Project>) {
    let mut seen: HashMap<TaskId, Seen> = HashMap::new();
    loop {
        let folder = project.place(&project.config().task_states);
        for (task, stamp) in scan(&folder) {
            let known = seen.entry(task).or_default();
            let is_steady = known.last == Some(stamp);
            known.last = Some(stamp);
            let is_first = known.taken.is_none();
            if is_steady && known.taken != Some(stamp) && take_in(&project, task, is_first).await.is_ok() {
                known.taken = Some(stamp);
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Brings the file of a task in line if it is not what the log knows to be there.
///
/// At the first look so is the file of a task at rest: a crash may have come between a step and its file. Of a task
/// that is under way, the steps themselves see to the file.
async fn take_in(project: &Project, task: TaskId, is_first: bool) -> Result<(), Error> {
    let text = orders::load_file(project, task).await?.state;
    let path = file_path(project, task);
    let on_disk = std::fs::read(&path).map_err(Error::io("read", &path))?;
    let is_known = text.on_disk.as_ref().is_some_and(|version| version.digest == digest_of(&on_disk));
    let is_written = is_known && text.on_disk == text.newest;
    if is_written && !(is_first && orders::get_task(project, task).await?.is_at_rest()) {
        return Ok(());
    }
    sync(project, task, &Actor::Engine).await.map(|_| ())
}

fn scan(folder: &Path) -> Vec<(TaskId, Stamp)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let stamp = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        let number = name.to_str()?.strip_prefix("task-")?.strip_suffix("-state.md")?;
        let metadata = entry.metadata().ok()?;
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        Some((number.parse().ok()?, Stamp { inode: metadata.ino(), bytes: metadata.len(), modified }))
    };
    entries.filter_map(Result::ok).filter_map(stamp).collect()
}
