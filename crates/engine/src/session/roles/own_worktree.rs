//! The worktree of a role that works on no task: made for one step, and removed after it with a salvage.

use crate::commands::orders;
use crate::core::run::Run;
use crate::core::{Start, Worktree};
use crate::error::Error;
use crate::perform::Work;
use crate::project::Project;
use crate::runs::claim;
use crate::worktree::salvage::{Removal, set_aside_and_remove};
use crate::worktree::worktree_place;
use regatta_git::BranchName;

/// Describes the worktree of a run's current step.
pub(super) fn describe(project: &Project, run: &Run, start: Start) -> Worktree {
    let (branch, path) = (format!("run/{}-{}", run.id, run.step_name()), path_of(project, run));
    Worktree { branch, target: start.target, base: start.base, path }
}

fn path_of(project: &Project, run: &Run) -> String {
    let name = format!("run-{}-step-{}", run.id, run.step_name());
    project.config().worktrees.join(name).to_string_lossy().into_owned()
}

/// Makes the worktree. An engine that was killed while removing it left the branch, which is removed last.
pub(super) async fn ensure(work: &Work, run: &Run, worktree: &Worktree) -> Result<(), Error> {
    let project = &work.project;
    let (folder, base) = (project.place(&worktree.path), orders::to_git(&worktree.base)?);
    let (branch, was_one) = (orders::branch_of(worktree)?, was_one(project, run));
    match worktree_place::ensure(project, &folder, &branch, &base, was_one).await {
        Err(Error::Git(regatta_git::Error::BranchTaken { .. })) if was_one => {
            remove(work, run, worktree).await?;
            Ok(project.repository().ensure_worktree(&folder, &branch, &base).await?)
        }
        other => other,
    }
}

/// Removes the worktree, if an earlier engine made it and this one does not perform the step.
pub(super) async fn remove_left(work: &Work, run: &Run) -> Result<(), Error> {
    let project = &work.project;
    if !project.place(path_of(project, run)).is_dir() && !was_one(project, run) {
        return Ok(());
    }
    let start = claim::see_start(project, run).await?;
    remove(work, run, &describe(project, run, start)).await
}

/// Sets aside what is in the worktree, and removes it with its branch.
pub(super) async fn remove(work: &Work, run: &Run, worktree: &Worktree) -> Result<(), Error> {
    let removal = Removal {
        owner: format!("run-{}", run.id),
        folder: work.project.place(&worktree.path),
        branch: orders::branch_of(worktree)?,
        base: orders::to_git(&worktree.base)?,
        merged_into: BranchName::parse(&worktree.target).map_err(regatta_git::Error::from)?,
        at: work.at,
        message: format!("Salvage of run {}, step {}\n", run.id, run.step),
    };
    set_aside_and_remove(&work.project, work.token, &removal).await.map(|_| ())
}

/// Tells whether a branch of that name was ours, as a transcript or a recording proves.
fn was_one(project: &Project, run: &Run) -> bool {
    project.transcript_of_step(run.id, &run.step_name()).exists() || run.recording.is_some()
}
