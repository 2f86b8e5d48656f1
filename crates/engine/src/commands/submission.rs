//! What a person submits: everything in the worktree of a task, committed on its branch.
//!
//! A person may have merged, edited or committed there. What is not finished (conflict markers, a rebase under way) is
//! refused before anything is committed.

use crate::clock;
use crate::commands::orders;
use crate::core::{Actor, Diff, Refusal, Stage, Task, TaskId};
use crate::error::Error;
use crate::project::Project;
use regatta_git::{BranchName, Signature, StatusEntry};
use std::path::Path;

/// A conflict marker of git, at the beginning of a line.
const MARKER: &[u8] = b"<<<<<<< ";

/// Commits what is in the worktree and returns the diff; an empty one when there is nothing to submit, since the rule
/// refuses before it looks at this.
pub(crate) async fn see(project: &Project, id: TaskId, actor: &Actor) -> Result<Diff, Error> {
    let Some(task) = find(project, id).await? else { return Ok(orders::empty_diff()) };
    match commit(project, &task, actor).await {
        // It was cancelled while we looked: the rule says so better than git does.
        Err(error) if !matches!(error, Error::Refused(_)) && find(project, id).await?.is_none() => {
            Ok(orders::empty_diff())
        }
        diff => diff,
    }
}

async fn find(project: &Project, id: TaskId) -> Result<Option<Task>, Error> {
    if orders::find_review(project, id).await?.is_some() {
        return orders::get_task(project, id).await.map(Some);
    }
    orders::find_work(project, id).await
}

async fn commit(project: &Project, task: &Task, actor: &Actor) -> Result<Diff, Error> {
    check_is_finished(project, task).await?;
    let message = format!("Task #{}: submitted by {actor}", task.id);
    let author = author_of(task, actor);
    orders::commit_work_as(project, task, &author, &message).await
}

/// What changed after a review began is by whoever submits it; before that it is mostly by the agent.
fn author_of(task: &Task, actor: &Actor) -> Signature {
    let at = clock::now();
    match (actor, &task.stage) {
        (Actor::User(name), Stage::WaitingApproval(_)) => {
            Signature { name: name.clone(), email: format!("{name}@people.invalid"), at }
        }
        _ => orders::author_of(task, at),
    }
}

async fn check_is_finished(project: &Project, task: &Task) -> Result<(), Error> {
    let Some(worktree) = task.worktree() else { return Ok(()) };
    let (repository, place) = (project.repository(), project.place(&worktree.path));
    let branch = BranchName::parse(&worktree.branch).map_err(|error| Error::Git(error.into()))?;
    let head = repository.head_of_worktree(&place).await?;
    if repository.find_branch(&branch).await?.as_ref() != Some(&head) {
        let refusal = Refusal::OffBranch { task: task.id, branch: worktree.branch.clone() };
        return Err(Error::Refused(refusal));
    }
    let entries = repository.status(&place, &project.config().copy).await?;
    let files: Vec<String> =
        entries.into_iter().filter(|entry| has_markers(&place, entry)).map(|entry| entry.path).collect();
    if files.is_empty() {
        return Ok(());
    }
    Err(Error::Refused(Refusal::ConflictLeft { task: task.id, files }))
}

/// Tells whether git still holds a path for unmerged, and its file for unresolved.
fn has_markers(place: &Path, entry: &StatusEntry) -> bool {
    let is_unmerged = entry.code.contains('U') || ["AA", "DD"].contains(&entry.code.as_str());
    let path = place.join(&entry.place);
    let is_file = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    is_unmerged
        && is_file
        && std::fs::read(&path)
            .is_ok_and(|bytes| bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(MARKER)))
}
