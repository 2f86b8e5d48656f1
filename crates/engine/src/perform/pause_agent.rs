//! Pauses the agent of a completed task: no process of its session is left to change the worktree under review.

use crate::commands::orders;
use crate::core::{Outcome, TaskId};
use crate::crash;
use crate::error::Error;
use crate::perform::{Work, stop_agent};
use crate::runtime::stop_handle::StopHandle;
use crate::session::planted;
use regatta_agents::StopReason;

pub(crate) async fn perform(
    work: &Work,
    task: TaskId,
    session: u32,
    stop_handle: Option<StopHandle>,
) -> Result<(), Error> {
    crash::point("pause_agent.before");
    let outcome = match stop_agent::end(&work.project, task, session, stop_handle, StopReason::Paused).await {
        Ok(()) => {
            clean_up(work, task).await?;
            Outcome::AgentPaused
        }
        Err(failure) => Outcome::AgentNotPaused(failure),
    };
    crash::point("pause_agent.after");
    work.settle(task, outcome).await
}

/// Cleans up if this engine could not when it started, because a process was in the way.
async fn clean_up(work: &Work, task: TaskId) -> Result<(), Error> {
    let task = orders::get_task(&work.project, task).await?;
    match task.worktree() {
        Some(worktree) => planted::clean_up_in(&work.project, &work.project.place(&worktree.path)).await,
        None => Ok(()),
    }
}
