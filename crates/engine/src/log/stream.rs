//! Between the rules and the store: names of streams, facts as rows, states as snapshots.
//!
//! A task's events are in its own stream, `task/<id>`. Those that concern the crew are also in `crew`, and
//! those that concern the plan in `plan`, so that a decision is checked against only the versions that it
//! read. A stream holds events of one family, and its state folds only these; each family has its own
//! streams.

use crate::core::document::{self, Catalogue, Epic, Prd};
use crate::core::message::{self, Inbox, Party, Post};
use crate::core::run::{self, Run};
use crate::core::session::{self, Account, Scope, Subject};
use crate::core::{
    Actor, Crew, Effect, EpicId, Event, Fact, FileText, Happening, Plan, PrdSlug, RunId, Task, TaskId,
};
use crate::error::Error;
use crate::log::row_text::{Head, read_actor, write_actor};
use jiff::Timestamp;
use regatta_store::{Intent, Loaded, NewEvent, NewIntent, NewSnapshot, Recorded, StreamName, Version};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Raised whenever a state is kept in another shape; older snapshots are then ignored and the log replayed.
pub(crate) const SNAPSHOT_FORMAT: u32 = 8;

/// Snapshots of this format do not exist, so a load that asks for it reads the whole stream.
pub(crate) const NO_SNAPSHOT: u32 = u32::MAX;

/// An event of one family, as the log keeps it.
pub(crate) trait Logged: Serialize + DeserializeOwned {
    /// Returns the name of its kind.
    fn kind(&self) -> &'static str;

    /// Returns the streams that it is in.
    fn streams(&self) -> Vec<StreamName>;
}

impl Logged for Event {
    fn kind(&self) -> &'static str {
        Event::kind(self)
    }

    fn streams(&self) -> Vec<StreamName> {
        let task = self.task();
        let mut streams = vec![task_stream(task)];
        if self.concerns_crew() {
            streams.push(crew_stream());
        }
        if self.concerns_plan() {
            streams.push(plan_stream());
        }
        if self.concerns_file() {
            streams.push(file_stream(task));
        }
        streams
    }
}

impl Logged for document::Event {
    fn kind(&self) -> &'static str {
        document::Event::kind(self)
    }

    fn streams(&self) -> Vec<StreamName> {
        let mut streams = vec![catalogue_stream()];
        streams.extend(self.find_epic().map(epic_stream));
        streams.extend(self.find_prd().map(prd_stream));
        streams
    }
}

impl Logged for message::Event {
    fn kind(&self) -> &'static str {
        message::Event::kind(self)
    }

    fn streams(&self) -> Vec<StreamName> {
        let inbox = inbox_stream(self.to());
        match self {
            message::Event::MessageSent { .. } => vec![inbox, messages_stream()],
            message::Event::MessageRead { .. } => vec![inbox],
        }
    }
}

impl Logged for run::Event {
    fn kind(&self) -> &'static str {
        run::Event::kind(self)
    }

    fn streams(&self) -> Vec<StreamName> {
        match self {
            run::Event::WorkflowKept { digest, .. } => vec![workflow_stream(digest)],
            run::Event::RunCreated { run_id, .. } => vec![run_stream(*run_id), runs_stream()],
            other => other.find_run().map(run_stream).into_iter().collect(),
        }
    }
}

impl Logged for session::Event {
    fn kind(&self) -> &'static str {
        session::Event::kind(self)
    }

    fn streams(&self) -> Vec<StreamName> {
        self.subject().scopes().into_iter().map(account_stream).collect()
    }
}

/// A state that is folded from a stream of one family.
pub(crate) trait State: Sized + Serialize + DeserializeOwned {
    /// The family.
    type Event: Logged;

    /// Folds one fact into the state.
    fn fold(&mut self, fact: &Fact<Self::Event>);
}

impl State for Option<Task> {
    type Event = Event;

