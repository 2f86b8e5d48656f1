//! What people and agents do with a task's file, as calls: tick, log, write the output, archive.

use crate::clock;
use crate::core::{Actor, News, TaskId};
use crate::error::Error;
use crate::keeper::{self, Kept};
use crate::orders::Giver;
use crate::project::Project;
use regatta_files::{ArchiveRequest, EditError, NewSession, TaskFile, disk, size};
use std::path::PathBuf;

/// An entry for the progress log.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// What was done.
    pub did: String,
    /// What stood in the way.
    pub issues: String,
    /// What comes next.
    pub next: String,
}

/// Reads what was changed in the file of a task, writes what the engine has to say, and returns the file.
pub async fn refresh(project: &Project, giver: &Giver, task: TaskId) -> Result<TaskFile, Error> {
    keeper::sync(project, task, &giver.actor).await.map(|kept| kept.file)
}

/// Returns where the file of a task is.
pub fn file_path(project: &Project, task: TaskId) -> PathBuf {
    keeper::file_path(project, task)
}

/// Ticks or unticks criteria, counted from 1.
pub async fn tick(
    project: &Project,
    giver: &Giver,
    task: TaskId,
    numbers: &[(usize, bool)],
) -> Result<TaskFile, Error> {
    let change = |file: &TaskFile| {
        let mut changed = file.clone();
        for (number, checked) in numbers {
            let missing = || EditError::NoSuchCriterion { index: *number, count: file.criteria().len() };
            let index = number.checked_sub(1).ok_or_else(missing)?;
            changed = changed.with_criterion(index, *checked).map_err(|_| missing())?;
        }
        let news = keeper::news_between(file, &changed);
        Ok((changed, news))
    };
    keeper::edit(project, task, &giver.actor, change).await.map(|kept| kept.file)
}

/// Appends an entry to the progress log.
pub async fn log_progress(
    project: &Project,
    giver: &Giver,
    task: TaskId,
    progress: &Progress,
) -> Result<TaskFile, Error> {
    let kept = append(project, &giver.actor, task, progress, None).await?;
    archive_if_due(project, task, kept).await
}

/// Appends an entry in the agent's place, marked as such.
pub(crate) async fn log_for_agent(project: &Project, task: TaskId, progress: &Progress) -> Result<(), Error> {
    let kept = append(project, &Actor::Engine, task, progress, Some(keeper::BY_ENGINE)).await?;
    archive_if_due(project, task, kept).await.map(|_| ())
}

async fn append(
    project: &Project,
    editor: &Actor,
    task: TaskId,
    progress: &Progress,
    note: Option<&str>,
) -> Result<Kept, Error> {
    let at = format!("{:.0}", clock::now());
    let change = |file: &TaskFile| {
        let session = NewSession {
            number: next_number(file),
            at: at.clone(),
            did: progress.did.clone(),
            issues: progress.issues.clone(),
            next: progress.next.clone(),
            note: note.map(str::to_owned),
        };
        let changed = file.with_session(&session)?;
        let news = keeper::news_between(file, &changed);
        Ok((changed, news))
    };
    keeper::edit(project, task, editor, change).await
}

fn next_number(file: &TaskFile) -> u32 {
    let archived = file.archived().map_or(0, |summary| summary.last);
    file.sessions().iter().map(|entry| entry.number).max().unwrap_or(0).max(archived) + 1
}

/// Moves old entries to the archive, whatever the size; nothing when there are no more than stay.
pub async fn archive(project: &Project, giver: &Giver, task: TaskId) -> Result<Option<(u32, u32)>, Error> {
    let kept = keeper::sync(project, task, &giver.actor).await?;
    move_out(project, task, &kept.file).await
}

async fn archive_if_due(project: &Project, task: TaskId, kept: Kept) -> Result<TaskFile, Error> {
    if size::class(kept.file.text().len()) == size::SizeClass::Archive {
        move_out(project, task, &kept.file).await?;
        return keeper::sync(project, task, &Actor::Engine).await.map(|kept| kept.file);
    }
    Ok(kept.file)
}

/// First the archive, then the file: a crash in between leaves entries in both, and loses none.
async fn move_out(project: &Project, task: TaskId, file: &TaskFile) -> Result<Option<(u32, u32)>, Error> {
    let path = keeper::archive_path(project, task);
    let request = ArchiveRequest {
        keep: size::SESSIONS_KEPT,
        link: path.strip_prefix(project.root()).unwrap_or(&path).display().to_string(),
        commits: Vec::new(),
    };
    let Some(archived) = file.archive(&request) else { return Ok(None) };
    let parent = path.parent().unwrap_or(project.root());
    std::fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
    disk::append_durably(&path, archived.archived.as_bytes()).map_err(Error::StateFile)?;
    let taken = archived.archived.clone();
    let (first, last) = (archived.first, archived.last);
    let change = |file: &TaskFile| match file.archive(&request) {
        // Somebody wrote in them meanwhile: they stay, and are archived another time.
        Some(now) if now.archived == taken => {
            let bytes = now.archived.len() as u64;
            Ok((now.file, vec![News::Archived { first: now.first, last: now.last, bytes }]))
        }
        _ => Ok((file.clone(), Vec::new())),
    };
    keeper::edit(project, task, &Actor::Engine, change).await?;
    Ok(Some((first, last)))
}
