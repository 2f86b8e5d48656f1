//! Keeps the file of a task and the log in line with each other.
//!
//! ```text
//!   disk ──▶ what did somebody change since we last wrote? ──▶ events ──▶ what must the file say? ──▶ disk
//! ```
//!
//! Nothing here is stored as an intent: what has to be written can be seen at any time, by comparing the newest
//! version in the log with the one that is known to be on the disk. So a crash anywhere is healed by looking again,
//! and any process may look. A write swaps the new file with the old one and then reads the old one: an edit that
//! came between our reading and our writing is in our hands, and is merged. See docs/design/001-task-files.md.

mod desired;
mod lock;
mod news;
mod place;
mod watch;

pub(crate) use news::{BY_ENGINE, between as news_between};
pub(crate) use place::{archive_path, file_path};
pub(crate) use watch::watch;

use crate::core::{
    Actor, Command, Edit, EditStep, Failure, FileText, FileVersion, News, Origin, Outcome, Splice, Task,
    TaskId,
};
use crate::error::Error;
use crate::orders::{self, Order};
use crate::project::Project;
use regatta_files::{EditError, TaskFile, disk, merge};
use std::path::Path;

/// Each round means that somebody wrote meanwhile; so many in a row are a loop, not work.
const ROUNDS_MAX: u32 = 32;

/// A task file as it stands in the log and on the disk.
pub(crate) struct Kept {
    /// The parsed file.
    pub(crate) file: TaskFile,
}

/// Reads what others changed, and writes what the engine has to say.
pub(crate) async fn sync(project: &Project, task: TaskId, editor: &Actor) -> Result<Kept, Error> {
    edit(project, task, editor, |file| Ok((file.clone(), Vec::new()))).await
}

/// Brings the file in line; a disk that refuses is reported with the task, and stops nothing else.
pub(crate) async fn sync_or_report(project: &Project, task: TaskId) -> Result<(), Error> {
    let kept = sync(project, task, &Actor::Engine).await.map(|_| ());
    report(project, task, kept).await
}

/// Reports a file that could not be brought in line, and goes on.
pub(crate) async fn report(project: &Project, task: TaskId, kept: Result<(), Error>) -> Result<(), Error> {
    match kept {
        Err(
            error @ (Error::StateFile(_)
            | Error::FileEdit { .. }
            | Error::Io { .. }
            | Error::Contended { .. }),
        ) => {
            let outcome = Outcome::FileNotWritten(Failure::from(error.explain()));
            let order = Order::new(Some(task), &Actor::Engine);
            orders::give(project, order, Command::Report(outcome)).await.map(|_| ())
        }
        other => other,
    }
}

/// Brings the file in line, makes one change in it, and writes it; then brings those in line that depend on what it
/// has to say.
pub(crate) async fn edit(
    project: &Project,
    task: TaskId,
    editor: &Actor,
    change: impl FnMut(&TaskFile) -> Result<(TaskFile, Vec<News>), EditError>,
) -> Result<Kept, Error> {
    let before = orders::get_task(project, task).await?.memory.output;
    let kept = edit_one(project, task, editor, change).await?;
    if orders::get_task(project, task).await?.memory.output != before {
        for dependent in orders::load_dependents(project, task).await? {
            edit_one(project, dependent, &Actor::Engine, |file| Ok((file.clone(), Vec::new()))).await?;
        }
    }
    Ok(kept)
}

async fn edit_one(
    project: &Project,
    task: TaskId,
    editor: &Actor,
    mut change: impl FnMut(&TaskFile) -> Result<(TaskFile, Vec<News>), EditError>,
) -> Result<Kept, Error> {
    let _lock = lock::take(project, task).await?;
    let path = file_path(project, task);
    let mut is_changed = false;
    for _ in 0..ROUNDS_MAX {
        let found = orders::get_task(project, task).await?;
        let text = orders::load_file(project, task).await?.state;
        let on_disk = disk::read(&path).map_err(Error::StateFile)?;
        if let Some((bytes, digest)) = &on_disk
            && take_in(project, &found, &text, bytes, digest.as_str(), &path).await?
        {
            continue;
        }
        let newest = text.newest.as_ref().map(|version| TaskFile::parse(version.text.clone()));
        let base = newest.unwrap_or_else(|| desired::render(&found));
        let (mut wanted, mut news) = desired::bring_in_line(project, &found, &base).await?;
        if !is_changed {
            let (changed, more) = change(&wanted).map_err(|error| Error::FileEdit { task, error })?;
            wanted = changed;
            news.extend(more);
        }
        let is_new = text.newest.as_ref().is_none_or(|newest| newest.text != wanted.text());
        if is_new || !news.is_empty() {
            let steps = [(wanted.text(), Origin::Engine)];
            is_changed = record(project, task, &text, &steps, news, editor).await? || is_changed;
            continue;
        }
        is_changed = true;
        if write(project, &found, &text, &path, on_disk.is_some()).await? {
            return Ok(Kept { file: wanted });
        }
    }
    Err(Error::Contended { tries: ROUNDS_MAX })
}

