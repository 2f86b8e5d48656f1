//! A session on its accounts: opened before the agent starts, closed after it is gone.

use crate::clock;
use crate::commands::accounts::{self, Closing, Opened};
use crate::core::session::{Ending, Subject, Usage};
use crate::core::{Failure, FailureClass, Park, Refusal, SessionFailure};
use crate::crash;
use crate::error::Error;
use crate::log;
use crate::perform::Work;
use crate::runtime::engine;
use crate::runtime::stop_handle::StopHandle;
use crate::session::slots::Place;
use regatta_agents::{Ended, Limits, Outcome, StopReason};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a session that waits for others sleeps when nothing happens; it wakes at once when the log moves.
const IDLE: Duration = Duration::from_secs(1);

/// The sessions of one engine that wait for budget that others have set aside, by their lanes.
#[derive(Default)]
pub(crate) struct Charges {
    waiting: Mutex<HashSet<String>>,
}

/// A session that is open, in its place.
pub(crate) struct Reservation {
    subject: Subject,
    _place: Place,
    /// What the account answered when the session was opened.
    pub(crate) opened: Opened,
    is_session_gone: bool,
}

/// The result of opening one.
pub(crate) enum Opening {
    Open(Reservation),
    /// A budget is used up, which is reported as a failure of the session.
    Refused(Failure),
    /// It was asked to stop while it waited for a place, or for others.
    Stopped(StopReason),
}

/// One waiting session, until this is dropped.
struct Waiting<'a> {
    all: &'a Charges,
    lane: String,
}

/// Waits for a place, and opens a session in it. If the rest of a budget is set aside for other sessions, it
/// waits until one of them ends, and holds no place meanwhile: they may be waiting for one themselves.
///
/// A fresh session starts a new conversation, even if the agent could continue an old one.
pub(crate) async fn open(
    work: &Work,
    subject: Subject,
    is_fresh: bool,
    stop_handle: &StopHandle,
) -> Result<Opening, Error> {
    let lane = log::lane_of(&subject);
    let store = work.project.store();
    loop {
        let place = tokio::select! {
            biased;
            reason = stop_handle.asked() => return Ok(Opening::Stopped(reason)),
            place = work.slots.take(&subject.agent_id) => place,
        };
        // Waiting may have taken longer than the lease lasts.
        engine::check_lease(&work.project, work.token).await?;
        let seen = store.head().await?;
        let error = match accounts::open(&work.project, work.token, &subject, is_fresh).await {
            Ok(opened) => {
                let is_session_gone = false;
                return Ok(Opening::Open(Reservation { subject, _place: place, opened, is_session_gone }));
            }
            Err(error @ Error::Refused(_)) => error,
            Err(other) => return Err(other),
        };
        let refused = |error: Error| Ok(Opening::Refused(Failure::from(error.explain())));
        if !is_set_aside(&error) {
            return refused(error);
        }
        // Until the next try: a session that is about to reserve budget does not count as waiting.
        let _waiting = Waiting::enter(&work.charges, &lane);
        // Events since then may have given back what was set aside.
        if !is_another_at_work(work).await? && store.head().await? == seen {
            return refused(error);
        }
        crash::point("charge.waiting");
        drop(place);
        tokio::select! {
            biased;
            reason = stop_handle.asked() => return Ok(Opening::Stopped(reason)),
            moved = store.wait_past(seen, IDLE) => drop(moved?),
        }
    }
}

/// Tells whether another session is running, or will run again, that is not waiting itself. Waiting does not
/// give back what is set aside for a session that nobody runs.
async fn is_another_at_work(work: &Work) -> Result<bool, Error> {
    let open = work.project.store().open_intents().await?;
    let waiting = work.charges.lock();
    Ok(open.iter().any(|intent| log::is_of_sessions(&intent.lane) && !waiting.contains(&intent.lane)))
}

