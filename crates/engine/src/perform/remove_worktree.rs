//! Removes the worktree and the branch of a task, after setting aside whatever is not merged.

use crate::commands::orders;
use crate::core::{Code, CommitId, Failure, Outcome, Problem, Salvage, TaskId};
use crate::crash;
use crate::error::{Error, chain};
use crate::perform::Work;
use crate::project::Project;
use crate::task_files;
use crate::worktree::salvage::{
    Removal, find_reviewed, find_salvages, set_aside_and_remove, set_commit_aside,
};
use regatta_git::BranchName;

/// Where the worktree is and what it came from.
pub(crate) struct Place {
    pub(crate) branch: String,
    pub(crate) path: String,
    pub(crate) base: CommitId,
    pub(crate) target: String,
}

pub(crate) async fn perform(work: &Work, task: TaskId, place: &Place) -> Result<(), Error> {
    crash::point("remove_worktree.before");
    let outcome = match remove(work, task, place).await {
        Ok(salvage) => Outcome::WorktreeRemoved { salvage },
        Err(Error::Git(error)) => Outcome::WorktreeNotRemoved(explain(task, &error)),
        Err(other) => return Err(other),
    };
    crash::point("remove_worktree.after");
    work.moves.note();
    work.settle(task, outcome).await?;
    // A killed engine may have left a private folder open. Its contents are found there too, so a failure does no
    // harm.
    let _ = task_files::close_private_folder(&work.project, task).await;
    work.keep_file(task).await
}

async fn remove(work: &Work, task: TaskId, place: &Place) -> Result<Option<Salvage>, Error> {
    let (project, at) = (&*work.project, work.at);
    let folder = project.place(&place.path);
    let was_there = folder.exists();
    let removal = Removal {
        owner: task.to_string(),
        folder,
        branch: BranchName::parse(&place.branch).map_err(regatta_git::Error::from)?,
        base: orders::to_git(&place.base)?,
        merged_into: BranchName::parse(&place.target).map_err(regatta_git::Error::from)?,
        at,
        message: format!("Salvage of task #{task}\n\nWhat was not merged when its worktree was removed.\n"),
    };
    let had_branch = project.repository().find_branch(&removal.branch).await?.is_some();
    match set_aside_and_remove(project, work.token, &removal).await? {
        None if !was_there => match find_unreported(project, task).await? {
            None if !had_branch => keep_reviewed(project, task, &removal).await,
            found => Ok(found),
        },
        salvage => Ok(salvage),
    }
}

/// Finds the salvage of an engine that was killed after it had removed the worktree and before it could
/// report so.
async fn find_unreported(project: &Project, task: TaskId) -> Result<Option<Salvage>, Error> {
    let reported = orders::get_task(project, task).await?.salvages;
    let mut found = find_salvages(project, &task.to_string()).await?.into_iter();
    Ok(found.rfind(|salvage| !reported.contains(salvage)))
}

/// Keeps the last reviewed state of a task whose folder and branch somebody else removed.
async fn keep_reviewed(project: &Project, task: TaskId, removal: &Removal) -> Result<Option<Salvage>, Error> {
    let found = orders::get_task(project, task).await?;
    match find_reviewed(project, &found, &removal.merged_into).await? {
        Some(head) => set_commit_aside(project, &removal.owner, &head).await.map(Some),
        None => Ok(None),
    }
}

fn explain(task: TaskId, error: &regatta_git::Error) -> Failure {
    let next = "fix the cause, then run `regatta doctor --fix`; nothing was lost".to_owned();
    let what = format!("the worktree of task #{task} was not removed");
    let problem = Problem::new(Code::WorktreeRemovalFailed, what, "", next);
    Failure::from(Problem { why: chain(error), ..problem })
}
