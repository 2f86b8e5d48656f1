//! What a reviewer reads besides the task: the patch with renames, the lines around it, and whether the work has moved since.

use crate::commands::orders;
use crate::commands::seen;
use crate::core::{CommitId, Stage, Task, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::view::diff::no_diff;
use crate::worktree::git_names::from_git;
use regatta_git::{BranchName, Content};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A review of more is split, or read with git.
const PATCH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Lines further down in a file are not shown around a change.
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What is reviewed, and whether it is still what would be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct ReviewView {
    pub task_id: TaskId,
    /// Where the diff starts.
    pub base: CommitId,
    /// Where it ends; this is what is approved.
    pub head: CommitId,
    pub target: String,
    /// Where the target is now.
    pub target_head: Option<CommitId>,
    /// Where the task's branch is now, if a decision is waited for.
    pub branch_head: Option<CommitId>,
    /// Files in the worktree that are not committed.
    pub uncommitted: Vec<String>,
    /// Whether a decision is waited for.
    pub is_ready: bool,
}

impl ReviewView {
    /// Tells whether the branch or the worktree has something that is not in the diff.
    pub fn has_moved(&self) -> bool {
        self.is_ready && (self.branch_head.as_ref() != Some(&self.head) || !self.uncommitted.is_empty())
    }
}

/// A patch as people read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadablePatch {
    /// Its text; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// Whether there is more.
    pub is_truncated: bool,
}

/// Returns what is reviewed of a task; an error if it has no diff.
pub async fn show_review(project: &Project, id: TaskId) -> Result<ReviewView, Error> {
    let task = orders::get_task(project, id).await?;
    let Some(worktree) = task.worktree() else { return Err(no_diff(id)) };
    let (base, head) = find_ends(project, &task).await?;
    let target = BranchName::parse(&worktree.target).map_err(regatta_git::Error::from)?;
    let target_head = project.repository().find_branch(&target).await?.map(|head| from_git(&head));
    let is_ready = seen::find_review(project, id).await?.is_some();
    // A worktree that cannot be read right now is no reason to show nothing; the approval looks again.
    let seen = match is_ready {
        true => seen::see_worktree(project, id).await.ok(),
        false => None,
    };
    let (branch_head, uncommitted) = seen.map_or((None, Vec::new()), |seen| (seen.head, seen.dirty));
    let branch_head = branch_head.or_else(|| is_ready.then(|| head.clone()));
    let target = worktree.target.clone();
    Ok(ReviewView { task_id: id, base, head, target, target_head, branch_head, uncommitted, is_ready })
}

/// Finds the diff under review, the merged one, or the commits so far.
async fn find_ends(project: &Project, task: &Task) -> Result<(CommitId, CommitId), Error> {
    if let Some(diff) = task.diff() {
        return Ok((diff.base.clone(), diff.head.clone()));
    }
    let none = || no_diff(task.id);
    let worktree = task.worktree().ok_or_else(none)?;
    let place = project.place(&worktree.path);
    if matches!(task.stage, Stage::Backlog | Stage::Verified(_)) || !place.is_dir() {
        return Err(none());
    }
    let head = project.repository().head_of_worktree(&place).await?;
    let base = orders::find_base(project, worktree, &head).await?;
    Ok((from_git(&base), from_git(&head)))
}

/// Returns the patch between two commits of a review, with renames found.
pub async fn read_patch(project: &Project, base: &CommitId, head: &CommitId) -> Result<ReadablePatch, Error> {
    let (base, head) = (orders::to_git(base)?, orders::to_git(head)?);
    let patch = project.repository().patch_for_reading(&base, &head, PATCH_BYTES_MAX).await?;
    let text = String::from_utf8_lossy(&patch.text).into_owned();
    Ok(ReadablePatch { text, is_truncated: patch.is_truncated })
}

/// Returns the text of a file at a commit, or its beginning; nothing if there is none, or it is no text.
pub async fn read_text(project: &Project, commit: &CommitId, path: &str) -> Result<Option<String>, Error> {
    let Some(content) = read_content(project, commit, path, TEXT_BYTES_MAX).await? else { return Ok(None) };
    if content.bytes.contains(&0) {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&content.bytes).into_owned()))
}

/// Returns what is in a file at a commit, or its beginning; nothing if it is no file.
pub(crate) async fn read_content(
    project: &Project,
    commit: &CommitId,
    path: &str,
    bytes_max: usize,
) -> Result<Option<Content>, Error> {
    let (repository, commit) = (project.repository(), orders::to_git(commit)?);
    let path = PathBuf::from(path);
    let found = repository.find_entries(&commit, std::slice::from_ref(&path)).await?;
    let Some(entry) = found.get::<Path>(&path) else { return Ok(None) };
    Ok(repository.read_entry(entry, bytes_max).await?)
}
