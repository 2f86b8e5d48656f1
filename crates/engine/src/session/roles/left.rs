//! What a killed engine left of a step that is not performed again: its session, and the worktree that was
//! made for it.
//!
//! A step that is performed again finds both and continues with them. A step that was stopped or paused
//! meanwhile, or cannot be performed any more, does not: without a cleanup its agent would work for nobody,
//! and its reserved budget would never be given back.

use crate::core::run::Run;
use crate::core::session::Scope;
use crate::error::Error;
use crate::perform::Work;
use crate::session::leftovers;
use crate::session::role::RoleOutcome;
use crate::session::roles::own_worktree;
use regatta_agents::StopReason;

/// Ends what was left of a run's current step.
pub(crate) async fn end(work: &Work, run: &Run) -> Result<(), Error> {
    leftovers::end_lost(work, Scope::Run(run.id)).await?;
    let views = run.members().iter().filter_map(|state| run.as_member(&state.member.node));
    for view in views {
        // A reader of a task may have had one too.
        end_worktree(work, &view).await?;
    }
    if run.find_task().is_some() { Ok(()) } else { end_worktree(work, run).await }
}

async fn end_worktree(work: &Work, run: &Run) -> Result<(), Error> {
    match own_worktree::remove_left(work, run).await {
        Err(error) if error.is_of_engine() => Err(error),
        // The doctor finds what is left.
        Err(_) | Ok(()) => Ok(()),
    }
}

/// Ends the sessions of a run whose end no engine has seen, if its step is over without an answer: the step
/// may not even have reached them.
pub(crate) async fn end_sessions_after(work: &Work, run: &Run, played: &RoleOutcome) -> Result<(), Error> {
    match played {
        RoleOutcome::Failed(_) | RoleOutcome::Stopped(StopReason::Cancelled | StopReason::Paused) => {
            leftovers::end_lost_of_step(work, run).await
        }
        // The session has ended, or the next engine continues with it.
        RoleOutcome::Returned(_)
        | RoleOutcome::Committed(..)
        | RoleOutcome::PutOff
        | RoleOutcome::Stopped(StopReason::Shutdown) => Ok(()),
    }
}