    fn fold(&mut self, fact: &Fact) {
        Task::evolve_in_place(self, fact);
    }
}

impl State for Crew {
    type Event = Event;

    fn fold(&mut self, fact: &Fact) {
        *self = std::mem::take(self).evolve(fact);
    }
}

impl State for FileText {
    type Event = Event;

    fn fold(&mut self, fact: &Fact) {
        *self = std::mem::take(self).evolve(fact);
    }
}

impl State for Plan {
    type Event = Event;

    fn fold(&mut self, fact: &Fact) {
        *self = std::mem::take(self).evolve(fact);
    }
}

impl State for Option<Run> {
    type Event = run::Event;

    fn fold(&mut self, fact: &Fact<run::Event>) {
        *self = Run::evolve(self.take(), fact);
    }
}

impl State for run::Index {
    type Event = run::Event;

    fn fold(&mut self, fact: &Fact<run::Event>) {
        *self = std::mem::take(self).evolve(fact);
    }
}

impl State for Account {
    type Event = session::Event;

    fn fold(&mut self, fact: &Fact<session::Event>) {
        *self = std::mem::take(self).evolve(fact);
    }
}

impl State for Inbox {
    type Event = message::Event;

    fn fold(&mut self, fact: &Fact<message::Event>) {
        *self = std::mem::take(self).evolve(fact);
    }
}

impl State for Post {
    type Event = message::Event;

    fn fold(&mut self, fact: &Fact<message::Event>) {
        *self = std::mem::take(self).evolve(fact);
    }
}

impl State for Option<Epic> {
    type Event = document::Event;

    fn fold(&mut self, fact: &Fact<document::Event>) {
        *self = Epic::evolve(self.take(), fact);
    }
}

impl State for Option<Prd> {
    type Event = document::Event;

    fn fold(&mut self, fact: &Fact<document::Event>) {
        *self = Prd::evolve(self.take(), fact);
    }
}

impl State for Catalogue {
    type Event = document::Event;

    fn fold(&mut self, fact: &Fact<document::Event>) {
        *self = std::mem::take(self).evolve(fact);
    }
}

/// A state with what is needed to add to its stream.
pub(crate) struct Folded<S> {
    pub(crate) stream: StreamName,
    pub(crate) version: Version,
    pub(crate) state: S,
    snapshot_bytes: usize,
    tail_bytes: usize,
}

impl<S: State + Default> Folded<S> {
    /// Returns the state of a stream that has no events.
    pub(crate) fn empty(stream: StreamName) -> Self {
        Folded { stream, version: Version(0), state: S::default(), snapshot_bytes: 0, tail_bytes: 0 }
    }

    /// Folds what was loaded.
    pub(crate) fn from_loaded(loaded: Loaded) -> Result<Self, Error> {
        let Loaded { stream, version, snapshot, tail } = loaded;
        let snapshot_bytes = snapshot.as_ref().map_or(0, |snapshot| snapshot.data.len());
        let mut state: S = match snapshot {
            None => S::default(),
            Some(snapshot) => serde_json::from_str(&snapshot.data).map_err(|error| Error::LogUnsound {
                seq: snapshot.version.0,
                why: format!("the snapshot of {stream} cannot be read: {error}"),
            })?,
        };
        let mut tail_bytes = 0;
        for recorded in &tail {
            tail_bytes += recorded.data.len();
            state.fold(&fact_of(recorded)?);
        }
        Ok(Folded { stream, version, state, snapshot_bytes, tail_bytes })
    }

    /// Folds a new fact that is about to be appended.
    pub(crate) fn push(&mut self, fact: &Fact<S::Event>, bytes: usize) {
        self.state.fold(fact);
        self.tail_bytes += bytes;
    }

    /// Records that what was pushed is in the log, with a snapshot of so many bytes if one was taken.
    pub(crate) fn settle(&mut self, events: u64, snapshot_bytes: Option<usize>) {
        self.version = Version(self.version.0 + events);
        if let Some(bytes) = snapshot_bytes {
            self.snapshot_bytes = bytes;
            self.tail_bytes = 0;
        }
    }

