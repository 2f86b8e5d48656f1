//! Writes task files and archives again that somebody deleted, such as `git clean -fdx`.
//!
//! All that they say is in the log. A verb asks only whether the folder of the task files is there, which costs one look; an
//! engine compares the names in it when it starts, and sees by its watch what goes later.

use crate::commands::orders;
use crate::core::{Event, FileText, TaskId};
use crate::error::Error;
use crate::log;
use crate::log::NO_SNAPSHOT;
use crate::project::Project;
use crate::task_files;
use regatta_files::{ArchiveRequest, TaskFile, disk, size};

/// Writes everything again if the whole folder is gone.
pub(crate) async fn write_all_if_gone(project: &Project) -> Result<(), Error> {
    let folder = project.place(&project.config().task_states);
    if folder.symlink_metadata().is_ok() {
        return Ok(());
    }
    write_missing(project).await
}

/// Writes the task files again that are not there, with their archives.
pub(crate) async fn write_missing(project: &Project) -> Result<(), Error> {
    for task in orders::list_ids(project).await? {
        if task_files::file_path(project, task).symlink_metadata().is_err() {
            write_one(project, task).await?;
        }
    }
    Ok(())
}

/// Writes the file and the archive of a task again. A disk that refuses is reported with the task.
pub(crate) async fn write_one(project: &Project, task: TaskId) -> Result<(), Error> {
    let written = match task_files::sync_or_report(project, task).await {
        Ok(()) => write_archive(project, task).await,
        Err(error) => Err(error),
    };
    match written {
        Err(error) if error.is_of_engine() => Err(error),
        // One task's trouble keeps no other from its file.
        _ => Ok(()),
    }
}

/// Writes the archive of a task again if it is gone, from the versions of its file in the log.
pub(crate) async fn write_archive(project: &Project, task: TaskId) -> Result<(), Error> {
    let path = task_files::archive_path(project, task);
    if orders::get_task(project, task).await?.memory.archived.is_none() || path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let text = read_archived(project, task).await?;
    if text.is_empty() {
        return Ok(());
    }
    task_files::ensure_archives(project)?;
    disk::write_new(&task_files::archive_root(project), &path, text.as_bytes()).map_err(Error::StateFile)
}

/// Returns every byte that was taken out of the file of a task, oldest first.
async fn read_archived(project: &Project, task: TaskId) -> Result<String, Error> {
    let loaded = project.store().load(&log::file_stream(task), NO_SNAPSHOT).await?;
    let request = ArchiveRequest { keep: size::SESSIONS_KEPT, link: String::new(), commits: Vec::new() };
    let (mut text, mut archived) = (FileText::default(), String::new());
    let mut last = 0;
    for row in &loaded.tail {
        let fact = log::fact_of(row)?;
        let before = text.newest.clone();
        text = text.evolve(&fact);
        let (Event::FileChanged { .. }, Some(newest)) = (&fact.event, &text.newest) else { continue };
        let now = TaskFile::parse(newest.text.clone()).archived().map_or(0, |summary| summary.last);
        if now > last
            && let Some(before) = before
            && let Some(taken) = TaskFile::parse(before.text).archive(&request)
        {
            archived.push_str(&taken.archived);
        }
        last = last.max(now);
    }
    Ok(archived)
}
