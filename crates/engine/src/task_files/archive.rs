//! Archives a progress log: moves old entries out of the task's file, and leaves a summary with their
//! commits.
//!
//! This happens automatically between two sessions when the file is too large, and whenever somebody asks for
//! it. The archive is written before the file: a crash in between leaves entries in both, and loses none.

use crate::commands::orders::{self, Order};
use crate::core::{Actor, Code, Command, Event, Failure, FileChange, Outcome, Problem, TaskId};
use crate::crash;
use crate::error::Error;
use crate::log::{NO_SNAPSHOT, fact_of, task_stream};
use crate::project::Project;
use crate::task_files;
use crate::task_files::restore;
use regatta_files::disk::{self, Itself};
use regatta_files::{ArchiveRequest, Archived, TaskFile, exchange, find_commit_names, size};
use std::path::Path;

/// How many words that look like commits git is asked about; each costs two processes.
const WORDS_ASKED_MAX: usize = 50;

/// Moves old entries to the archive if the file is too large.
pub(crate) async fn archive_if_due(project: &Project, task: TaskId) -> Result<(), Error> {
    let Some(newest) = orders::load_file(project, task).await?.state.newest else { return Ok(()) };
    if size::class(newest.text.len()) == size::SizeClass::Archive {
        move_out(project, task, &TaskFile::parse(newest.text)).await?;
    }
    Ok(())
}

/// Moves old entries to the archive, and returns the first and the last; nothing when there are not enough to
/// move.
pub(crate) async fn move_out(
    project: &Project,
    task: TaskId,
    file: &TaskFile,
) -> Result<Option<(u32, u32)>, Error> {
    let path = task_files::archive_path(project, task);
    let mut request = ArchiveRequest {
        keep: size::SESSIONS_KEPT,
        link: path.strip_prefix(project.root()).unwrap_or(&path).display().to_string(),
        commits: Vec::new(),
    };
    let Some(archived) = file.archive(&request) else { return Ok(None) };
    request.commits = find_commits(project, task, &archived).await?;
    clear_place(project, task, &path).await?;
    // What was archived before comes first, even if somebody deleted it.
    restore::write_archive(project, task).await?;
    let root = task_files::archive_root(project);
    let mut moved = None;
    // Under the lock of the file, so that two processes do not both move the same entries; what a crash left in the
    // archive already is not added again.
    let change = |file: &TaskFile| match file.archive(&request) {
        Some(now) if now.archived == archived.archived => {
            crash::point("archive.before");
            disk::append_durably(&root, &path, now.archived.as_bytes()).map_err(Error::StateFile)?;
            crash::point("archive.appended");
            moved = Some((now.first, now.last));
            let bytes = now.archived.len() as u64;
            Ok((now.file, vec![FileChange::Archived { first: now.first, last: now.last, bytes }]))
        }
        // Somebody edited them meanwhile: they stay, and are archived another time.
        _ => Ok((file.clone(), Vec::new())),
    };
    task_files::edit(project, task, &Actor::Engine, change).await?;
    crash::point("archive.after");
    Ok(moved)
}

/// Returns what was moved out of the file of a task, if anything.
pub(crate) fn read(project: &Project, task: TaskId) -> Result<Option<String>, Error> {
    let path = task_files::archive_path(project, task);
    match disk::read_itself(&task_files::archive_root(project), &path).map_err(Error::StateFile)? {
        Itself::Missing => Ok(None),
        Itself::File(bytes, _) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Itself::Odd => {
            let why = "it is not a regular file, or larger than 16 MiB; links are not followed";
            Err(unreadable(&path, why))
        }
    }
}

/// Sets aside a link, or anything else that is not a file, in the place of an archive, and reports it.
async fn clear_place(project: &Project, task: TaskId, path: &Path) -> Result<(), Error> {
    task_files::ensure_archives(project)?;
    let found = std::fs::symlink_metadata(path);
    if found.as_ref().is_ok_and(std::fs::Metadata::is_file) || found.is_err() {
        return Ok(());
    }
    let kept = exchange::set_aside(path, task_files::corrupt_paths(path)).map_err(Error::StateFile)?;
    let kept = kept.display().to_string();
    let failure = Failure::from(set_aside(task, &kept));
    let order = Order::new(Some(task), &Actor::Engine);
    orders::give(project, order, Command::Report(Outcome::FileCorrupt { kept, failure })).await.map(|_| ())
}

/// Returns the commits that the entries name, and those that were put up for review when they were written.
async fn find_commits(project: &Project, task: TaskId, archived: &Archived) -> Result<Vec<String>, Error> {
    let mut commits = Vec::new();
    let mut asked = 0;
    for name in find_commit_names(&archived.archived) {
        asked += usize::from(!name.is_called);
        if name.is_called || asked <= WORDS_ASKED_MAX && is_commit(project, &name.digits).await {
            commits.push(name.digits);
        }
    }
    commits.extend(find_heads(project, task, archived.first..=archived.last).await?);
    Ok(commits)
}

/// A word that git cannot resolve is not a commit; the archive contains it all the same.
async fn is_commit(project: &Project, digits: &str) -> bool {
    project.repository().resolve_commit(digits).await.is_ok_and(|found| found.is_some())
}

async fn find_heads(
    project: &Project,
    task: TaskId,
    entries: std::ops::RangeInclusive<u32>,
) -> Result<Vec<String>, Error> {
    let loaded = project.store().load(&task_stream(task), NO_SNAPSHOT).await?;
    let mut newest = 0;
    let mut heads = Vec::new();
    for recorded in &loaded.tail {
        match fact_of(recorded)?.event {
            Event::ProgressLogged { entry, .. } => newest = entry.number,
            Event::TaskCompleted { head, .. } if entries.contains(&newest) => {
                heads.push(head.short().to_owned());
            }
            _ => {}
        }
    }
    Ok(heads)
}

/// Explains that a state file cannot be read.
pub(super) fn unreadable(path: &Path, why: impl Into<String>) -> Error {
    Problem::new(
        Code::StateCorrupt,
        format!("{} cannot be read", path.display()),
        why,
        "open it in an editor that shows bytes, or restore an older version; it was not changed",
    )
    .into()
}

/// Explains that what was in the place of an archive was moved aside.
fn set_aside(task: TaskId, kept: &str) -> Problem {
    Problem::new(
        Code::StateCorrupt,
        format!("the archive of task #{task} was not read"),
        "it was a link or not a regular file, and links are not followed",
        format!(
            "a new archive was started; what was found is kept as {kept}: see where it leads, \
                         then delete it"
        ),
    )
    .with("kept", kept)
}
