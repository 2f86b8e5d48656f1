//! How task files looked when they were in line with the log, so that a start looks into none that has not changed since.
//!
//! A line says: with this stamp, the file said just what the log up to `base` has to say in it. Lines are rows of the list
//! `files` in the store. One is written with the event that confirms a write, or by the watch for a file that it has looked
//! into. It holds until its task, or one that this depends on, has a newer event: what a file has to say depends on
//! nothing else. A line that is missing costs a look, and nothing more.

use crate::commands::orders::{self, Beside};
use crate::core::TaskId;
use crate::error::Error;
use crate::log::list::{self, FILES, Mark};
use crate::project::Project;
use crate::task_files::place::file_path;
use crate::task_files::settled::Stamp;
use crate::task_files::{desired, drawer, place};
use regatta_files::TaskFile;
use regatta_files::disk::{self, Itself};
use regatta_store::{Append, NewRow, Seq, Version};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long new lines wait for others to be written with.
const WRITE_AFTER: Duration = Duration::from_secs(2);

/// A file that was in line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// How it looked.
    pub(crate) stamp: Stamp,
    /// The head of the log before the file was compared with it.
    base: u64,
    /// Whether the line was written with an event of the task, after which the file was still in line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_own: bool,
}

/// Returns the line of a task file, if it says just what the log has to say in it; nothing is changed for that.
pub(crate) async fn find(project: &Project, task: TaskId) -> Result<Option<Line>, Error> {
    let base = project.store().head().await?.0;
    let Some(stamp) = stamp_of(project, task) else { return Ok(None) };
    let text = orders::load_file(project, task).await?.state;
    let Some(newest) = text.newest.as_ref().filter(|newest| text.on_disk.as_ref() == Some(newest)) else {
        return Ok(None);
    };
    if !has_digest(project, &drawer::peek(project, task), &newest.digest)? {
        return Ok(None);
    }
    let found = orders::get_task(project, task).await?;
    let file = TaskFile::parse(newest.text.clone());
    let (wanted, news) = desired::bring_in_line(project, &found, &file).await?;
    let is_in_line = wanted.text() == newest.text && news.is_empty();
    Ok(is_in_line.then_some(Line { stamp, base, is_own: false }))
}

/// Makes the line of a file that was just written, to be kept with the event that confirms it if the task is still at
/// this version; nothing if somebody has changed the file already.
///
/// The stamp is taken before the file is read: whatever is written later makes another stamp.
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

/// What the log knew of the task files before anybody looked.
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

    /// Returns the tasks that there are.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.marks.keys().copied()
    }

    /// Tells whether a file that looks like this is in line.
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

    /// Returns when they are to be written, if there are any.
    pub(crate) fn write_at(&self) -> Option<Instant> {
        self.write_at
    }

    /// Writes them if it is time to; those that cannot be written are lost, which costs a look.
    pub(crate) async fn write_if_due(&mut self, project: &Project, now: Instant) {
        if self.write_at.is_none_or(|at| at > now) {
            return;
        }
        self.write_at = None;
        let rows = std::mem::take(&mut self.waiting).iter().map(|(task, line)| row_of(*task, line)).collect();
        let _ = project.store().append(Append { rows, ..Append::default() }).await;
    }
}
