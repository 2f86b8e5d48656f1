//! Runs the project's checks in the worktree of a completed task, and keeps their output as evidence.
//!
//! An agent's word that something works is a claim; what the engine itself has seen at a named commit is
//! evidence. A check runs in the same kind of sandbox as the agent whose work it examines.

use crate::commands::orders;
use crate::core::{Code, CommitId, Evidence, Failure, Outcome, Problem, TaskId};
use crate::crash;
use crate::error::{Error, chain};
use crate::perform::Work;
use crate::runtime::stop_handle::StopHandle;
use crate::session::planted;
use crate::session::sandbox::{self, Enclosure, NotEnclosed};
use crate::session::worker::Worker;
use crate::session::{leftovers, session_entry};
use regatta_agents::{Limits, MARKER, StopReason, run_to_end};
use regatta_git::BranchName;
use std::path::Path;

/// Enough of a check's output to see why it failed.
const TAIL_BYTES_MAX: usize = 4_096;

pub(crate) async fn perform(
    work: &Work,
    task: TaskId,
    commit: &CommitId,
    names: &[String],
    stop_handle: &StopHandle,
) -> Result<(), Error> {
    crash::point("run_checks.before");
    let outcome = tokio::select! {
        outcome = check(work, task, commit, names) => outcome?,
        reason = stop_handle.asked() => {
            // Dropping the check ends it; this makes sure that no process of it is left.
            let ended = leftovers::end(&work.project.check_mark(task), Limits::default().grace).await;
            match (reason, ended) {
                // The next engine runs them again.
                (StopReason::Shutdown, _) => return Ok(()),
                (_, Ok(_)) => not_run(task, vec!["they were stopped".to_owned()]),
                (_, Err(error)) => not_run(task, chain(&error)),
            }
        }
    };
    session_entry::amend(&work.project, task, &outcome).await?;
    crash::point("run_checks.after");
    work.settle(task, outcome).await
}

async fn check(work: &Work, task: TaskId, commit: &CommitId, names: &[String]) -> Result<Outcome, Error> {
    Ok(match run_all(work, task, names).await? {
        Some(results) => Outcome::ChecksRan { commit: commit.clone(), results },
        None => not_run(task, vec!["its worktree is gone".to_owned()]),
    })
}

/// Runs checks in the worktree of a task, one after the other; nothing if it has none.
pub(crate) async fn run_all(
    work: &Work,
    task: TaskId,
    names: &[String],
) -> Result<Option<Vec<Evidence>>, Error> {
    let found = orders::get_task(&work.project, task).await?;
    let Some(worktree) = found.worktree() else { return Ok(None) };
    let (place, branch) = (work.project.place(&worktree.path), orders::branch_of(worktree)?);
    if !place.is_dir() {
        return Ok(None);
    }
    let worker = Worker {
        agent_id: found.agent().cloned(),
        session: found.sessions,
        task_id: Some(task),
        step: None,
        step_name: None,
    };
    let mut results = Vec::new();
    for name in names {
        results.push(run(work, (task, &worker), (&place, &branch), name).await);
    }
    sandbox::remove_private(&work.project, &work.project.check_mark(task));
    Ok(Some(results))
}

async fn run(
    work: &Work,
    (task, worker): (TaskId, &Worker),
    (place, branch): (&Path, &BranchName),
    name: &str,
) -> Evidence {
    let failed =
        |tail: String| Evidence { name: name.to_owned(), passed: false, exit: None, milliseconds: 0, tail };
    let Some(command) = work.project.config().checks.get(name) else {
        return failed("the config no longer has this check".to_owned());
    };
    // Marked, so that a check that outlived a killed engine does not run beside this one.
    let mark = work.project.check_mark(task);
    if let Err(error) = leftovers::end(&mark, Limits::default().grace).await {
        return failed(chain(&error).join(": "));
    }
    let id = work.name_start(&mark).to_string();
    // A check runs what the agent wrote, so it runs in a sandbox like the agent.
    let enclosure = match enclose(work, &id, (place, branch), command).await {
        Ok(enclosure) => enclosure,
        Err(error) => return failed(chain(&error).join(": ")),
    };
    if let Err(error) = planted::prepare(&work.project, place, worker).await {
        return failed(chain(&error).join(": "));
    }
    let environment = [(MARKER.to_owned(), id)];
    let wall = work.project.config().check_wall;
    let sandbox = enclosure.as_ref().and_then(|enclosure| enclosure.sandbox.as_ref());
    let ran = run_to_end(command, place, &environment, sandbox, wall, TAIL_BYTES_MAX).await;
    let planted = planted::remove(&work.project, place).await;
    match ran {
        Ok(report) => Evidence {
            name: name.to_owned(),
            passed: report.exit == Some(0) && !report.timed_out,
            exit: report.exit,
            milliseconds: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
            tail: match planted {
                Some(what) => {
                    format!("{}\n[regatta: the check was denied {what}]\n", report.tail.trim_end())
                }
                None => report.tail,
            },
        },
        Err(error) => failed(chain(&error).join(": ")),
    }
}

async fn enclose(
    work: &Work,
    id: &str,
    (folder, branch): (&Path, &BranchName),
    command: &[String],
) -> Result<Option<Enclosure>, NotEnclosed> {
    let private = &sandbox::make_private(&work.project, id, id)?;
    let (task, home, login, writes, is_home_private) = (None, None, None, true, false);
    sandbox::enclose(
        &work.project,
        &sandbox::Place { folder, branch, private, task, command, home, login, writes, is_home_private },
    )
    .await
}

fn not_run(task: TaskId, why: Vec<String>) -> Outcome {
    let next = format!(
        "approve task #{task} without them, or send it back with `regatta task reject {task} --reason \"…\"`"
    );
    let what = format!("the checks of task #{task} were not run");
    let problem = Problem { why, ..Problem::new(Code::ChecksFailed, what, "", next) };
    Outcome::ChecksNotRun(Failure::from(problem))
}
