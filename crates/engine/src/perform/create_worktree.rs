//! Makes the worktree of a task: branch, folder, copied files, set-up command.

use super::{Work, leftovers};
use crate::core::{Code, CommitId, Failure, Outcome, Problem, TaskId};
use crate::crash;
use crate::error::{Error, chain};
use crate::orders;
use regatta_agents::{Limits, MARKER, run_to_end};
use regatta_git::BranchName;
use std::path::Path;

/// Enough of what a set-up command printed to see why it failed.
const SETUP_TAIL_BYTES_MAX: usize = 4_096;

pub(super) async fn perform(
    work: &Work,
    task: TaskId,
    branch: &str,
    path: &str,
    base: &CommitId,
) -> Result<(), Error> {
    crash::point("create_worktree.before");
    let place = work.project.place(path);
    let branch = BranchName::parse(branch).map_err(regatta_git::Error::from)?;
    let outcome = match make(work, task, &place, &branch, base).await {
        Ok(()) => Outcome::WorktreeCreated,
        Err(problem) => Outcome::WorktreeNotCreated(Failure::from(*problem)),
    };
    crash::point("create_worktree.after");
    work.settle(task, outcome).await
}

async fn make(
    work: &Work,
    task: TaskId,
    place: &Path,
    branch: &BranchName,
    base: &CommitId,
) -> Result<(), Box<Problem>> {
    let start = orders::to_git(base).map_err(|error| Box::new(error.explain()))?;
    let repository = work.project.repository();
    repository.ensure_worktree(place, branch, &start).await.map_err(|error| failed(task, place, &error))?;
    crash::point("create_worktree.made");
    let furnished = match repository.copy_into(&work.project.config().copy, place).await {
        Ok(_) => set_up(work, task, place).await,
        Err(error) => Err(failed(task, place, &error)),
    };
    let Err(mut problem) = furnished else { return Ok(()) };
    // Nothing has been worked on in it yet, so it goes as if it had never been.
    if let Err(error) = repository.remove_worktree(place, branch).await {
        problem.why.push(format!("and it could not be removed again: {error}"));
    }
    Err(problem)
}

async fn set_up(work: &Work, task: TaskId, place: &Path) -> Result<(), Box<Problem>> {
    let project = &work.project;
    let Some(command) = &project.config().setup else { return Ok(()) };
    let wall = project.config().setup_wall;
    let shown = command.join(" ");
    // Marked, so that an engine that was killed over it leaves nothing that works in the worktree beside this one.
    let mark = project.setup_mark(task);
    if let Err(error) = leftovers::end(&mark, Limits::default().grace).await {
        return Err(problem(task, place, chain(&error)));
    }
    let environment = [(MARKER.to_owned(), work.name_start(&mark).to_string())];
    let report = run_to_end(command, place, &environment, wall, SETUP_TAIL_BYTES_MAX).await;
    let why = match report {
        Ok(report) if report.exit == Some(0) && !report.timed_out => return Ok(()),
        Ok(report) if report.timed_out => {
            format!("the set-up command `{shown}` took more than {} s:\n{}", wall.as_secs(), report.tail)
        }
        Ok(report) => {
            let exit = report.exit.map_or_else(|| "a signal".to_owned(), |exit| format!("exit {exit}"));
            format!("the set-up command `{shown}` ended with {exit}:\n{}", report.tail)
        }
        Err(error) => format!("the set-up command `{shown}`: {}", chain(&error).join(": ")),
    };
    Err(problem(task, place, vec![why]))
}

fn failed(task: TaskId, place: &Path, error: &regatta_git::Error) -> Box<Problem> {
    problem(task, place, chain(error))
}

fn problem(task: TaskId, place: &Path, why: Vec<String>) -> Box<Problem> {
    let mut problem = Problem::new(
        Code::WorktreeCreationFailed,
        format!("the worktree of task #{task} was not made"),
        "",
        format!("mend the cause and `regatta task assign {task} --agent NAME` again; `regatta doctor` finds leftovers"),
    )
    .with("path", place.display().to_string());
    problem.why = why;
    Box::new(problem)
}
