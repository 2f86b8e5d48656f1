//! What people and agents do with a task's file, as functions: tick, log, write the output, archive.

use crate::clock;
use crate::commands::orders::{Caller, check_lengths, invalid};
use crate::commands::request::Request;
use crate::commands::round;
use crate::core::{Actor, Code, FieldFault, Problem, TaskId, plain_text};
use crate::error::{Error, chain};
use crate::project::Project;
use crate::task_files::archive;
use crate::task_files::restore;
use crate::task_files::{self, Editing};
use regatta_files::{EditError, NewSession, TaskFile, find_damage};
use std::path::PathBuf;

/// The longest part of an entry, and the longest chain output; agents have the same limits.
const PROGRESS_CHARACTERS_MAX: usize = 20_000;
const OUTPUT_CHARACTERS_MAX: usize = 50_000;

/// How many criteria are ticked at once.
const TICKS_MAX: usize = 1_000;

/// An entry for the progress log.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// What was done.
    pub did: String,
    /// What went wrong.
    pub issues: String,
    /// What comes next.
    pub next: String,
}

/// Reads what was changed in the file of a task, writes the engine's own parts, and returns the file.
pub async fn refresh(project: &Project, caller: &Caller, task: TaskId) -> Result<TaskFile, Error> {
    let kept = task_files::sync(project, task, &caller.actor).await?;
    restore::write_archive(project, task).await?;
    Ok(kept.file)
}

/// Takes in what was written in the file of a task, if the log does not have it; a disk error is reported
/// with the task.
pub async fn look(project: &Project, task: TaskId) -> Result<(), Error> {
    task_files::look_in(project, task).await
}

/// Returns where the file of a task is.
pub fn file_path(project: &Project, task: TaskId) -> PathBuf {
    task_files::file_path(project, task)
}

/// Ticks or unticks criteria, counted from 1.
pub async fn tick(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    numbers: &[(usize, bool)],
) -> Result<TaskFile, Error> {
    if numbers.len() > TICKS_MAX {
        let problem = format!("must name at most {TICKS_MAX} criteria, not {}", numbers.len());
        return Err(invalid(vec![FieldFault { field: "check", problem }]));
    }
    let editing = Editing::of(caller, &Request::Tick { task, numbers });
    let change = |file: &TaskFile| {
        let mut changed = file.clone();
        for (number, checked) in numbers {
            let missing = || {
                let error = EditError::NoSuchCriterion { index: *number, count: file.criteria().len() };
                not_edited(task, &error)
            };
            let index = number.checked_sub(1).ok_or_else(missing)?;
            changed = changed.with_criterion(index, *checked).map_err(|_| missing())?;
        }
        let changes = task_files::changes_between(file, &changed);
        Ok((changed, changes))
    };
    task_files::edit_by(project, task, &editing, change).await.map(|kept| kept.file)
}

/// Replaces the text of the file. What differs becomes events, by the rules for an edit on the disk.
///
/// What is left of a version, or is of another task, is refused: on the disk it would be set aside.
pub async fn replace(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    text: &str,
) -> Result<TaskFile, Error> {
    let editing = Editing::of(caller, &Request::ReplaceFile { task, text });
    let new = TaskFile::parse(text);
    let change = |file: &TaskFile| {
        if let Some(damage) = find_damage(file, &new) {
            let problem = format!("is not a new version of the file: {}", task_files::name_damage(damage));
            return Err(invalid(vec![FieldFault { field: "text", problem }]).explain().into());
        }
        let changes = task_files::changes_between(file, &new);
        Ok((new.clone(), changes))
    };
    task_files::edit_by(project, task, &editing, change).await.map(|kept| kept.file)
}

/// Appends an entry to the progress log.
pub async fn log_progress(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    progress: &Progress,
) -> Result<TaskFile, Error> {
    let Progress { did, issues, next } = progress;
    check_lengths(&[
        ("did", did, PROGRESS_CHARACTERS_MAX),
        ("issues", issues, PROGRESS_CHARACTERS_MAX),
        ("next", next, PROGRESS_CHARACTERS_MAX),
    ])?;
    let editing = Editing::of(caller, &Request::LogProgress { task, did, issues, next });
    append(project, &editing, task, progress, None).await?;
    archive::archive_if_due(project, task).await?;
    refresh(project, caller, task).await
}

/// Appends an entry in the middle of a session, or adds to the entry of this number that the session wrote
/// before; then archives the file if it is too large.
pub(crate) async fn log_in_session(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    progress: &Progress,
    own: Option<u32>,
) -> Result<TaskFile, Error> {
    let is_added = match own {
        Some(own) => add_to_own(project, &caller.actor, task, progress, own).await?,
        None => false,
    };
    if !is_added {
        append(project, &Editing::by(&caller.actor), task, progress, None).await?;
    }
    refresh(project, caller, task).await
}

