//! A session on its accounts: opened before the agent starts, closed after it is gone.

use crate::clock;
use crate::commands::accounts::{self, Closing, Opened};
use crate::core::session::{Ending, Subject, Usage};
use crate::core::{AgentId, Breakdown, Failure, FailureClass, Park, Refusal, RunId, TaskId};
use crate::crash;
use crate::error::Error;
use crate::log;
use crate::perform::Work;
use crate::runtime::control::Control;
use crate::runtime::engine;
use crate::session::places::Place;
use regatta_agents::{Ended, Limits, Outcome, StopReason};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a session that waits for others sleeps when nothing happens; it wakes at once when the log moves.
const IDLE: Duration = Duration::from_secs(1);

/// The sessions of one engine that wait for what others have set aside, by their lanes.
#[derive(Default)]
pub(crate) struct Charges {
    waiting: Mutex<HashSet<String>>,
}

/// A session that is open, in its place.
pub(crate) struct Charge {
    subject: Subject,
    _place: Place,
    /// What it was told.
    pub(crate) opened: Opened,
    is_session_gone: bool,
}

/// What came of opening one.
pub(crate) enum Opening {
    Open(Charge),
    /// A budget is used up, which is said as a failure of the session.
    Refused(Failure),
    /// It was asked to stop while it waited for a place, or for others.
    Stopped(StopReason),
}

/// One of those that wait, until this is dropped.
struct Waiting<'a> {
    all: &'a Charges,
    lane: String,
}

/// What a session is for.
pub(crate) struct Purpose<'a> {
    pub(crate) mark: &'a str,
    pub(crate) agent: &'a AgentId,
    pub(crate) task: Option<TaskId>,
    pub(crate) run: Option<RunId>,
    pub(crate) above: Vec<RunId>,
    pub(crate) role: Option<&'a str>,
    pub(crate) number: u32,
    /// Whether the agent begins a conversation of its own, though it could continue one.
    pub(crate) is_fresh: bool,
}

/// Waits for a place, and opens a session in it. When nothing is left of a budget but what others have set aside, it waits
/// until one of them ends, and holds no place meanwhile: they may be waiting for one themselves.
pub(crate) async fn open(work: &Work, purpose: Purpose<'_>, control: &Control) -> Result<Opening, Error> {
    let subject = Subject {
        session: name_of(purpose.mark).to_owned(),
        agent_id: purpose.agent.clone(),
        task_id: purpose.task,
        run_id: purpose.run,
        above: purpose.above,
        role: purpose.role.map(str::to_owned),
        number: purpose.number,
        day: clock::now().to_zoned(jiff::tz::TimeZone::system()).date(),
    };
    let lane = log::lane_of(&subject);
    let store = work.project.store();
    loop {
        let place = tokio::select! {
            biased;
            reason = control.asked() => return Ok(Opening::Stopped(reason)),
            place = work.places.take(&subject.agent_id) => place,
        };
        // Waiting may have taken longer than the lease lasts.
        engine::check_lease(&work.project, work.token).await?;
        let seen = store.head().await?;
        let error = match accounts::open(&work.project, work.token, &subject, purpose.is_fresh).await {
            Ok(opened) => {
                let is_session_gone = false;
                return Ok(Opening::Open(Charge { subject, _place: place, opened, is_session_gone }));
            }
            Err(error @ Error::Refused(_)) => error,
            Err(other) => return Err(other),
        };
        let refused = |error: Error| Ok(Opening::Refused(Failure::from(error.explain())));
        if !is_set_aside(&error) {
            return refused(error);
        }
        // Until the next try: who is about to have something set aside does not wait.
        let _waiting = Waiting::enter(&work.charges, &lane);
        // What happened since may have given back what was set aside.
        if !is_another_at_work(work).await? && store.head().await? == seen {
            return refused(error);
        }
        crash::point("charge.waiting");
        drop(place);
        tokio::select! {
            biased;
            reason = control.asked() => return Ok(Opening::Stopped(reason)),
            moved = store.wait_past(seen, IDLE) => drop(moved?),
        }
    }
}