    /// Returns a snapshot when one is due: when the events since the last are four times as large. So a load
    /// reads at most about five times the state, and all snapshots together cost a quarter of what the events
    /// do.
    pub(crate) fn snapshot_if_due(&self) -> Option<NewSnapshot> {
        /// Below this a snapshot saves nothing.
        const TAIL_BYTES_MIN: usize = 1_024;
        if self.tail_bytes <= (4 * self.snapshot_bytes).max(TAIL_BYTES_MIN) {
            return None;
        }
        let data = serde_json::to_string(&self.state).expect("a state has only text keys");
        Some(NewSnapshot { stream: self.stream.clone(), format: SNAPSHOT_FORMAT, data })
    }
}

pub(crate) fn task_stream(task: TaskId) -> StreamName {
    name(format!("task/{task}"))
}

pub(crate) fn file_stream(task: TaskId) -> StreamName {
    name(format!("file/{task}"))
}

pub(crate) fn crew_stream() -> StreamName {
    name("crew".to_owned())
}

pub(crate) fn plan_stream() -> StreamName {
    name("plan".to_owned())
}

pub(crate) fn epic_stream(epic: EpicId) -> StreamName {
    name(format!("epic/{epic}"))
}

pub(crate) fn prd_stream(prd: &PrdSlug) -> StreamName {
    name(format!("prd/{prd}"))
}

pub(crate) fn catalogue_stream() -> StreamName {
    name("documents".to_owned())
}

pub(crate) fn run_stream(run: RunId) -> StreamName {
    name(format!("run/{run}"))
}

pub(crate) fn account_stream(scope: Scope) -> StreamName {
    name(match scope {
        Scope::Project => "account/project".to_owned(),
        Scope::Day(day) => format!("account/day/{day}"),
        Scope::Task(task) => format!("account/task/{task}"),
        Scope::Run(run) => format!("account/run/{run}"),
    })
}

pub(crate) fn runs_stream() -> StreamName {
    name("runs".to_owned())
}

pub(crate) fn messages_stream() -> StreamName {
    name("messages".to_owned())
}

/// How the names of all inboxes begin.
pub(crate) const INBOXES: &str = "inbox/";

/// A name may have characters that a stream name may not; its digest does not.
pub(crate) fn inbox_stream(party: &Party) -> StreamName {
    if let Party::Task(task) = party {
        return name(format!("{INBOXES}task-{task}"));
    }
    let digest = Sha256::digest(party.to_string().as_bytes());
    let begin = digest.iter().take(16).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    name(format!("{INBOXES}{}-{begin}", party.kind()))
}

pub(crate) fn workflow_stream(digest: &str) -> StreamName {
    name(format!("workflow/{digest}"))
}

fn name(text: String) -> StreamName {
    StreamName::parse(text).expect("letters, digits and slashes are a stream name")
}

/// Reads a row of a stream as a fact of its family.
pub(crate) fn fact_of<E: Logged>(recorded: &Recorded) -> Result<Fact<E>, Error> {
    read_row(recorded)
}

/// Reads a row of the log as a fact of any family.
pub(crate) fn happening_of(recorded: &Recorded) -> Result<Fact<Happening>, Error> {
    read_row(recorded)
}

fn read_row<E: DeserializeOwned>(recorded: &Recorded) -> Result<Fact<E>, Error> {
    let unsound =
        |error: serde_json::Error| Error::LogUnsound { seq: recorded.seq.0, why: error.to_string() };
    let head = Head::of_event(&recorded.kind, &recorded.streams);
    let event: E = serde_json::from_str(&head.put_before(&recorded.data)).map_err(unsound)?;
    let actor = read_actor(&recorded.actor).map_err(unsound)?;
    Ok(Fact { at: recorded.at, actor, event })
}