/// Takes what is on the disk into the log, if that does not know it; says whether it did anything.
async fn take_in(
    project: &Project,
    task: &Task,
    text: &FileText,
    bytes: &[u8],
    digest: &str,
    path: &Path,
) -> Result<bool, Error> {
    let is = |version: &Option<FileVersion>| version.as_ref().is_some_and(|version| version.digest == digest);
    if is(&text.on_disk) {
        return Ok(false);
    }
    if is(&text.newest) {
        confirm(project, task.id, digest).await?;
        return Ok(true);
    }
    match std::str::from_utf8(bytes) {
        Ok(theirs) => take_edit(project, task, text, theirs, Origin::Edit).await?,
        Err(_) => set_aside(project, task.id, path).await?,
    }
    Ok(true)
}

/// Records an edit; one that met a change of ours which was not on the disk then is merged with it, in one append.
async fn take_edit(
    project: &Project,
    task: &Task,
    text: &FileText,
    theirs: &str,
    origin: Origin,
) -> Result<(), Error> {
    let base = text.on_disk.as_ref().map_or("", |version| version.text.as_str());
    let ours = text.newest.as_ref().map_or("", |version| version.text.as_str());
    let mut news = news::between(&TaskFile::parse(base), &TaskFile::parse(theirs));
    let merged = if ours == base { None } else { Some(merge(base, ours, theirs)) };
    let mut steps = vec![(theirs, origin)];
    if let Some(merged) = &merged {
        let kept = |conflict: &regatta_files::Conflict| News::Conflicted { section: conflict.part.clone() };
        news.extend(merged.conflicts.iter().map(kept));
        steps.push((&merged.text, Origin::Engine));
    }
    record(project, task.id, text, &steps, news, &editor_of(task)).await.map(|_| ())
}

/// A change found while an agent works on the task is taken for the agent's.
fn editor_of(task: &Task) -> Actor {
    match task.agent() {
        Some(agent) if task.agent_state().is_working() => Actor::Agent(agent.clone()),
        _ => Actor::Unknown,
    }
}

/// Records versions of the file; says whether they are in the log, and not another that came first.
async fn record(
    project: &Project,
    task: TaskId,
    text: &FileText,
    versions: &[(&str, Origin)],
    news: Vec<News>,
    editor: &Actor,
) -> Result<bool, Error> {
    let mut before = text.newest.as_ref().map_or("", |version| version.text.as_str());
    let mut steps = Vec::new();
    for (version, origin) in versions {
        let digest = digest_of(version.as_bytes());
        steps.push(EditStep { digest, splice: Splice::between(before, version), origin: *origin });
        before = version;
    }
    let base = text.newest.as_ref().map(|version| version.digest.clone());
    match orders::give(project, Order::new(Some(task), editor), Command::Edit(Edit { base, steps, news }))
        .await
    {
        Ok(_) => Ok(true),
        Err(Error::FileMoved { .. }) => Ok(false),
        Err(other) => Err(other),
    }
}

/// Writes the newest version to the disk; says whether it is there, and nothing unknown was there before.
async fn write(
    project: &Project,
    task: &Task,
    text: &FileText,
    path: &Path,
    is_there: bool,
) -> Result<bool, Error> {
    let Some(newest) = &text.newest else { return Ok(false) };
    let known = text.on_disk.as_ref().map(|version| version.digest.as_str());
    if known == Some(newest.digest.as_str()) && is_there {
        return Ok(true);
    }
    let displaced = disk::exchange(path, newest.text.as_bytes()).map_err(Error::StateFile)?;
    confirm(project, task.id, &newest.digest).await?;
    let Some(displaced) = displaced.filter(|bytes| Some(digest_of(bytes).as_str()) != known) else {
        return Ok(true);
    };
    // Somebody wrote between our reading and our writing: what they wrote is merged into what is there now.
    let theirs = String::from_utf8_lossy(&displaced);
    take_edit(project, task, text, &theirs, Origin::Engine).await?;
    Ok(false)
}

async fn confirm(project: &Project, task: TaskId, digest: &str) -> Result<(), Error> {
    let outcome = Outcome::FileWritten { digest: digest.to_owned() };
    orders::give(project, Order::new(Some(task), &Actor::Engine), Command::Report(outcome)).await.map(|_| ())
}

/// Moves a file aside that cannot be read, so that it can be rebuilt from the log and nothing is lost.
async fn set_aside(project: &Project, task: TaskId, path: &Path) -> Result<(), Error> {
    let kept = place::find_free_aside(path);
    std::fs::rename(path, &kept).map_err(Error::io("set aside", path))?;
    let shown = kept.display().to_string();
    let failure = Failure::from(Error::FileSetAside { task, kept: shown.clone() }.explain());
    let outcome = Outcome::FileCorrupt { kept: shown, failure };
    orders::give(project, Order::new(Some(task), &Actor::Engine), Command::Report(outcome)).await.map(|_| ())
}

fn digest_of(bytes: &[u8]) -> String {
    disk::Digest::of(bytes).as_str().to_owned()
}