/// Tells whether there would be budget left without the running sessions.
fn is_set_aside(error: &Error) -> bool {
    matches!(error, Error::Refused(Refusal::BudgetExceeded { spent, limit, .. }) if spent < limit)
}

impl Charges {
    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Waiting<'a> {
    fn enter(all: &'a Charges, lane: &str) -> Self {
        all.lock().insert(lane.to_owned());
        Waiting { all, lane: lane.to_owned() }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.all.lock().remove(&self.lane);
    }
}

/// Returns the name of the session whose processes carry a mark.
pub(crate) fn name_of(mark: &str) -> &str {
    mark.trim_end_matches('.')
}

/// Returns the prefix of the marks of a session's processes.
pub(crate) fn mark_of(session: &str) -> String {
    format!("{session}.")
}

impl Reservation {
    /// Returns what the session is for.
    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Records that the agent's session that was to be resumed is gone; tells whether the session should
    /// start again without it.
    pub(crate) fn starts_afresh(&mut self, ended: &Ended) -> bool {
        let is_lost = ended.is_session_gone && ended.agent_session.is_none();
        if !is_lost || !matches!(ended.outcome, Outcome::Failed(_)) {
            return false;
        }
        self.is_session_gone = true;
        self.opened.resumes.take().is_some()
    }

    /// Narrows limits to what was set aside.
    pub(crate) fn narrow(&self, limits: &mut Limits) {
        limits.wall = limits.wall.min(self.wall());
        let less = |own: Option<u64>, allowed: Option<u64>| own.into_iter().chain(allowed).min();
        limits.tokens_max = less(limits.tokens_max, self.opened.allowed.tokens);
        limits.cost_micros_max = less(limits.cost_micros_max, self.opened.allowed.cost_micros);
    }

    /// Corrects a failure that was caused by the reserved budget: a session that had less time than its agent
    /// normally gets did not take too long, but used up its budget.
    pub(crate) fn judge(&self, limits: &Limits, ended: &mut Ended) {
        if let Outcome::Failed(failure) = &mut ended.outcome
            && failure.class == regatta_agents::FailureClass::Timeout
            && self.wall() < limits.wall
        {
            failure.class = regatta_agents::FailureClass::Budget;
        }
    }

    fn wall(&self) -> Duration {
        self.opened.allowed.milliseconds.map_or(Duration::MAX, Duration::from_millis)
    }

    /// Records when a session without a task is tried again.
    pub(crate) async fn park(&self, work: &Work, park: &Park) -> Result<(), Error> {
        accounts::park(&work.project, work.token, &self.subject, park.clone()).await
    }

    /// Closes a session that never began.
    pub(crate) async fn abandon(&self, work: &Work) -> Result<(), Error> {
        accounts::close(&work.project, work.token, &self.subject, Closing::lost()).await
    }

    /// Closes a session that ended.
    pub(crate) async fn close(&self, work: &Work, ended: &Ended) -> Result<(), Error> {
        let (ending, class) = match &ended.outcome {
            Outcome::Finished => (Ending::Finished, None),
            Outcome::Stopped(_) => (Ending::Stopped, None),
            Outcome::Failed(failure) => (Ending::Failed, Some(class_of(failure))),
        };
        let closing = Closing {
            ending,
            class,
            usage: Usage {
                input_tokens: ended.usage.input_tokens,
                cached_tokens: ended.usage.cached_tokens,
                output_tokens: ended.usage.output_tokens,
                cost_micros: ended.usage.cost_micros,
                milliseconds: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
            },
            turns: ended.turns,
            agent_session: ended.agent_session.clone(),
            // A session that started afresh has noticed that before.
            agent_session_gone: ended.is_session_gone || self.is_session_gone,
        };
        accounts::close(&work.project, work.token, &self.subject, closing).await
    }
}

/// Converts usage to the type of the agents crate.
pub(crate) fn to_agents(usage: &Usage) -> regatta_agents::Usage {
    regatta_agents::Usage {
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        output_tokens: usage.output_tokens,
        cost_micros: usage.cost_micros,
    }
}

