//! A role that may not write, working in the worktree of a task.
//!
//! In a sandbox its worktree is read-only. Without a sandbox, or if something got around it, its changes are
//! kept as a salvage, reported, and removed from the worktree, so that they are not merged with the work
//! under review.

use crate::clock;
use crate::commands::orders;
use crate::core::{Outcome, Start, Task, Worktree};
use crate::error::Error;
use crate::project::Project;
use crate::session::role::RoleRequest;
use crate::worktree::salvage::{Removal, set_aside};
use regatta_git::{BranchName, CommitId};
use std::path::Path;

/// Returns the commit that the worktree has to stand at when the role is done.
///
/// What a person left there before the session is work, and is committed. If an engine was killed during the
/// session, the origin of the changes is unknown, and only what the run has recorded counts.
pub(crate) async fn find_start(
    ask: &RoleRequest<'_>,
    task: &Task,
    is_repeated: bool,
) -> Result<CommitId, Error> {
    if !is_repeated {
        let message = format!("Task #{}: work before `{}` looks at it", task.id, ask.role);
        return orders::to_git(&orders::commit_work(ask.project, task, &message).await?.head);
    }
    let recorded = ask.run.item.as_ref().and_then(|item| ask.run.heads.get(item));
    let base = task.worktree().map(|worktree| &worktree.base);
    match recorded.or(base) {
        Some(commit) => orders::to_git(commit),
        None => orders::to_git(&orders::commit_work(ask.project, task, "").await?.head),
    }
}

/// Returns where a member that only reads a task starts: at what the task's branch stands at. It has a worktree of its own,
/// because another member may be changing that of the task.
pub(crate) async fn find_start_beside(ask: &RoleRequest<'_>) -> Result<Option<Start>, Error> {
    let member = ask.run.member.as_ref().filter(|_| ask.run.item.is_none());
    let Some(item) = member.and_then(|member| member.item.as_ref()) else { return Ok(None) };
    let Some(task) = ask.run.tasks.get(item) else { return Ok(None) };
    let task = orders::get_task(ask.project, *task).await?;
    let Some(worktree) = task.worktree() else { return Ok(None) };
    let head = ask.project.repository().find_branch(&orders::branch_of(worktree)?).await?;
    let (target, folder) = (worktree.target.clone(), String::new());
    Ok(head.map(|head| Start { target, base: orders::from_git(&head), from: None, folder }))
}

/// Keeps what the role changed as a salvage, reports it, and restores the worktree.
pub(crate) async fn undo(
    ask: &RoleRequest<'_>,
    worktree: &Worktree,
    (task, session): (&Task, u32),
    start: &CommitId,
) -> Result<(), Error> {
    let project = ask.project;
    let (folder, branch) = (project.place(&worktree.path), orders::branch_of(worktree)?);
    if !is_changed(project, &folder, &branch, start).await? {
        return Ok(());
    }
    let removal = Removal {
        owner: task.id.to_string(),
        folder: folder.clone(),
        branch: branch.clone(),
        base: start.clone(),
        merged_into: BranchName::parse(&worktree.target).map_err(regatta_git::Error::from)?,
        at: clock::now(),
        message: format!("What `{}` changed in session {session} of task #{}\n", ask.role, task.id),
    };
    let salvage = set_aside(project, &removal).await?;
    project.repository().restore_worktree(&folder, &branch, start, &project.config().copy).await?;
    match salvage {
        Some(salvage) => ask.work.note(task.id, Outcome::RoleWrote { session, salvage }).await,
        None => Ok(()),
    }
}

async fn is_changed(
    project: &Project,
    folder: &Path,
    branch: &BranchName,
    start: &CommitId,
) -> Result<bool, Error> {
    let repository = project.repository();
    // What was committed in a sandbox is known only once it is taken in.
    repository.take_in(folder).await?;
    let head = repository.head_of_worktree(folder).await?;
    let tip = repository.find_branch(branch).await?;
    Ok(head != *start
        || tip.as_ref() != Some(start)
        || !repository.status(folder, &project.config().copy).await?.is_empty())
}
