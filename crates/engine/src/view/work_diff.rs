//! The work in a worktree as a commit and its diff: where the diff begins, and what cannot be merged.

use crate::clock;
use crate::core::{Diff, Refusal, Task, TaskId, Worktree};
use crate::error::Error;
use crate::project::Project;
use crate::project::obeyed::Obeyed;
use crate::worktree::git_names::{author_of, from_git, ourselves, to_git};
use regatta_git::{BranchName, Signature};

/// Commits what is left in the worktree of a task, in the name of whoever has it, and returns the diff from its base.
pub(crate) async fn commit_work(project: &Project, task: &Task, message: &str) -> Result<Diff, Error> {
    let author = author_of(task, clock::now());
    commit_work_as(project, task, &author, message).await
}

/// Commits what is left in the worktree of a task, and returns the diff from its base.
pub(crate) async fn commit_work_as(
    project: &Project,
    task: &Task,
    author: &Signature,
    message: &str,
) -> Result<Diff, Error> {
    // Another process may have cancelled it since the caller began.
    let gone = || Error::Refused(Refusal::TaskBusy { task: task.id, doing: "it has no worktree any more" });
    let worktree = task.worktree().ok_or_else(gone)?;
    let repository = project.repository();
    let place = project.place(&worktree.path);
    repository
        .commit_all(&place, &project.config().copy, author, &ourselves(author.at), message)
        .await
        .map_err(|error| name_missing(task.id, worktree, error))?;
    let head = repository.head_of_worktree(&place).await?;
    let base = find_base(project, worktree, &head).await?;
    refuse_unmergeable(project, task.id, worktree, &base, &head).await?;
    let diff = repository.diff(&base, &head).await?;
    let obeyed = Obeyed::find_in(project).await;
    Ok(Diff {
        obeyed_files: obeyed.find(diff.files.iter().map(|file| file.path.as_str())),
        files_changed: diff.files.len() as u64,
        lines_added: diff.lines_added,
        lines_removed: diff.lines_removed,
        digest: diff.digest,
        base: from_git(&base),
        head: from_git(&head),
    })
}

/// Finds where the diff of a worktree begins: where it was made from, or what of the target was merged into it since, so
/// that the work of others is not shown as its own. Of a target that was reset, the diff shows all that a merge would bring.
pub(crate) async fn find_base(
    project: &Project,
    worktree: &Worktree,
    head: &regatta_git::CommitId,
) -> Result<regatta_git::CommitId, Error> {
    let begun = to_git(&worktree.base)?;
    let target = BranchName::parse(&worktree.target).map_err(regatta_git::Error::from)?;
    let Some(target) = project.repository().find_branch(&target).await? else { return Ok(begun) };
    let repository = project.repository();
    let Some(met) = repository.find_merge_base(&target, head).await? else { return Ok(begun) };
    // Work of its own that is merged already came in from the side, and is still shown.
    let is_of_target = !repository.is_ancestor(&begun, &target).await?
        || repository.is_in_line(&begun, &target, &met).await?;
    Ok(if is_of_target { met } else { begun })
}

/// Refuses work that could not be merged, or of which a part would go with the worktree.
async fn refuse_unmergeable(
    project: &Project,
    task: TaskId,
    worktree: &Worktree,
    base: &regatta_git::CommitId,
    head: &regatta_git::CommitId,
) -> Result<(), Error> {
    let (repository, path) = (project.repository(), project.place(&worktree.path));
    let work = repository.find_submodule_work(&path, base).await?;
    if !work.is_empty() {
        return Err(Error::SubmoduleChanged { task, path, work });
    }
    let target = BranchName::parse(&worktree.target).map_err(regatta_git::Error::from)?;
    if let Some(tip) = repository.find_branch(&target).await?
        && repository.find_merge_base(head, &tip).await?.is_none()
    {
        let (branch, target) = (worktree.branch.clone(), worktree.target.clone());
        return Err(Error::UnrelatedHistory { task, branch, target });
    }
    Ok(())
}

/// Says whose worktree it is that was deleted.
pub(crate) fn name_missing(task: TaskId, worktree: &Worktree, error: regatta_git::Error) -> Error {
    match error {
        regatta_git::Error::WorktreeGone { path } => {
            Error::WorktreeMissing { task, path, branch: worktree.branch.clone() }
        }
        other => Error::Git(other),
    }
}