/// Extracts what the rules must know from a failure, as it is explained to people.
pub(crate) fn breakdown(failure: &regatta_agents::Failure, explained: Failure) -> SessionFailure {
    SessionFailure { failure: explained, class: class_of(failure), until: failure.until, at: clock::now() }
}

fn class_of(failure: &regatta_agents::Failure) -> FailureClass {
    use regatta_agents::FailureClass as Class;
    match failure.class {
        Class::RateLimit => FailureClass::RateLimit,
        Class::Network => FailureClass::Network,
        Class::Crash => FailureClass::Crash,
        Class::Timeout => FailureClass::Timeout,
        Class::Silence => FailureClass::Silence,
        Class::InvalidOutput => FailureClass::InvalidOutput,
        Class::Refused => FailureClass::Refused,
        Class::Budget => FailureClass::Budget,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::orders::Caller;
    use crate::commands::run_orders::NewRun;
    use crate::core::{Actor, RunId};
    use crate::project::Project;
    use crate::runs;
    use crate::session::slots::Slots;
    use regatta_testkit::repo::TestRepo;
    use serde_json::json;
    use std::sync::Arc;
    use tokio::sync::watch;

    const CONFIG: &str = r#"
[agents.worker]
kind = "command"
command = ["true"]

[budget.project]
tokens = 1000
"#;

    /// Neither of them could continue otherwise; it takes a few milliseconds.
    const LIMIT: Duration = Duration::from_secs(60);

    /// The agent has one place. After a kill, the session that has to wait may be the first to take it.
    #[tokio::test]
    async fn one_that_waits_for_another_does_not_keep_it_from_its_place() {
        let repo = TestRepo::new();
        let (first, second, work) = with_two_runs(&repo).await;
        let stop_handle = StopHandle::new();
        let subject = |session: &str, run| Subject {
            session: session.to_owned(),
            agent_id: "worker".parse().unwrap(),
            task_id: None,
            run_id: Some(run),
            above: Vec::new(),
            role: None,
            number: 1,
            day: jiff::civil::date(2026, 1, 1),
        };
        let open_first = async || {
            let opened = open(&work, subject("first", first), false, &stop_handle).await.unwrap();
            let Opening::Open(reservation) = opened else { panic!("nobody else has set anything aside") };
            reservation
        };
        // The place is free again, but the reserved budget is not: a killed engine leaves it like that.
        drop(open_first().await);
        let close_first = async { open_first().await.abandon(&work).await.unwrap() };
        let both =
            async { tokio::join!(open(&work, subject("second", second), false, &stop_handle), close_first) };
        let (opened, ()) = tokio::time::timeout(LIMIT, both).await.expect("both continue");
        assert!(matches!(opened, Ok(Opening::Open(_))), "it has its turn");
    }

    /// Makes a project in which two runs are each asked to perform a step, and what an engine needs to do so.
    async fn with_two_runs(repo: &TestRepo) -> (RunId, RunId, Work) {
        repo.write(".regatta/config.toml", CONFIG);
        let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
        let caller = Caller::new(Actor::User("local".to_owned()));
        let create = async || {
            let workflow = runs::find_workflow(None, "speckit").unwrap();
            let input = json!({ "prd": "Make it so.", "title": "So" });
            let new = NewRun { workflow, prd: None, level: None, input, board: false, recording: None };
            runs::create(&project, &caller, new).await.unwrap()
        };
        let runs = (create().await, create().await);
        let token = engine::take_lease(&project, None).await.unwrap();
        let intent = project.store().open_intents().await.unwrap()[0].id;
        let work = Work {
            token,
            intent,
            at: clock::now(),
            slots: Arc::new(Slots::new(project.config())),
            active_steps: Arc::default(),
            charges: Arc::default(),
            drivers: Arc::default(),
            moves: crate::forecast::Moves::default(),
            leaving: watch::channel(false).1,
            project,
        };
        (runs.0, runs.1, work)
    }
}
