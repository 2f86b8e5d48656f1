//! Makes the worktree of a task: branch, folder, copied files, set-up command.

use crate::commands::orders;
use crate::core::{Code, CommitId, Failure, Outcome, Problem, TaskId};
use crate::crash;
use crate::error::{Error, chain};
use crate::perform::Work;
use crate::runtime::engine;
use crate::runtime::stop_handle::StopHandle;
use crate::session::leftovers;
use crate::worktree::worktree_place;
use regatta_agents::{Limits, MARKER, StopReason, run_to_end};
use regatta_git::BranchName;
use std::path::Path;

/// Enough of a set-up command's output to see why it failed.
const SETUP_TAIL_BYTES_MAX: usize = 4_096;

pub(crate) async fn perform(
    work: &Work,
    task: TaskId,
    branch: &str,
    path: &str,
    base: &CommitId,
    stop_handle: &StopHandle,
) -> Result<(), Error> {
    crash::point("create_worktree.before");
    let place = work.project.place(path);
    let branch = BranchName::parse(branch).map_err(regatta_git::Error::from)?;
    let outcome = match make(work, task, &place, &branch, base, stop_handle).await {
        Ok(()) => Outcome::WorktreeCreated,
        Err(Unmade::Failed(problem)) => Outcome::WorktreeNotCreated(Failure::from(*problem)),
        // The next engine continues with it.
        Err(Unmade::Stopped(StopReason::Shutdown)) => return Ok(()),
        // The task is being cancelled: what exists is removed along with the rest of it.
        Err(Unmade::Stopped(_)) => Outcome::WorktreeCreated,
    };
    crash::point("create_worktree.after");
    work.settle(task, outcome).await
}

/// Why there is no worktree to work in.
enum Unmade {
    Failed(Box<Problem>),
    Stopped(StopReason),
}

async fn make(
    work: &Work,
    task: TaskId,
    place: &Path,
    branch: &BranchName,
    base: &CommitId,
    stop_handle: &StopHandle,
) -> Result<(), Unmade> {
    let start = orders::to_git(base).map_err(|error| Unmade::Failed(Box::new(error.explain())))?;
    let repository = work.project.repository();
    let explain = |error: Error| match error {
        Error::Git(error) => failed(task, place, &error),
        other => problem(task, place, chain(&other)),
    };
    let was_one = orders::get_task(&work.project, task).await.map_err(explain)?.sessions > 0;
    worktree_place::ensure(&work.project, place, branch, &start, was_one).await.map_err(explain)?;
    crash::point("create_worktree.made");
    let furnished = match repository.copy_into(&work.project.config().copy, place).await {
        Ok(_) => set_up(work, task, place, stop_handle).await,
        Err(error) => Err(failed(task, place, &error)),
    };
    let mut problem = match furnished {
        Err(Unmade::Failed(problem)) => problem,
        other => return other,
    };
    // Nobody has worked in it yet, so it is removed without a salvage.
    if let Err(error) = remove_again(work, place, branch).await {
        problem.why.push(format!("and it could not be removed again: {error}"));
    }
    Err(Unmade::Failed(problem))
}

/// Removes it, unless this engine slept through the set-up: another may have taken over and work there.
async fn remove_again(work: &Work, place: &Path, branch: &BranchName) -> Result<(), Error> {
    let turn = work.project.repository().take_turn().await?;
    engine::check_lease(&work.project, work.token).await?;
    Ok(work.project.repository().remove_in_turn(&turn, place, branch).await?)
}

async fn set_up(work: &Work, task: TaskId, place: &Path, stop_handle: &StopHandle) -> Result<(), Unmade> {
    let project = &work.project;
    let Some(command) = &project.config().setup else { return Ok(()) };
    let wall = project.config().setup_wall;
    let shown = command.join(" ");
    // Marked, so that what a killed engine left running is found and ended, and does not work beside this
    // one.
    let mark = project.setup_mark(task);
    if let Err(error) = leftovers::end(&mark, Limits::default().grace).await {
        return Err(problem(task, place, chain(&error)));
    }
    let environment = [(MARKER.to_owned(), work.name_start(&mark).to_string())];
    let report = tokio::select! {
        report = run_to_end(command, place, &environment, None, wall, SETUP_TAIL_BYTES_MAX) => report,
        reason = stop_handle.asked() => {
            // Dropping the command ends it; this makes sure that no process of it is left.
            return match leftovers::end(&mark, Limits::default().grace).await {
                Ok(_) => Err(Unmade::Stopped(reason)),
                Err(error) => Err(problem(task, place, chain(&error))),
            };
        }
    };
    let why = match report {
        Ok(report) if report.exit == Some(0) && !report.timed_out => return Ok(()),
        Ok(report) if report.timed_out => {
            format!("the setup command `{shown}` took more than {} s:\n{}", wall.as_secs(), report.tail)
        }
        Ok(report) => {
            let exit = report.exit.map_or_else(|| "a signal".to_owned(), |exit| format!("exit {exit}"));
            format!("the setup command `{shown}` exited with {exit}:\n{}", report.tail)
        }
        Err(error) => format!("the setup command `{shown}`: {}", chain(&error).join(": ")),
    };
    Err(problem(task, place, vec![why]))
}

fn failed(task: TaskId, place: &Path, error: &regatta_git::Error) -> Unmade {
    problem(task, place, chain(error))
}

fn problem(task: TaskId, place: &Path, why: Vec<String>) -> Unmade {
    let mut problem = Problem::new(
        Code::WorktreeCreationFailed,
        format!("the worktree of task #{task} was not created"),
        "",
        format!(
            "fix the cause, then `regatta task assign {task} --agent NAME` again; `regatta doctor` finds \
                 leftovers"
        ),
    )
    .with("path", place.display().to_string());
    problem.why = why;
    Unmade::Failed(Box::new(problem))
}
