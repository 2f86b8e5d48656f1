//! Removes the worktree and the branch of a task, after setting aside whatever is not merged.

use super::Work;
use crate::core::{Code, CommitId, Failure, Outcome, Problem, Salvage, TaskId};
use crate::crash;
use crate::error::{Error, chain};
use crate::orders;
use crate::project::Project;
use jiff::Timestamp;
use regatta_git::{BranchName, RefName, SalvageRequest};

/// Where the worktree is and what it came from.
pub(super) struct Place {
    pub(super) branch: String,
    pub(super) path: String,
    pub(super) base: CommitId,
    pub(super) target: String,
}

pub(super) async fn perform(work: &Work, task: TaskId, place: &Place) -> Result<(), Error> {
    crash::point("remove_worktree.before");
    let outcome = match remove(&work.project, work.at, task, place).await {
        Ok(salvage) => Outcome::WorktreeRemoved { salvage },
        Err(Error::Git(error)) => Outcome::WorktreeNotRemoved(explain(task, &error)),
        Err(other) => return Err(other),
    };
    crash::point("remove_worktree.after");
    work.settle(task, outcome).await?;
    work.keep_file(task).await
}

async fn remove(
    project: &Project,
    at: Timestamp,
    task: TaskId,
    place: &Place,
) -> Result<Option<Salvage>, Error> {
    let repository = project.repository();
    let branch = BranchName::parse(&place.branch).map_err(regatta_git::Error::from)?;
    let folder = project.place(&place.path);
    let prefix = RefName::parse(&format!("refs/regatta/salvage/{task}")).map_err(regatta_git::Error::from)?;
    let request = SalvageRequest {
        worktree: folder.clone(),
        branch: branch.clone(),
        base: orders::to_git(&place.base)?,
        merged_into: BranchName::parse(&place.target).map_err(regatta_git::Error::from)?,
        prefix: prefix.clone(),
        ignore: project.config().copy.clone(),
        author: orders::ourselves(at),
        message: format!("Salvage of task #{task}\n\nWhat was not merged when its worktree was removed.\n"),
    };
    let was_there = folder.exists();
    let salvage = repository.salvage(&request).await?;
    crash::point("remove_worktree.salvaged");
    repository.remove_worktree(&folder, &branch).await?;
    match salvage.map(to_core) {
        None if !was_there => find_unreported(project, task, &prefix).await,
        salvage => Ok(salvage),
    }
}

/// Finds what an engine set aside that was killed after it had removed the worktree and before it could say so.
async fn find_unreported(
    project: &Project,
    task: TaskId,
    prefix: &RefName,
) -> Result<Option<Salvage>, Error> {
    let reported = orders::get_task(project, task).await?.salvages;
    let mut found = project.repository().list_salvages(prefix).await?.into_iter().map(to_core);
    Ok(found.rfind(|salvage| !reported.contains(salvage)))
}

fn to_core(salvage: regatta_git::Salvage) -> Salvage {
    Salvage { name: salvage.name.to_string(), commit: orders::from_git(&salvage.commit) }
}

fn explain(task: TaskId, error: &regatta_git::Error) -> Failure {
    let next = "mend the cause, then `regatta doctor --fix`; nothing in it was lost".to_owned();
    let what = format!("the worktree of task #{task} was not removed");
    let problem = Problem::new(Code::WorktreeRemovalFailed, what, "", next);
    Failure::from(Problem { why: chain(error), ..problem })
}
