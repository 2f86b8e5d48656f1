//! What is seen of the repository and of a task's worktree before a command is decided; it goes into the command.
//!
//! Nothing is decided here. Where a rule refuses before it looks at what was seen, nothing is looked at.

use crate::commands::orders::get_task;
use crate::core::{
    CommitId, Diff, Review, ReviewPhase, Seen, Stage, Start, Task, TaskId, WorkPhase, Worktree,
};
use crate::error::Error;
use crate::project::Project;
use crate::view::work_diff::{commit_work, name_missing};
use crate::worktree::git_names::{from_git, to_git};
use regatta_git::BranchName;

/// Looks at where a new branch would begin.
pub(crate) async fn see_start(project: &Project) -> Result<Start, Error> {
    let target = &project.config().default_branch;
    let head = project.repository().find_branch(target).await?;
    let head = head.ok_or_else(|| Error::TargetMissing { branch: target.to_string() })?;
    let folder = project.config().worktrees.to_string_lossy().into_owned();
    Ok(Start { target: target.to_string(), base: from_git(&head), from: None, folder })
}

/// Looks at the work under review; at nothing when there is none, since the rule refuses before it looks at this.
pub(crate) async fn see_worktree(project: &Project, id: TaskId) -> Result<Seen, Error> {
    let nothing = Seen { head: None, dirty: Vec::new(), is_base_gone: false };
    let Some(review) = find_review(project, id).await? else { return Ok(nothing) };
    match look_at(project, id, &review).await {
        // It was cancelled while we looked: the rule says so better than git does.
        Err(_) if find_review(project, id).await?.is_none() => Ok(nothing),
        seen => seen,
    }
}

/// Finds the work of a task that is up for approval, with nothing under way.
pub(crate) async fn find_review(project: &Project, id: TaskId) -> Result<Option<Review>, Error> {
    Ok(match get_task(project, id).await?.stage {
        Stage::WaitingApproval(review) if review.phase == ReviewPhase::Ready => Some(*review),
        _ => None,
    })
}

async fn look_at(project: &Project, id: TaskId, review: &Review) -> Result<Seen, Error> {
    let repository = project.repository();
    let branch = regatta_git::BranchName::parse(&review.worktree.branch).map_err(regatta_git::Error::from)?;
    let head = repository.find_branch(&branch).await?.map(|head| from_git(&head));
    let place = project.place(&review.worktree.path);
    let entries = repository.status(&place, &project.config().copy).await;
    let entries = entries.map_err(|error| name_missing(id, &review.worktree, error))?;
    let mut dirty: Vec<String> = entries.into_iter().map(|entry| entry.path).collect();
    // A status says nothing of what lies in submodules.
    let work = repository.find_submodule_work(&place, &to_git(&review.worktree.base)?).await?;
    dirty.extend(work.into_iter().map(|work| work.path));
    let base = to_git(&review.diff.base)?;
    let is_base_gone = !holds(project, &review.worktree, &base).await?;
    Ok(Seen { head, dirty, is_base_gone })
}

/// Tells whether the target of a worktree holds a commit; one that is gone altogether is left to the merge to report.
async fn holds(
    project: &Project,
    worktree: &Worktree,
    commit: &regatta_git::CommitId,
) -> Result<bool, Error> {
    let target = BranchName::parse(&worktree.target).map_err(regatta_git::Error::from)?;
    match project.repository().find_branch(&target).await? {
        Some(target) => Ok(project.repository().is_ancestor(commit, &target).await?),
        None => Ok(true),
    }
}

/// Commits what is left in the worktree of a task and returns the diff from its base; an empty one when there is no
/// work to put up, since the rule refuses before it looks at this.
pub(crate) async fn see_work(project: &Project, id: TaskId) -> Result<Diff, Error> {
    let Some(task) = find_work(project, id).await? else { return Ok(empty_diff()) };
    match commit_work(project, &task, &format!("Task #{id}: work up to its completion")).await {
        // It was cancelled while we looked: the rule says so better than git does.
        Err(_) if find_work(project, id).await?.is_none() => Ok(empty_diff()),
        diff => diff,
    }
}

/// Finds a task with work that can be put up for approval now.
pub(crate) async fn find_work(project: &Project, id: TaskId) -> Result<Option<Task>, Error> {
    let task = get_task(project, id).await?;
    let is_open = matches!(
        &task.stage,
        Stage::InProgress(work) if matches!(
            work.phase,
            WorkPhase::Running { .. }
                | WorkPhase::Driven { session: None, .. }
                | WorkPhase::Parked { .. }
                | WorkPhase::Halted
                | WorkPhase::ByHand
        )
    );
    Ok(is_open.then_some(task))
}

/// Stands for work that there is not.
pub(crate) fn empty_diff() -> Diff {
    let nothing: CommitId = "0".repeat(40).parse().expect("forty zeros are a commit id");
    let (base, head) = (nothing.clone(), nothing);
    Diff {
        files_changed: 0,
        lines_added: 0,
        lines_removed: 0,
        digest: String::new(),
        base,
        head,
        obeyed_files: Vec::new(),
    }
}