/// Makes a row of the log of a fact.
pub(crate) fn row_of<E: Logged>(fact: &Fact<E>) -> NewEvent {
    let (kind, streams) = (fact.event.kind(), fact.event.streams());
    NewEvent {
        id: Uuid::now_v7(),
        at: fact.at,
        kind: kind.to_owned(),
        actor: write_actor(&fact.actor),
        data: Head::of_event(kind, &streams).take_off(text_of(&fact.event)),
        streams,
    }
}

/// Renders an event as JSON text.
fn text_of<E: Serialize>(event: &E) -> String {
    /// Most events fit without growing, and none is stored at that size.
    const EVENT_BYTES_USUAL: usize = 2_048;
    let mut bytes = Vec::with_capacity(EVENT_BYTES_USUAL);
    serde_json::to_writer(&mut bytes, event).expect("an event is plain data");
    String::from_utf8(bytes).expect("JSON is text")
}

/// Returns the lane of the sessions of a task.
pub(crate) fn session_lane(task: TaskId) -> String {
    format!("task/{task}/session")
}

/// Returns the lane of the steps of a run.
pub(crate) fn node_lane(run: RunId) -> String {
    format!("run/{run}/node")
}

/// Finds the run that an intent is for, by its lane.
pub(crate) fn find_run(lane: &str) -> Option<RunId> {
    lane.strip_prefix("run/")?.split('/').next()?.parse().ok()
}

/// Finds the task that an intent is for, by its lane.
pub(crate) fn find_task(lane: &str) -> Option<TaskId> {
    lane.strip_prefix("task/")?.split('/').next()?.parse().ok()
}

/// Returns the lane that has an open intent as long as a session is open.
pub(crate) fn lane_of(subject: &Subject) -> String {
    subject.run_id.map(node_lane).or(subject.task_id.map(session_lane)).unwrap_or_default()
}

/// Tells whether an intent of a lane may be a session of an agent.
pub(crate) fn is_of_sessions(lane: &str) -> bool {
    lane.ends_with("/session") || lane.ends_with("/node")
}

/// Makes an intent of an effect that the `event`-th row asks for.
///
/// A session and a pause have lanes of their own, because what ends them must run in parallel.
pub(crate) fn intent_of(effect: &Effect, event: usize) -> NewIntent {
    let task = effect.task();
    let lane = match effect {
        Effect::RunSession { .. } => session_lane(task),
        Effect::Wait { .. } => format!("task/{task}/wait"),
        _ => format!("task/{task}"),
    };
    NewIntent { event, kind: effect.kind().to_owned(), lane, data: data_of(effect.kind(), effect) }
}

fn data_of(kind: &str, effect: &impl Serialize) -> String {
    Head::of_effect(kind).take_off(serde_json::to_string(effect).expect("an effect is plain data"))
}

/// Reads the effect of an intent.
pub(crate) fn effect_of<E: DeserializeOwned>(intent: &Intent) -> Result<E, serde_json::Error> {
    serde_json::from_str(&Head::of_effect(&intent.kind).put_before(&intent.data))
}

/// Makes an intent of an effect of a run.
///
/// A long effect has a lane of its own, because what stops it must run in parallel.
pub(crate) fn intent_of_run(effect: &run::Effect, event: usize) -> NewIntent {
    let run = effect.run();
    let lane = match effect {
        run::Effect::PerformNode { .. } => node_lane(run),
        run::Effect::LandTask { .. } => format!("run/{run}/land"),
        _ => format!("run/{run}"),
    };
    NewIntent { event, kind: effect.kind().to_owned(), lane, data: data_of(effect.kind(), effect) }
}

/// Makes facts of events that were decided together.
pub(crate) fn facts<E>(events: Vec<E>, actor: &Actor, at: Timestamp) -> Vec<Fact<E>> {
    events.into_iter().map(|event| Fact { at, actor: actor.clone(), event }).collect()
}