/// Tells whether a session is under way, or is to be run again, that does not wait itself. What is set aside for one that
/// nobody runs is not given back by waiting.
async fn is_another_at_work(work: &Work) -> Result<bool, Error> {
    let open = work.project.store().open_intents().await?;
    let waiting = work.charges.lock();
    Ok(open.iter().any(|intent| log::is_of_sessions(&intent.lane) && !waiting.contains(&intent.lane)))
}

/// Tells whether there would be something left but for sessions under way.
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

/// Returns how the marks of a session's processes begin.
pub(crate) fn mark_of(session: &str) -> String {
    format!("{session}.")
}

impl Charge {
    /// Returns what the session is for.
    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Takes note that the agent's session that was to be resumed is gone; says whether the session should start again
    /// without it.
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

    /// Says what a failure is when it came of what was set aside: a session that had less time than its agent may have
    /// otherwise did not take too long, but used up its budget.
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

    /// Records when a session that is for no task is tried again.
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
            // One that started afresh has found out before.
            agent_session_gone: ended.is_session_gone || self.is_session_gone,
        };
        accounts::close(&work.project, work.token, &self.subject, closing).await
    }
}

/// Says what was used in the words of the agents room.
pub(crate) fn to_agents(usage: &Usage) -> regatta_agents::Usage {
    regatta_agents::Usage {
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        output_tokens: usage.output_tokens,
        cost_micros: usage.cost_micros,
    }
}

/// Says of a failure, as it is explained to people, what the rules must know.
pub(crate) fn breakdown(failure: &regatta_agents::Failure, explained: Failure) -> Breakdown {
    Breakdown { failure: explained, class: class_of(failure), until: failure.until, at: clock::now() }
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
    use crate::commands::orders::Giver;
    use crate::commands::run_orders::NewRun;
    use crate::core::Actor;
    use crate::project::Project;
    use crate::runs;
    use crate::session::places::Places;
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

    /// Neither of them could go on otherwise; it takes some milliseconds.
    const LIMIT: Duration = Duration::from_secs(60);

    /// The agent has one place. After a kill, the one that has to wait may be the first to take it.
    #[tokio::test]
    async fn one_that_waits_for_another_does_not_keep_it_from_its_place() {
        let repo = TestRepo::new();
        let (first, second, work) = with_two_runs(&repo).await;
        let (agent, control) = ("worker".parse().unwrap(), Control::new());
        let purpose = |mark, run| {
            let (run, above) = (Some(run), Vec::new());
            Purpose { mark, agent: &agent, task: None, run, above, role: None, number: 1, is_fresh: false }
        };
        let open_first = async || {
            let opened = open(&work, purpose("first.", first), &control).await.unwrap();
            let Opening::Open(charge) = opened else { panic!("nobody else has set anything aside") };
            charge
        };
        // The place is free again, and what was set aside is not: so a killed engine leaves it.
        drop(open_first().await);
        let close_first = async { open_first().await.abandon(&work).await.unwrap() };
        let both = async { tokio::join!(open(&work, purpose("second.", second), &control), close_first) };
        let (opened, ()) = tokio::time::timeout(LIMIT, both).await.expect("both go on");
        assert!(matches!(opened, Ok(Opening::Open(_))), "it has its turn");
    }

    /// Makes a project in which two runs are each asked to perform a step, and an engine's worth of means.
    async fn with_two_runs(repo: &TestRepo) -> (RunId, RunId, Work) {
        repo.write(".regatta/config.toml", CONFIG);
        let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
        let giver = Giver { actor: Actor::User("local".to_owned()), command_id: None };
        let create = async || {
            let workflow = runs::find_workflow(None, "speckit").unwrap();
            let input = json!({ "prd": "Make it so.", "title": "So" });
            let new = NewRun { workflow, prd: None, level: None, input, board: false, tape: None };
            runs::create(&project, &giver, new).await.unwrap()
        };
        let runs = (create().await, create().await);
        let token = engine::take_lease(&project, None).await.unwrap();
        let intent = project.store().open_intents().await.unwrap()[0].id;
        let work = Work {
            token,
            intent,
            at: clock::now(),
            places: Arc::new(Places::new(project.config())),
            under_way: Arc::default(),
            charges: Arc::default(),
            seats: Arc::default(),
            leaving: watch::channel(false).1,
            project,
        };
        (runs.0, runs.1, work)
    }
}
