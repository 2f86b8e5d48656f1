//! Reads the repository and a task's worktree before a command is decided; the result goes into the command.
//!
//! Nothing is decided here. Where a rule refuses regardless of what would be seen, nothing is read.

use crate::commands::orders::get_task;
use crate::core::{
    Code, CommitId, Diff, Problem, Review, ReviewPhase, Seen, Stage, Start, Task, TaskId, WorkPhase, Worktree,
};
use crate::error::Error;
use crate::project::Project;
use crate::view::work_diff::{commit_work, name_missing};
use crate::worktree::git_names::{from_git, to_git};
use regatta_git::BranchName;

/// Finds where a new branch would begin.
pub(crate) async fn see_start(project: &Project) -> Result<Start, Error> {
    let target = &project.config().default_branch;
    let head = project.repository().find_branch(target).await?;
    let head = head.ok_or_else(|| target_missing(target))?;
    let folder = project.config().worktrees.to_string_lossy().into_owned();
    Ok(Start { target: target.to_string(), base: from_git(&head), from: None, folder })
}

/// Reads the work under review; reads nothing when there is none, since the rule then refuses regardless.
pub(crate) async fn see_worktree(project: &Project, id: TaskId) -> Result<Seen, Error> {
    let nothing = Seen { head: None, dirty: Vec::new(), is_base_gone: false };
    let Some(review) = find_review(project, id).await? else { return Ok(nothing) };
    match look_at(project, id, &review).await {
        // The task was cancelled while we looked: the rule explains that better than git does.
        Err(_) if find_review(project, id).await?.is_none() => Ok(nothing),
        seen => seen,
    }
}

/// Finds the work of a task that is up for approval, if nothing is running on it.
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
    // `git status` does not show work in submodules.
    let work = repository.find_submodule_work(&place, &to_git(&review.worktree.base)?).await?;
    dirty.extend(work.into_iter().map(|work| work.path));
    let base = to_git(&review.diff.base)?;
    let is_base_gone = !holds(project, &review.worktree, &base).await?;
    Ok(Seen { head, dirty, is_base_gone })
}

/// Tells whether the target of a worktree contains a commit; if the target is gone, the merge reports that.
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

/// Commits what is left in the worktree of a task and returns the diff from its base; an empty one when there
/// is no work to put up, since the rule then refuses regardless.
pub(crate) async fn see_work(project: &Project, id: TaskId) -> Result<Diff, Error> {
    let Some(task) = find_work(project, id).await? else { return Ok(empty_diff()) };
    match commit_work(project, &task, &format!("Task #{id}: work up to its completion")).await {
        // The task was cancelled while we looked: the rule explains that better than git does.
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

/// Stands in for missing work.
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

/// Explains that the project has no commit to start from.
pub(crate) fn target_missing(branch: &BranchName) -> Error {
    Problem::new(
        Code::NotARepository,
        "there is nothing to start from",
        format!("the branch `{branch}` has no commit"),
        "make a first commit on it, or set another branch as `default_branch` in .regatta/config.toml",
    )
    .into()
}
