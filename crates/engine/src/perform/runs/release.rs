//! Releases a task when its run is over or gives the task up.
//!
//! What the run did not submit is left to a person with the reason, in the worktree as it is. Processes that
//! a killed engine left running there are ended.

use crate::commands::orders;
use crate::commands::round;
use crate::commands::run_orders::get_run;
use crate::core::run::Run;
use crate::core::{Failure, Outcome, RunEnd, RunId, Stage, Task, TaskId, WorkPhase};
use crate::crash;
use crate::error::Error;
use crate::perform::log_watch::LogWatch;
use crate::perform::{Work, stop_agent};
use regatta_agents::StopReason;

pub(crate) async fn perform(
    work: &Work,
    run: RunId,
    task: TaskId,
    error: Option<Failure>,
) -> Result<(), Error> {
    crash::point("release_task.before");
    if is_wanted(&get_run(&work.project, run).await?, task) {
        return round::settle(&work.project, &work.envelope()).await;
    }
    let Some(found) = until_prepared(work, run, task).await? else { return Ok(()) };
    let end = match (end_session(work, &found).await, error) {
        (Err(failure), _) => RunEnd::Failed(failure),
        (Ok(()), Some(error)) => RunEnd::Failed(error),
        (Ok(()), None) => RunEnd::Completed,
    };
    work.settle(task, Outcome::RunOver { run, end }).await?;
    crash::point("release_task.after");
    work.keep_file(task).await
}

/// Tells whether a run that had ended continues, and works on the task again.
fn is_wanted(run: &Run, task: TaskId) -> bool {
    !run.is_over() && run.driven.iter().any(|item| run.tasks.get(item) == Some(&task))
}

/// Waits until no worktree is being made for the run; returns nothing when the engine shuts down, and the
/// next one continues.
async fn until_prepared(work: &Work, run: RunId, task: TaskId) -> Result<Option<Task>, Error> {
    let mut log = LogWatch::start(work).await?;
    loop {
        let found = orders::get_task(&work.project, task).await?;
        let is_made_for_it =
            matches!(&found.stage, Stage::InProgress(work) if work.phase == WorkPhase::Preparing);
        if !is_made_for_it || found.run != Some(run) {
            return Ok(Some(found));
        }
        if work.is_leaving() {
            return Ok(None);
        }
        log.wait().await?;
    }
}

/// Ends a session whose end no engine has seen.
async fn end_session(work: &Work, task: &Task) -> Result<(), Failure> {
    let Stage::InProgress(found) = &task.stage else { return Ok(()) };
    let WorkPhase::Driven { session: Some(session), .. } = found.phase else { return Ok(()) };
    stop_agent::end(&work.project, task.id, session, None, StopReason::Cancelled).await
}
