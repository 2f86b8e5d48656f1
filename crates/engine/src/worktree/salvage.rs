//! Salvages: sets unmerged work aside before a worktree is removed, and brings it back.
//!
//! Every removal of a worktree passes through here, so that none happens without a salvage. Exactly what was
//! salvaged is removed, and only by an engine that still holds its lease: one that slept may have a successor
//! that works there by now.

use crate::commands::orders::{self, Caller};
use crate::commands::request::Request;
use crate::commands::round;
use crate::core::{Code, Problem, Salvage, Task, TaskId, Worktree};
use crate::crash;
use crate::error::Error;
use crate::project::Project;
use crate::runtime::engine;
use jiff::Timestamp;
use regatta_git::{BranchName, CommitId, RefName, RemovalStep, SalvageRequest};
use regatta_store::LeaseToken;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A process that still writes there after this many looks does not stop on its own.
const TRIES_MAX: u32 = 5;

/// A worktree to be removed.
#[derive(Debug, Clone)]
pub(crate) struct Removal {
    /// The owner of the work: the number of a task, or a name; its salvages are kept under that.
    pub(crate) owner: String,
    /// The folder; it may be gone.
    pub(crate) folder: PathBuf,
    /// Its branch, which is removed with it.
    pub(crate) branch: BranchName,
    /// Where the branch began.
    pub(crate) base: CommitId,
    /// The branch whose commits need not be kept.
    pub(crate) merged_into: BranchName,
    /// When the removal was decided; a repetition with the same time makes no second salvage.
    pub(crate) at: Timestamp,
    /// The commit message of a salvage.
    pub(crate) message: String,
}

/// Sets aside what is not merged, then removes the worktree with its branch, for the engine that holds the lease.
pub(crate) async fn set_aside_and_remove(
    project: &Project,
    token: LeaseToken,
    removal: &Removal,
) -> Result<Option<Salvage>, Error> {
    set_aside_and_remove_if(project, removal, || engine::check_lease(project, token)).await
}

/// Does the same for whoever may do it: `check` is called in the turn in which the worktree is removed, and no engine can make
/// or accept one there until that turn is over.
pub(crate) async fn set_aside_and_remove_if<C>(
    project: &Project,
    removal: &Removal,
    check: impl Fn() -> C,
) -> Result<Option<Salvage>, Error>
where
    C: Future<Output = Result<(), Error>>,
{
    let repository = project.repository();
    let request = request_of(project, removal)?;
    for _ in 0..TRIES_MAX {
        let salvaged = repository.set_aside(&request).await?;
        crash::point("remove_worktree.salvaged");
        // The order matters: no other engine can make a worktree during our turn, so a lease that is held now
        // is held until the folder is gone. The turn is released in between, since an engine that sleeps must
        // not keep its successor waiting.
        let turn = repository.take_turn().await?;
        check().await?;
        if repository.remove_salvaged(&turn, &request, &salvaged, crash_between).await? {
            return Ok(salvaged.salvage.map(to_core));
        }
    }
    Err(regatta_git::Error::WorktreeChanging { path: removal.folder.clone() }.into())
}

/// Sets aside what is not merged, and leaves the worktree as it is.
pub(crate) async fn set_aside(project: &Project, removal: &Removal) -> Result<Option<Salvage>, Error> {
    let request = request_of(project, removal)?;
    Ok(project.repository().set_aside(&request).await?.salvage.map(to_core))
}

fn request_of(project: &Project, removal: &Removal) -> Result<SalvageRequest, Error> {
    Ok(SalvageRequest {
        worktree: removal.folder.clone(),
        branch: removal.branch.clone(),
        base: removal.base.clone(),
        merged_into: removal.merged_into.clone(),
        prefix: prefix_of(&removal.owner)?,
        ignore: project.config().copy.clone(),
        author: orders::ourselves(removal.at),
        message: removal.message.clone(),
    })
}

fn crash_between(step: RemovalStep) {
    crash::point(match step {
        RemovalStep::MovedAside => "remove_worktree.moved_aside",
        RemovalStep::FolderRemoved => "remove_worktree.folder_removed",
        RemovalStep::EntryRemoved => "remove_worktree.entry_removed",
        RemovalStep::BranchRemoved => "remove_worktree.branch_removed",
    });
}

/// Finds the salvages of an owner's work, oldest first.
pub(crate) async fn find_salvages(project: &Project, owner: &str) -> Result<Vec<Salvage>, Error> {
    let found = project.repository().list_salvages(&prefix_of(owner)?).await?;
    Ok(found.into_iter().map(to_core).collect())
}

/// Finds the newest commit that was put up for review and is not merged: it is pinned, whatever happened to
/// the branch.
pub(crate) async fn find_reviewed(
    project: &Project,
    task: &Task,
    merged_into: &BranchName,
) -> Result<Option<CommitId>, Error> {
    let repository = project.repository();
    let head = match task.diff() {
        Some(diff) => Some(orders::to_git(&diff.head)?),
        None => {
            let name = RefName::parse(&format!("refs/regatta/review/{}", task.id));
            let pinned = repository.list_salvages(&name.map_err(regatta_git::Error::from)?).await?;
            pinned.into_iter().next_back().map(|newest| newest.commit)
        }
    };
    let Some(head) = head else { return Ok(None) };
    let is_merged = match repository.find_branch(merged_into).await? {
        Some(target) => repository.is_ancestor(&head, &target).await?,
        None => false,
    };
    let is_kept = task.salvages.iter().any(|salvage| salvage.commit == orders::from_git(&head));
    Ok(Some(head).filter(|_| !is_merged && !is_kept))
}

