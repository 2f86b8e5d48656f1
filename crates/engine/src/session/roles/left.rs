//! What a killed engine left of a step that is not performed again: its session, and the worktree that was made for it.
//!
//! A step that is performed again finds both and goes on with them. One that was stopped or paused meanwhile, or cannot be
//! performed any more, is not: an agent would work on for nobody, and what was set aside for it would never be given back.

use crate::core::run::Run;
use crate::core::session::Scope;
use crate::error::Error;
use crate::perform::Work;
use crate::session::leftovers;
use crate::session::role::Played;
use crate::session::roles::alone;
use regatta_agents::StopReason;

/// Ends what was left of the step that a run is at.
pub(crate) async fn end(work: &Work, run: &Run) -> Result<(), Error> {
    leftovers::end_lost(work, Scope::Run(run.id)).await?;
    if run.find_task().is_some() {
        return Ok(());
    }
    match alone::clear_left(work, run).await {
        Err(error) if error.is_of_engine() => Err(error),
        // What stays is found by the doctor.
        Err(_) | Ok(()) => Ok(()),
    }
}

/// Ends the sessions of a run of which no engine heard the end, if its step is over without an answer: it may not even have
/// come to them.
pub(crate) async fn end_sessions_after(work: &Work, run: &Run, played: &Played) -> Result<(), Error> {
    match played {
        Played::Failed(_) | Played::Stopped(StopReason::Cancelled | StopReason::Paused) => {
            leftovers::end_lost(work, Scope::Run(run.id)).await
        }
        // That was the end of its session, or it goes on with the next engine.
        Played::Returned(_)
        | Played::Committed(..)
        | Played::PutOff
        | Played::Stopped(StopReason::Shutdown) => Ok(()),
    }
}
