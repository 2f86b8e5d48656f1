//! The one lifecycle of a session: its phases, in their order.
//!
//! ```text
//!   reserve ─▶ prepare ─▶ launch ─▶ watch ─▶ collect ─▶ settle
//!   charge     prepare    launch    watch    collect    owner
//! ```
//!
//! A session that does not begin gives back what was reserved. One that the engine leaves when it shuts down
//! stays open on its accounts, and the next engine runs it again under the same number. The place of the agent
//! is free again after the last phase, whatever came of it.

use crate::commands::notes;
use crate::core::{Complete, Failure, SessionEnd, SessionFailure};
use crate::crash;
use crate::error::Error;
use crate::on_heap::on_heap;
use crate::perform::Work;
use crate::recording::entry::Entry;
use crate::recording::recorder::Recording;
use crate::recording::replay_branch;
use crate::runtime::stop_handle::StopHandle;
use crate::session::plan::{Owner, Plan, Source};
use crate::session::prepare::{self, Ready};
use crate::session::reservation::{self, Opening, Reservation};
use crate::session::{collect, launch, owner, session_entry, watch};
use regatta_agents::{Ended, Outcome, StopReason, Usage};
use serde_json::Value;
use std::time::Duration;

/// What came of a session.
pub(crate) enum Finished {
    /// It was stopped before it began.
    CalledOff(StopReason),
    /// It could not begin.
    NotStarted(Failure),
    /// The engine shuts down during it: the next one runs it again.
    Left,
    /// It began and ended.
    Ended(End),
}

/// How a session ended that had begun.
pub(crate) enum End {
    /// With a result; the work for a task is committed.
    Returned { result: Value, complete: Option<Complete> },
    /// With a result that cannot be kept.
    Failed(Failure),
    /// Its agent broke off.
    Broke(SessionFailure),
    /// Somebody stopped it.
    Stopped(StopReason),
}

/// What plays: an agent in its place, or a recorded answer.
enum Player<'a> {
    Agent(Box<Reservation>),
    Recording(&'a Recording, &'a Entry),
}

/// Runs a session from its reservation to the report to its owner; returns nothing if it broke off and is tried
/// again after a pause, which is in the log.
pub(crate) async fn run(
    work: &Work,
    plan: &Plan<'_>,
    stop_handle: &StopHandle,
) -> Result<Option<Finished>, Error> {
    let mut player = match on_heap(|| reserve(work, plan, stop_handle)).await? {
        Ok(player) => player,
        Err(finished) => return owner::settle(work, plan, None, finished).await,
    };
    let finished = match on_heap(|| prepare::prepare(work, plan)).await? {
        Ok(ready) => on_heap(|| play(work, plan, &ready, &mut player, stop_handle)).await?,
        Err(failure) => Finished::NotStarted(failure),
    };
    let reservation = player.reservation();
    if let (Some(reservation), Finished::CalledOff(_) | Finished::NotStarted(_)) = (reservation, &finished) {
        reservation.abandon(work).await?;
    }
    owner::settle(work, plan, reservation, finished).await
}

/// Waits for a place and for the budget; a recorded answer needs neither.
async fn reserve<'a>(
    work: &Work,
    plan: &'a Plan<'_>,
    stop_handle: &StopHandle,
) -> Result<Result<Player<'a>, Finished>, Error> {
    if let Source::Recording(recording, take) = &plan.source {
        return Ok(Ok(Player::Recording(recording, take)));
    }
    Ok(match reservation::open(work, plan.account(), plan.is_fresh(), stop_handle).await? {
        Opening::Open(reservation) => Ok(Player::Agent(Box::new(reservation))),
        Opening::Refused(failure) => Err(Finished::NotStarted(failure)),
        Opening::Stopped(reason) => Err(Finished::CalledOff(reason)),
    })
}

