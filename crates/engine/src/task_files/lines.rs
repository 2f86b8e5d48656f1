//! How task files looked when they last matched the log, so that a start does not read files that have not
//! changed since.
//!
//! A line says: with this stamp, the file matched the log up to `base`. Lines are rows of the list `files` in
//! the store. A line is written with the event that confirms a write, or by the watch for a file that it has
//! read. It is valid until its task, or one that this depends on, has a newer event: the content of a file
//! depends on nothing else. A missing line costs one read of the file, and nothing more.

use crate::commands::orders::{self, Beside};
use crate::commands::round;
use crate::core::TaskId;
use crate::error::Error;
use crate::log::list::{self, FILES, Mark};
use crate::project::Project;
use crate::task_files::place::file_path;
use crate::task_files::settled::Stamp;
use crate::task_files::{desired, place, private_folder};
use regatta_files::TaskFile;
use regatta_files::disk::{self, Itself};
use regatta_store::{NewRow, Seq, Version};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long new lines wait for others, to be written together.
const WRITE_AFTER: Duration = Duration::from_secs(2);

/// A file that matched the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// How it looked.
    pub(crate) stamp: Stamp,
    /// The head of the log before the file was compared with it.
    base: u64,
    /// Whether the line was written with an event of the task, after which the file still matched the log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_own: bool,
}

/// Returns the line of a task file, if the file matches the log exactly; changes nothing.
pub(crate) async fn find(project: &Project, task: TaskId) -> Result<Option<Line>, Error> {
    let base = project.store().head().await?.0;
    let Some(stamp) = stamp_of(project, task) else { return Ok(None) };
    let text = orders::load_file(project, task).await?.state;
    let Some(newest) = text.newest.as_ref().filter(|newest| text.on_disk.as_ref() == Some(newest)) else {
        return Ok(None);
    };
    if !has_digest(project, &private_folder::peek(project, task), &newest.digest)? {
        return Ok(None);
    }
    let found = orders::get_task(project, task).await?;
    let file = TaskFile::parse(newest.text.clone());
    let (wanted, changes) = desired::bring_in_line(project, &found, &file).await?;
    let is_in_line = wanted.text() == newest.text && changes.is_empty();
    Ok(is_in_line.then_some(Line { stamp, base, is_own: false }))
}

/// Makes the line of a file that was just written, to be stored with the event that confirms it if the task
/// is still at this version; nothing if somebody has changed the file already.
///
/// The stamp is taken before the file is read: any later write makes another stamp.
pub(crate) fn of_written(
    project: &Project,
    task: TaskId,
    path: &Path,
    digest: &str,
    (version, base): (Version, Seq),
) -> Option<Beside> {
    let stamp = stamp_of(project, task)?;
    has_digest(project, path, digest).ok()?.then(|| {
        let line = Line { stamp, base: base.0, is_own: true };
        Beside { version, row: row_of(task, &line) }
    })
}

fn stamp_of(project: &Project, task: TaskId) -> Option<Stamp> {
    std::fs::metadata(file_path(project, task)).ok().map(|metadata| Stamp::of(&metadata))
}

fn has_digest(project: &Project, path: &Path, digest: &str) -> Result<bool, Error> {
    let found = disk::read_itself(&place::root(project), path).map_err(Error::StateFile)?;
    Ok(matches!(found, Itself::File(_, found) if found.as_str() == digest))
}

fn row_of(task: TaskId, line: &Line) -> NewRow {
    let data = serde_json::to_string(line).expect("a line is plain data");
    NewRow { list: FILES, key: u64::from(task.number()), data: Some(data) }
}

/// What the log knew about the task files before the first look.
#[derive(Debug, Default)]
pub(crate) struct Known {
    marks: BTreeMap<TaskId, Mark>,
    lines: BTreeMap<TaskId, (Seq, Line)>,
}

impl Known {
    pub(crate) async fn load(project: &Project) -> Result<Self, Error> {
        let marks = list::load_marks(project).await?;
        let rows = list::load_files(project).await?;
        let line = |row: regatta_store::Row| {
            let task = TaskId::new(row.key.try_into().ok()?).ok()?;
            Some((task, (row.seq, serde_json::from_str(&row.data).ok()?)))
        };
        Ok(Known { marks, lines: rows.into_iter().filter_map(line).collect() })
    }

    /// Returns the existing tasks.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.marks.keys().copied()
    }

    /// Tells whether a file with this stamp matches the log.
    pub(crate) fn is_in_line(&self, task: TaskId, stamp: Stamp) -> bool {
        let (Some((seq, line)), Some(mark)) = (self.lines.get(&task), self.marks.get(&task)) else {
            return false;
        };
        let is_before = |mark: &Mark| mark.seq.0 <= line.base;
        line.stamp == stamp
            && (is_before(mark) || (line.is_own && mark.seq == *seq))
            && mark.dependencies.iter().all(|on| self.marks.get(on).is_some_and(is_before))
    }
}

/// Lines that are yet to be written.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    waiting: BTreeMap<TaskId, Line>,
    write_at: Option<Instant>,
}

impl Lines {
    pub(crate) fn note(&mut self, task: TaskId, line: Line, now: Instant) {
        self.waiting.insert(task, line);
        self.write_at.get_or_insert(now + WRITE_AFTER);
    }

    /// Returns when they are due to be written, if there are any.
    pub(crate) fn write_at(&self) -> Option<Instant> {
        self.write_at
    }

    /// Writes them when they are due; a line that cannot be written is lost, which costs one read of its
    /// file.
    pub(crate) async fn write_if_due(&mut self, project: &Project, now: Instant) {
        if self.write_at.is_none_or(|at| at > now) {
            return;
        }
        self.write_at = None;
        let rows = std::mem::take(&mut self.waiting).iter().map(|(task, line)| row_of(*task, line)).collect();
        let _ = round::write_rows(project, rows).await;
    }
}