/// Adds to the last entry, if it has this number and nobody changed it since; tells whether it did.
async fn add_to_own(
    project: &Project,
    editor: &Actor,
    task: TaskId,
    progress: &Progress,
    own: u32,
) -> Result<bool, Error> {
    let mut is_added = false;
    let change = |file: &TaskFile| {
        is_added = false;
        let last = file.sessions().last().filter(|last| last.number == own);
        let Some(entry) = last.and_then(|last| last.as_added(None)) else {
            return Ok((file.clone(), Vec::new()));
        };
        let joined = |old: &str, new: &str| match (is_nothing(old), is_nothing(new)) {
            (true, _) => new.to_owned(),
            (false, true) => old.to_owned(),
            (false, false) => format!("{}\n{}", old.trim_end(), new.trim_start()),
        };
        let entry = NewSession {
            did: joined(&entry.did, &plain_text(&progress.did)),
            issues: joined(&entry.issues, &plain_text(&progress.issues)),
            next: plain_text(&progress.next),
            ..entry
        };
        let changed = file.with_last_session(&entry).map_err(|error| not_edited(task, &error))?;
        is_added = true;
        let changes = task_files::changes_between(file, &changed);
        Ok((changed, changes))
    };
    task_files::edit(project, task, editor, change).await?;
    Ok(is_added)
}

fn is_nothing(text: &str) -> bool {
    matches!(text.trim(), "" | "None" | "none")
}

/// Writes what later tasks must know, and replaces what was written before.
pub async fn write_output(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    text: &str,
) -> Result<TaskFile, Error> {
    check_lengths(&[("text", text, OUTPUT_CHARACTERS_MAX)])?;
    let editing = Editing::of(caller, &Request::WriteOutput { task, text });
    let text = plain_text(text);
    let change = |file: &TaskFile| {
        let changed = file.with_chain_output(&text).map_err(|error| not_edited(task, &error))?;
        let changes = task_files::changes_between(file, &changed);
        Ok((changed, changes))
    };
    task_files::edit_by(project, task, &editing, change).await.map(|kept| kept.file)
}

/// Appends an entry on behalf of the agent, marked as such.
pub(crate) async fn log_for_agent(project: &Project, task: TaskId, progress: &Progress) -> Result<(), Error> {
    append(project, &Editing::by(&Actor::Engine), task, progress, Some(task_files::BY_ENGINE)).await
}

async fn append(
    project: &Project,
    editing: &Editing<'_>,
    task: TaskId,
    progress: &Progress,
    note: Option<&str>,
) -> Result<(), Error> {
    let at = format!("{:.0}", clock::now());
    let change = |file: &TaskFile| {
        let session = NewSession {
            number: next_number(file),
            at: at.clone(),
            did: plain_text(&progress.did),
            issues: plain_text(&progress.issues),
            next: plain_text(&progress.next),
            note: note.map(str::to_owned),
        };
        let changed = file.with_session(&session).map_err(|error| not_edited(task, &error))?;
        let changes = task_files::changes_between(file, &changed);
        Ok((changed, changes))
    };
    task_files::edit_by(project, task, editing, change).await.map(|_| ())
}

fn next_number(file: &TaskFile) -> u32 {
    let archived = file.archived().map_or(0, |summary| summary.last);
    file.sessions().iter().map(|entry| entry.number).max().unwrap_or(0).max(archived) + 1
}

/// Moves old entries to the archive, whatever the size; nothing when there are not enough to move.
pub async fn archive(project: &Project, caller: &Caller, task: TaskId) -> Result<Option<(u32, u32)>, Error> {
    round::once(project, caller, &Request::Archive { task }, async || {
        let kept = task_files::sync(project, task, &caller.actor).await?;
        archive::move_out(project, task, &kept.file).await
    })
    .await
}

/// Explains that a task file cannot be edited as asked.
pub(crate) fn not_edited(task: TaskId, error: &EditError) -> Error {
    let what = format!("the file of task #{task} was not changed");
    if let EditError::NoSuchCriterion { index, count } = error {
        let why = format!("there is no criterion {index}; the file has {count}");
        let next = format!("see them with `regatta task criteria {task}`");
        return Problem::new(Code::ValidationError, what, why, next).into();
    }
    let next = "fix the file at the place named above, then try again";
    Problem { why: chain(error), ..Problem::new(Code::StateCorrupt, what, "", next) }.into()
}
