//! Repairs what the doctor found.
//!
//! Nothing is destroyed: a worktree or branch without an owner is salvaged before it is removed. While an engine runs, only what
//! the engine does not use is repaired.

use super::{Finding, Fix, place_of};
use crate::clock;
use crate::commands::accounts::{self, Closing};
use crate::commands::orders::{self, Order};
use crate::commands::seen::target_missing;
use crate::core::{Actor, Cleanup, Command, Outcome, Refusal, Salvage, Stage, TaskId};
use crate::error::Error;
use crate::log;
use crate::log::list;
use crate::project::Project;
use crate::runtime::engine;
use crate::runtime::holder::Holder;
use crate::session::planted;
use crate::task_files;
use crate::worktree::salvage::{Removal, set_aside_and_remove_if};
use regatta_git::BranchName;
use regatta_store::LeaseToken;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a process that nobody watches may take to end.
const PROCESS_GRACE: Duration = Duration::from_secs(5);

/// What is said of a finding that may be the engine's own work.
const WAITS: &str = "stop `regatta up`, then run `regatta doctor --fix`: the engine may be using it";

/// Repairs what can be repaired.
pub async fn repair(project: &Project, findings: &mut [Finding]) -> Result<(), Error> {
    match engine::take_lease(project, None).await {
        Ok(token) => repair_alone(project, token, findings).await,
        Err(Error::EngineAlreadyRunning(holder)) => repair_beside(project, &holder, findings).await,
        Err(error) => Err(error),
    }
}

async fn repair_alone(project: &Project, token: LeaseToken, findings: &mut [Finding]) -> Result<(), Error> {
    // Before lost sessions are closed: their worktrees are theirs until then.
    let mut result = planted::clean_up(project).await;
    for finding in findings.iter_mut() {
        let Some(fix) = finding.fix.clone() else { continue };
        match apply(project, token, &fix).await {
            Ok(()) => finding.fixed = true,
            Err(error) => result = Err(error),
        }
    }
    project.store().release_lease(&token).await?;
    result
}

/// Repairs what the running engine does not use, and says of the rest what to do.
async fn repair_beside(project: &Project, holder: &Holder, findings: &mut [Finding]) -> Result<(), Error> {
    let mut result = Ok(());
    for finding in findings.iter_mut() {
        let Some(fix) = finding.fix.clone() else { continue };
        match apply_beside(project, holder, &fix).await {
            Ok(()) => finding.fixed = true,
            Err(Error::EngineAlreadyRunning(_)) => WAITS.clone_into(&mut finding.next),
            Err(error) => result = Err(error),
        }
    }
    result
}

async fn apply(project: &Project, token: LeaseToken, fix: &Fix) -> Result<(), Error> {
    let check = || engine::check_lease(project, token);
    match fix {
        Fix::Remove { branch, place, task } => {
            remove_found(project, branch, place, *task, check).await.map(drop)
        }
        Fix::Report { task, branch, place } => remove_merged(project, *task, branch, place, check).await,
        Fix::EndProcess { session } => {
            let ended = regatta_agents::end_leftovers(session, PROCESS_GRACE).await;
            ended.map(|_| ()).map_err(|error| Error::Io {
                action: "end the process of",
                path: PathBuf::from(session.to_string()),
                source: std::io::Error::other(error),
            })
        }
        Fix::Close { subject } => accounts::close(project, token, subject, Closing::lost()).await,
        Fix::DeleteFile { path } => std::fs::remove_file(path).map_err(Error::io("delete", path)),
        Fix::TakeIn { path, task: Some(task) } => {
            task_files::sync(project, *task, &Actor::Engine).await?;
            match path.exists() {
                true => Err(Error::io("take in", path)(std::io::Error::other("a program still has it open"))),
                false => Ok(()),
            }
        }
        Fix::TakeIn { path, task: None } => task_files::keep_unowned(path),
        Fix::BuildList => list::build(project).await.map(|_| ()),
    }
}

/// Does the same while an engine runs; the error names it where it may be at work on the same thing.
async fn apply_beside(project: &Project, holder: &Holder, fix: &Fix) -> Result<(), Error> {
    let refuse_if = |is_used: bool| match is_used {
        true => Err(Error::EngineAlreadyRunning(Box::new(holder.clone()))),
        false => Ok(()),
    };
    match fix {
        Fix::Remove { branch, place, task: Some(task) } => {
            let check = || async { refuse_if(is_used(project, *task).await?) };
            remove_found(project, branch, place, Some(*task), check).await.map(drop)
        }
        Fix::Report { task, branch, place } => {
            let check = || async { refuse_if(!is_left_after_merge(project, *task).await?) };
            remove_merged(project, *task, branch, place, check).await
        }
        Fix::DeleteFile { path } => std::fs::remove_file(path).map_err(Error::io("delete", path)),
        Fix::BuildList => list::build(project).await.map(|_| ()),
        Fix::Remove { task: None, .. } | Fix::EndProcess { .. } | Fix::Close { .. } | Fix::TakeIn { .. } => {
            refuse_if(true)
        }
    }
}

/// Tells whether a task has a worktree, or is about to get or to lose one.
async fn is_used(project: &Project, task: TaskId) -> Result<bool, Error> {
    let is_at_work = |lane: &str| log::find_task(lane) == Some(task);
    if project.store().open_intents().await?.iter().any(|intent| is_at_work(&intent.lane)) {
        return Ok(true);
    }
    match orders::get_task(project, task).await {
        Ok(task) => Ok(place_of(project, &task).is_some()),
        Err(Error::Refused(Refusal::TaskNotFound { .. })) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn is_left_after_merge(project: &Project, task: TaskId) -> Result<bool, Error> {
    let stage = orders::get_task(project, task).await?.stage;
    Ok(matches!(stage, Stage::Verified(landed) if landed.cleanup == Cleanup::Failed))
}

/// Removes the worktree of a merged task, and reports so.
async fn remove_merged<C>(
    project: &Project,
    task: TaskId,
    branch: &BranchName,
    place: &Path,
    check: impl Fn() -> C,
) -> Result<(), Error>
where
    C: Future<Output = Result<(), Error>>,
{
    let salvage = remove_found(project, branch, place, Some(task), check).await?;
    let order = Order::new(Some(task), &Actor::Engine);
    orders::give(project, order, Command::Report(Outcome::WorktreeRemoved { salvage })).await.map(|_| ())
}

async fn remove_found<C>(
    project: &Project,
    branch: &BranchName,
    place: &Path,
    task: Option<TaskId>,
    check: impl Fn() -> C,
) -> Result<Option<Salvage>, Error>
where
    C: Future<Output = Result<(), Error>>,
{
    let target = project.config().default_branch.clone();
    let base = project.repository().find_branch(&target).await?;
    let base = base.ok_or_else(|| target_missing(&target))?;
    let removal = Removal {
        owner: task.map_or_else(|| "unknown".to_owned(), |task| task.to_string()),
        folder: place.to_owned(),
        branch: branch.clone(),
        base,
        merged_into: target,
        at: clock::now(),
        message: format!("Salvage of {branch}\n\nFound without an owner.\n"),
    };
    set_aside_and_remove_if(project, &removal, check).await
}
