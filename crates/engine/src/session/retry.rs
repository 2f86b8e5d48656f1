//! A role that breaks off for a temporary reason is tried again after a pause.
//!
//! The pause is in the log, on the task or on the account of the run, so the next engine waits for the rest of
//! it. A task's own session is different: the rules park the task, and the effect `wait` waits.

use crate::clock;
use crate::commands::run_orders::get_run;
use crate::commands::{accounts, orders};
use crate::core::run::{Phase, Run};
use crate::core::session::Scope;
use crate::core::{AgentId, Park};
use crate::error::Error;
use crate::project::Project;
use crate::session::lifecycle;
use crate::session::reservation;
use crate::session::role::{RoleOutcome, RoleRequest};
use crate::session::roles::planning::{self, Where};
use crate::session::roles::{self, AgentRoles};
use regatta_agents::StopReason;
use std::time::Duration;

/// How long it sleeps when nothing happens; it wakes at once when the log moves.
const IDLE: Duration = Duration::from_secs(1);

/// Tries until there is an answer, or none will come.
pub(crate) async fn try_until_answered(
    players: &AgentRoles,
    ask: &RoleRequest<'_>,
    agent: &AgentId,
    place: Where<'_>,
) -> Result<RoleOutcome, Error> {
    // A pause that an earlier engine began is waited for, and its tries count.
    let mut is_parked = find_park(ask.project, ask.run).await?.is_some();
    loop {
        let attempt = match if is_parked { wait(ask).await? } else { Ok(1) } {
            Ok(attempt) => attempt,
            Err(instead) => return Ok(instead),
        };
        let plan = match planning::plan(players, ask, agent, place, attempt).await? {
            Ok(plan) => plan,
            Err(instead) => return Ok(instead),
        };
        if let Some(finished) = lifecycle::run(ask.work, &plan, ask.stop_handle).await? {
            return roles::answer(ask, finished).await;
        }
        is_parked = true;
    }
}

/// Waits for the end of the pause that the step is in; returns which try comes next, or what comes instead.
///
/// A run that a person paused meanwhile does not try, and one that a person resumed does not wait.
async fn wait(ask: &RoleRequest<'_>) -> Result<Result<u32, RoleOutcome>, Error> {
    let store = ask.project.store();
    let mut seen = store.head().await?;
    loop {
        if ask.work.is_leaving() {
            return Ok(Err(RoleOutcome::Stopped(StopReason::Shutdown)));
        }
        let run = look(ask).await?;
        let mut left = IDLE;
        if !run.is_held() {
            let Some(park) = find_park(ask.project, &run).await? else { return Ok(Ok(1)) };
            left = Duration::try_from(park.until.duration_since(clock::now())).unwrap_or(Duration::ZERO);
            if left.is_zero() {
                return Ok(Ok(park.attempt + 1));
            }
        } else if run.find_task().is_some() && run.may_be_put_off() {
            // Nothing is lost: the worktree is the task's. One of its own would be removed, so it waits here.
            return Ok(Err(RoleOutcome::PutOff));
        }
        tokio::select! {
            reason = ask.stop_handle.asked() => return roles::stopped(ask, reason).await.map(Err),
            head = store.wait_past(seen, left.min(IDLE)) => seen = head?,
        }
    }
}

/// Returns the run as it is now, or as the member sees it that is performed.
async fn look(ask: &RoleRequest<'_>) -> Result<Run, Error> {
    let run = get_run(ask.project, ask.run.id).await?;
    let view = ask.run.member.as_ref().and_then(|member| run.as_member(&member.node));
    Ok(view.map_or(run, |view| Run { item: ask.run.item.clone(), ..view }))
}

/// Finds the pause before another try that the current step of a run is in.
pub(crate) async fn find_park(project: &Project, run: &Run) -> Result<Option<Park>, Error> {
    if !matches!(run.phase(), Some(Phase::Performing { .. })) || run.is_held() {
        return Ok(None);
    }
    if let Some(task) = run.find_task() {
        let task = orders::get_task(project, task).await?;
        let is_due = task.run != Some(run.id) || run.updated_at > task.updated_at;
        return Ok(task.find_park().filter(|_| !is_due).cloned());
    }
    let account = accounts::get_account(project, Scope::Run(run.id)).await?;
    let mark = project.run_mark(run.id, &run.step_name());
    Ok(account.find_park(reservation::name_of(&mark), run.updated_at).cloned())
}
