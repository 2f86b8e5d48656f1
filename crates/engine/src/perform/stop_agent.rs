//! Stops the agent of a cancelled task, and confirms that nothing of it is left.

use crate::core::session::Scope;
use crate::core::{Code, Failure, Outcome, Problem, TaskId};
use crate::crash;
use crate::error::{Error, chain};
use crate::perform::Work;
use crate::project::Project;
use crate::runtime::stop_handle::StopHandle;
use crate::session::leftovers;
use regatta_agents::{Limits, StopReason};

pub(crate) async fn perform(
    work: &Work,
    task: TaskId,
    session: u32,
    stop_handle: Option<StopHandle>,
) -> Result<(), Error> {
    crash::point("stop_agent.before");
    work.active_steps.stop(task, StopReason::Cancelled).await;
    let outcome = match end(&work.project, task, session, stop_handle, StopReason::Cancelled).await {
        Ok(()) => Outcome::AgentStopped,
        Err(failure) => Outcome::AgentNotStopped(failure),
    };
    leftovers::end_lost(work, Scope::Task(task)).await?;
    crash::point("stop_agent.after");
    work.settle(task, outcome).await
}

/// Ends the session and everything that an earlier engine may have left of it.
pub(crate) async fn end(
    project: &Project,
    task: TaskId,
    session: u32,
    stop_handle: Option<StopHandle>,
    reason: StopReason,
) -> Result<(), Failure> {
    if let Some(stop_handle) = stop_handle {
        stop_handle.stop(reason);
        stop_handle.over().await;
    }
    let grace = Limits::default().grace;
    let mark = project.session_mark(task, session);
    leftovers::end(&mark, grace).await.map_err(|error| explain(task, &error))
}

fn explain(task: TaskId, error: &regatta_agents::StillAlive) -> Failure {
    let next = format!("stop those processes yourself, then `regatta task cancel {task}` again");
    let problem =
        Problem::new(Code::AgentStopFailed, format!("the agent of task #{task} was not stopped"), "", next);
    Failure::from(Problem { why: chain(error), ..problem })
}