/// Says what is kept of a task's work when it is cancelled although its worktree is gone.
pub(crate) async fn find_what_is_left(
    project: &Project,
    task: &Task,
    worktree: &Worktree,
) -> Result<&'static str, Error> {
    let named = |name: &str| BranchName::parse(name).map_err(regatta_git::Error::from);
    if project.repository().find_branch(&named(&worktree.branch)?).await?.is_some() {
        return Ok("its branch is kept as a salvage");
    }
    Ok(match find_reviewed(project, task, &named(&worktree.target)?).await? {
        Some(_) => "its branch is gone too; what was last submitted for review is kept as a salvage",
        None => "its branch is gone too, so there is nothing to keep",
    })
}

/// Keeps a commit as a salvage of an owner's work.
pub(crate) async fn set_commit_aside(
    project: &Project,
    owner: &str,
    commit: &CommitId,
) -> Result<Salvage, Error> {
    Ok(to_core(project.repository().salvage_commit(&prefix_of(owner)?, commit).await?))
}

fn prefix_of(owner: &str) -> Result<RefName, Error> {
    let name = RefName::parse(&format!("refs/regatta/salvage/{owner}"));
    name.map_err(|error| Error::Git(error.into()))
}

fn to_core(salvage: regatta_git::Salvage) -> Salvage {
    Salvage { name: salvage.name.to_string(), commit: orders::from_git(&salvage.commit) }
}

/// A salvage that is on a branch again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Brought {
    /// The task.
    pub task_id: TaskId,
    /// The branch.
    pub branch: String,
    /// The ref that keeps it; it stays.
    #[serde(rename = "ref")]
    pub name: String,
    /// The commit.
    pub commit: String,
    /// Submodules' own commits; they are fetched from the project, not merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submodules: Vec<KeptSubmodule>,
}

/// A commit of a submodule that a salvage keeps.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptSubmodule {
    /// The submodule's path in the project.
    pub path: String,
    /// The commit, which is among the project's objects.
    pub commit: String,
}

/// A salvage, and what it keeps of submodules.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// The salvage.
    #[serde(flatten)]
    pub salvage: Salvage,
    /// Submodules' own commits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub submodules: Vec<KeptSubmodule>,
}

/// Returns what was set aside for a task, oldest first.
pub async fn list_salvages(project: &Project, task: TaskId) -> Result<Vec<Listed>, Error> {
    orders::get_task(project, task).await?;
    let mut listed = Vec::new();
    for salvage in find_salvages(project, &task.to_string()).await? {
        let kept = project.repository().list_kept_modules(&orders::to_git(&salvage.commit)?).await?;
        let render = |kept: regatta_git::KeptModule| KeptSubmodule {
            path: kept.name,
            commit: kept.commit.to_string(),
        };
        listed.push(Listed { salvage, submodules: kept.into_iter().map(render).collect() });
    }
    Ok(listed)
}

/// Puts a salvage, the newest unless a number is given, on a new branch.
pub async fn bring_back(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    number: Option<u32>,
    branch: Option<BranchName>,
) -> Result<Brought, Error> {
    let name = branch.as_ref().map(ToString::to_string);
    let request = Request::BringBack { task, number, branch: name.as_deref() };
    round::once(project, caller, &request, async || find_and_branch(project, task, number, branch).await)
        .await
}

async fn find_and_branch(
    project: &Project,
    task: TaskId,
    number: Option<u32>,
    branch: Option<BranchName>,
) -> Result<Brought, Error> {
    let salvages = list_salvages(project, task).await?;
    let number_of =
        |salvage: &Salvage| salvage.name.rsplit('/').next().and_then(|last| last.parse::<u32>().ok());
    let chosen = match number {
        Some(number) => salvages.iter().find(|listed| number_of(&listed.salvage) == Some(number)),
        None => salvages.last(),
    };
    let Some(Listed { salvage, submodules }) = chosen else {
        let number = number.map_or_else(|| "at all".to_owned(), |n| n.to_string());
        return Err(Problem::new(
            Code::SalvageNotFound,
            format!("task #{task} has no salvage {number}"),
            "a salvage is kept only of work that was not merged when the worktree was removed",
            format!("list its salvages with `regatta task salvage {task} --list`"),
        )
        .into());
    };
    let standard = format!("salvage/task-{task}-{}", number_of(salvage).unwrap_or(1));
    let branch = match branch {
        Some(branch) => branch,
        None => BranchName::parse(&standard).map_err(regatta_git::Error::from)?,
    };
    project.repository().create_branch(&branch, &orders::to_git(&salvage.commit)?).await?;
    Ok(Brought {
        task_id: task,
        branch: branch.to_string(),
        name: salvage.name.clone(),
        commit: salvage.commit.to_string(),
        submodules: submodules.clone(),
    })
}