/// Lets the agent work or plays what is recorded, and keeps what came of it.
async fn play(
    work: &Work,
    plan: &Plan<'_>,
    ready: &Ready,
    player: &mut Player<'_>,
    stop_handle: &StopHandle,
) -> Result<Finished, Error> {
    let ended = match player {
        Player::Agent(reservation) => {
            on_heap(|| work_to_the_end(work, plan, ready, reservation, stop_handle)).await?
        }
        Player::Recording(recording, take) => play_back(work, plan, recording, take).await?,
    };
    let ended = match ended {
        Ok(ended) => ended,
        Err(finished) => return Ok(finished),
    };
    crash::point("run_session.ended");
    if ended.outcome == Outcome::Stopped(StopReason::Shutdown) {
        return Ok(Finished::Left);
    }
    // First of all: an error below must not keep the budget.
    if let Some(reservation) = player.reservation() {
        reservation.close(work, &ended).await?;
    }
    let end = on_heap(|| collect::collect(work, plan, ready, &ended)).await?;
    if plan.writes && ready.task.is_some() {
        work.moves.note();
    }
    if let (Some(task), Some(end)) = (&ready.task, end.of_task()) {
        let (session, start) = (plan.subject.session, ready.start.as_ref());
        session_entry::remember(work, task, session, start, (&ended.outcome, &end)).await?;
    }
    crash::point("run_session.after");
    Ok(Finished::Ended(end))
}

/// Starts the agent and watches it to its end, a second time if the conversation that it was to resume is gone.
async fn work_to_the_end(
    work: &Work,
    plan: &Plan<'_>,
    ready: &Ready,
    reservation: &mut Reservation,
    stop_handle: &StopHandle,
) -> Result<Result<Ended, Finished>, Error> {
    loop {
        let live = match on_heap(|| launch::launch(work, plan, ready, reservation)).await {
            Ok(Some(live)) => live,
            Ok(None) => return Ok(Err(Finished::CalledOff(StopReason::Cancelled))),
            Err(problem) => return Ok(Err(Finished::NotStarted(Failure::from(*problem)))),
        };
        owner::note_start(work, plan).await?;
        crash::point("run_session.started");
        if let Some(task) = plan.subject.task {
            notes::mark_delivered(&work.project, &plan.subject.caller(), task, &ready.notes).await?;
        }
        let mut ended = on_heap(|| watch::watch(&work.project, live, stop_handle)).await;
        // The prompt says all that is needed, so a new conversation of the agent will do.
        if reservation.starts_afresh(&ended) {
            continue;
        }
        if let Some(entry) = work.project.config().agents.get(&plan.subject.agent) {
            reservation.judge(&entry.limits, &mut ended);
        }
        return Ok(Ok(ended));
    }
}

/// Plays a recorded answer in the worktree, if it fits there.
async fn play_back(
    work: &Work,
    plan: &Plan<'_>,
    recording: &Recording,
    take: &Entry,
) -> Result<Result<Ended, Finished>, Error> {
    if let Owner::RoleInTask { ask, .. } = &plan.owner {
        let misfit = replay_branch::find_misfit(&work.project, (recording, take), (ask.run, &plan.worktree));
        if let Some(failure) = misfit.await? {
            return Ok(Err(Finished::NotStarted(failure)));
        }
    }
    owner::note_start(work, plan).await?;
    Ok(match recording.play(take, &plan.folder(&work.project)) {
        Ok(()) => Ok(recorded(take.output.clone())),
        Err(error) => Err(Finished::Ended(End::Failed(owner::explain_error(plan, error)?))),
    })
}

/// The end of a session that nobody had to run.
fn recorded(result: Value) -> Ended {
    Ended {
        outcome: Outcome::Finished,
        turns: 1,
        result: Some(result),
        result_from: None,
        result_faults: Vec::new(),
        summary: None,
        usage: Usage::default(),
        agent_session: None,
        is_session_gone: false,
        output_bytes: 0,
        duration: Duration::ZERO,
    }
}

impl Player<'_> {
    fn reservation(&self) -> Option<&Reservation> {
        match self {
            Player::Agent(reservation) => Some(reservation),
            Player::Recording(..) => None,
        }
    }
}

impl End {
    /// Returns the end as a task records it; nothing for a result without a commit.
    pub(crate) fn of_task(&self) -> Option<SessionEnd> {
        Some(match self {
            End::Returned { complete, .. } => SessionEnd::Finished(complete.clone()?),
            End::Failed(failure) => SessionEnd::Failed(failure.clone()),
            End::Broke(breakdown) => SessionEnd::Broken(breakdown.clone()),
            End::Stopped(_) => SessionEnd::Stopped,
        })
    }
}
