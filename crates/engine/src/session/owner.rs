//! What differs between the owners of a session: whether it is still wanted, what they learn when it begins and
//! when it is over, and how an error is explained to them.

use crate::commands::orders;
use crate::core::{
    Code, Failure, Outcome, Park, Problem, SessionEnd, Stage, Task, TaskId, WorkPhase, find_next_try,
};
use crate::error::Error;
use crate::perform::Work;
use crate::runs::trouble;
use crate::session::lifecycle::{End, Finished};
use crate::session::plan::{Owner, Plan};
use crate::session::reservation::Reservation;
use crate::session::role::RoleRequest;
use regatta_agents::{FailureClass, StopReason};

/// How far a task is with a session that it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// It does not know yet that the session began.
    Starting,
    /// The session began, under this engine or an earlier one.
    Running,
}

/// Tells whether a task still waits for a session, and how far it is; otherwise what is left of it is ended.
pub(crate) fn find_wanted(task: &Task, session: u32) -> Option<Wanted> {
    let Stage::InProgress(work) = &task.stage else { return None };
    match work.phase {
        WorkPhase::Starting { session: number, .. } if number == session => Some(Wanted::Starting),
        WorkPhase::Running { session: number } if number == session => Some(Wanted::Running),
        _ => None,
    }
}

/// Reports to the task that a session begins; a run learns only of its end.
pub(crate) async fn note_start(work: &Work, plan: &Plan<'_>) -> Result<(), Error> {
    let (agent, session) = (plan.subject.agent.clone(), plan.subject.session);
    match plan.owner {
        Owner::Task { task, .. } => work.note(task, Outcome::SessionStarted { session }).await,
        Owner::RoleInTask { task, .. } => work.note(task, Outcome::RoleStarted { agent, session }).await,
        Owner::RoleAlone { .. } => Ok(()),
    }
}

/// Reports to its owner what came of a session; returns nothing if it is tried again after a pause.
pub(crate) async fn settle(
    work: &Work,
    plan: &Plan<'_>,
    reservation: Option<&Reservation>,
    finished: Finished,
) -> Result<Option<Finished>, Error> {
    let is_parked = match plan.owner {
        Owner::Task { task, has_started, .. } => {
            if let Some(outcome) = outcome_for_task(&finished, plan.subject.session, has_started) {
                work.settle(task, outcome).await?;
            }
            // The rules park the task, and another effect waits.
            false
        }
        Owner::RoleInTask { task, .. } => settle_in_task(work, task, plan.subject.session, &finished).await?,
        Owner::RoleAlone { attempt, .. } => park_alone(work, reservation, attempt, &finished).await?,
    };
    Ok((!is_parked).then_some(finished))
}

/// Returns what a task learns; nothing if the next engine continues with the session.
fn outcome_for_task(finished: &Finished, session: u32, has_started: bool) -> Option<Outcome> {
    let end = match finished {
        Finished::Left | Finished::CalledOff(StopReason::Shutdown) => return None,
        Finished::CalledOff(StopReason::Cancelled | StopReason::Paused) => SessionEnd::Stopped,
        Finished::NotStarted(failure) if has_started => SessionEnd::Failed(failure.clone()),
        Finished::NotStarted(failure) => {
            return Some(Outcome::SessionNotStarted { session, failure: failure.clone() });
        }
        Finished::Ended(end) => end.of_task()?,
    };
    Some(Outcome::SessionEnded { session, end })
}

/// Reports to a task that a role is done with it; tells whether it is tried again, which the rules decide.
async fn settle_in_task(work: &Work, task: TaskId, session: u32, finished: &Finished) -> Result<bool, Error> {
    let Finished::Ended(end) = finished else { return Ok(false) };
    let End::Broke(breakdown) = end else {
        return work.note(task, Outcome::RoleEnded { session }).await.map(|()| false);
    };
    let breakdown = breakdown.clone();
    work.note(task, Outcome::RoleBroke { session, breakdown }).await?;
    Ok(orders::get_task(&work.project, task).await?.find_park().is_some())
}

/// Records the pause before the next try of a role without a task; tells whether there is one.
async fn park_alone(
    work: &Work,
    reservation: Option<&Reservation>,
    attempt: u32,
    finished: &Finished,
) -> Result<bool, Error> {
    let (Some(reservation), Finished::Ended(End::Broke(broke))) = (reservation, finished) else {
        return Ok(false);
    };
    let Some(until) = find_next_try(&work.project.config().settings.retries, attempt, broke) else {
        return Ok(false);
    };
    reservation.park(work, &Park { class: broke.class, attempt, until }).await.map(|()| true)
}

/// Explains an error to the owner; one that is the engine's own is passed on if a run waits.
pub(crate) fn explain_error(plan: &Plan<'_>, error: Error) -> Result<Failure, Error> {
    match plan.owner.ask() {
        None => Ok(Failure::from(error.explain())),
        Some(ask) => trouble::of_run(ask.run, error),
    }
}

/// Explains to the owner why the agent broke off.
pub(crate) fn explain_failure(plan: &Plan<'_>, failure: &regatta_agents::Failure) -> Failure {
    let transcript = plan.transcript.display().to_string();
    let problem = match plan.owner {
        Owner::Task { task, .. } => explain_to_task(task, plan.subject.session, failure, &transcript),
        Owner::RoleInTask { ask, .. } | Owner::RoleAlone { ask, .. } => {
            explain_to_run(ask, failure, &transcript)
        }
    };
    Failure::from(problem.with("class", failure.class.name()).with("transcript", transcript))
}

fn explain_to_task(
    task: TaskId,
    session: u32,
    failure: &regatta_agents::Failure,
    transcript: &str,
) -> Problem {
    let next = match failure.class {
        FailureClass::RateLimit => {
            format!("it resumes automatically; `regatta task resume {task}` tries now")
        }
        FailureClass::Budget => {
            format!("raise the limit in .regatta/config.toml, then `regatta task resume {task}`")
        }
        _ => format!(
            "read {transcript}; then `regatta task resume {task}` to try again, `regatta task complete {task}` if the work \
             is good, or `regatta task cancel {task}` (the work is kept as a salvage)"
        ),
    };
    let what = format!("session {session} of task #{task} failed");
    let mut problem =
        Problem::new(code_of(failure), what, failure.to_string(), next).with("session", session);
    if let Some(exit) = failure.exit {
        problem = problem.with("exit", exit);
    }
    if let Some(signal) = failure.signal {
        problem = problem.with("signal", signal);
    }
    if !failure.tail.is_empty() {
        problem = problem.with("tail", failure.tail.as_str());
    }
    problem
}

fn explain_to_run(ask: &RoleRequest<'_>, failure: &regatta_agents::Failure, transcript: &str) -> Problem {
    let run = ask.run.id;
    let mut why = vec![failure.to_string()];
    why.extend(Some(failure.tail.clone()).filter(|tail| !tail.is_empty()));
    let what = format!("step {} of run {run} failed", ask.run.step);
    let next = format!("read {transcript}; then `regatta run resume {run}` performs the step again");
    Problem { why, ..Problem::new(code_of(failure), what, "", next) }
}

fn code_of(failure: &regatta_agents::Failure) -> Code {
    match failure.class {
        FailureClass::RateLimit => Code::RateLimited,
        FailureClass::Budget => Code::BudgetExceeded,
        _ => Code::AgentSessionFailed,
    }
}
