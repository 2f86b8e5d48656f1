//! The diff of a task, fetched from git.

use crate::commands::orders;
use crate::core::{Code, Problem, Stage, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::project::obeyed::Obeyed;
use regatta_git::ChangeKind;
use serde::Serialize;

/// Nobody reads more on a screen; git shows the rest.
const PATCH_BYTES_MAX: usize = 1024 * 1024;

/// A diff with its files and its text.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct DiffView {
    pub task_id: TaskId,
    pub base: String,
    pub head: String,
    pub digest: String,
    pub files_changed: usize,
    pub lines_added: u64,
    pub lines_removed: u64,
    pub files: Vec<FileView>,
    /// Those of the changed files that the engine obeys.
    pub obeyed_files: Vec<String>,
    /// Files in the worktree that are not committed yet.
    pub uncommitted: Vec<String>,
    /// What changed in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncommitted_diff: Option<UncommittedView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Whether the text was truncated.
    pub is_truncated: bool,
}

/// The work in a worktree that is not committed yet.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct UncommittedView {
    pub files: Vec<FileView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Whether the text was truncated.
    pub is_truncated: bool,
}

/// One file of a diff.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct FileView {
    pub path: String,
    pub status: String,
    pub lines_added: u64,
    pub lines_removed: u64,
    pub is_binary: bool,
}

/// Returns the diff under review, the merged one, or the commits so far of a task in progress; and what is
/// not committed.
pub async fn show_diff(project: &Project, id: TaskId) -> Result<DiffView, Error> {
    let task = orders::get_task(project, id).await?;
    let repository = project.repository();
    let Some(worktree) = task.worktree() else {
        return Err(no_diff(id));
    };
    let place = project.place(&worktree.path);
    let is_open = !matches!(task.stage, Stage::Verified(_)) && place.is_dir();
    let head = match task.diff() {
        Some(diff) => orders::to_git(&diff.head)?,
        None if is_open => repository.head_of_worktree(&place).await?,
        None => return Err(no_diff(id)),
    };
    let base = match task.diff() {
        Some(diff) => orders::to_git(&diff.base)?,
        None => orders::find_base(project, worktree, &head).await?,
    };
    let diff = repository.diff(&base, &head).await?;
    let patch = repository.patch(&base, &head, PATCH_BYTES_MAX).await?;
    let copy = &project.config().copy;
    let uncommitted = if is_open { repository.status(&place, copy).await? } else { Vec::new() };
    let uncommitted_diff = match uncommitted.is_empty() {
        // An agent may be working there: a worktree that cannot be read right now is no reason to show
        // nothing.
        false => repository.diff_uncommitted(&place, copy, PATCH_BYTES_MAX).await.unwrap_or_default(),
        true => None,
    };
    let file = |file: regatta_git::FileChange| FileView {
        path: file.path,
        status: name_of(file.status).to_owned(),
        lines_added: file.added,
        lines_removed: file.removed,
        is_binary: file.is_binary,
    };
    let obeyed = Obeyed::find_in(project).await;
    Ok(DiffView {
        obeyed_files: obeyed.find(diff.files.iter().map(|file| file.path.as_str())),
        task_id: id,
        base: base.to_string(),
        head: head.to_string(),
        digest: diff.digest,
        files_changed: diff.files.len(),
        lines_added: diff.lines_added,
        lines_removed: diff.lines_removed,
        files: diff.files.into_iter().map(file).collect(),
        uncommitted: uncommitted.into_iter().map(|entry| entry.path).collect(),
        uncommitted_diff: uncommitted_diff.map(|work| UncommittedView {
            files: work.files.into_iter().map(file).collect(),
            patch: Some(String::from_utf8_lossy(&work.patch.text).into_owned()),
            is_truncated: work.patch.is_truncated,
        }),
        patch: Some(String::from_utf8_lossy(&patch.text).into_owned()),
        is_truncated: patch.is_truncated,
    })
}

fn name_of(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "added",
        ChangeKind::Modified => "modified",
        ChangeKind::Deleted => "deleted",
        ChangeKind::TypeChanged => "typechanged",
    }
}

/// Explains that there is no diff to show.
pub(super) fn no_diff(task: TaskId) -> Error {
    Problem::new(
        Code::TaskNoDiff,
        format!("task #{task} has no diff to show"),
        "no work on it is in progress or merged",
        format!("see its state with `regatta task show {task}`"),
    )
    .with("taskId", task.number())
    .into()
}
