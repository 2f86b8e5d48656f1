//! Between the rules and the store: names of streams, facts as rows, states as snapshots.
//!
//! A task's events are in its own stream, `task/<id>`. Those that concern the assignments are also in `assignments`, and
//! those that concern the plan in `plan`, so that a decision is checked against only the versions that it
//! read. A stream holds events of one family, and its state folds only these; each family has its own
//! streams.

use crate::core::document::{self, Catalogue, Epic, Prd};
use crate::core::message::{self, Address, Inbox, MessageCount, Party};
use crate::core::run::{self, Run};
use crate::core::session::{self, Account, Scope, Subject};
use crate::core::{
    AnyEvent, Asker, Assignments, Effect, EpicId, Event, Fact, FileText, Plan, PrdSlug, RunId, Task, TaskId,
    effects,
};
use crate::digest::sha256;
use crate::error::Error;
use crate::log::row_text::{Head, read_actor, write_actor};
use crate::project::Project;
use regatta_store::{Intent, Loaded, NewEvent, NewIntent, NewSnapshot, Recorded, StreamName, Version};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::any::Any;
use uuid::Uuid;

/// Raised whenever a state is kept in another shape; older snapshots are then ignored and the log replayed.
pub(crate) const SNAPSHOT_FORMAT: u32 = 9;

/// Snapshots of this format do not exist, so a load that asks for it reads the whole stream.
pub(crate) const NO_SNAPSHOT: u32 = u32::MAX;

/// An event of one family, as the log keeps it.
pub(crate) trait Logged: Serialize + DeserializeOwned + 'static {
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
        if self.concerns_assignments() {
            streams.push(assignments_stream());
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
        let inbox = inbox_stream(&self.address());
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
            run::Event::RunCreated { run_id, plan } => {
                let mut streams = vec![run_stream(*run_id), runs_stream()];
                streams.extend(plan.files.values().map(|path| path_stream(path)));
                streams
            }
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
pub(crate) trait State: Default + Send + Serialize + DeserializeOwned {
    /// The family.
    type Event: Logged;

    /// Whether loading is faster with snapshots.
    const HAS_SNAPSHOTS: bool = true;

    /// Folds one fact into the state.
    fn fold(&mut self, fact: &Fact<Self::Event>);

    /// Folds a fact that is about to be appended, and returns what it asks for.
    fn fold_new(&mut self, fact: &Fact<Self::Event>) -> Vec<Effect> {
        self.fold(fact);
        Vec::new()
    }
}

impl State for Option<Task> {
    type Event = Event;

    fn fold(&mut self, fact: &Fact) {
        Task::evolve_in_place(self, fact);
    }

    fn fold_new(&mut self, fact: &Fact) -> Vec<Effect> {
        self.fold(fact);
        self.as_ref().and_then(|task| effects(task, &fact.event)).into_iter().collect()
    }
}

impl State for Option<Run> {
    type Event = run::Event;

    fn fold(&mut self, fact: &Fact<run::Event>) {
        *self = Run::evolve(self.take(), fact);
    }

    fn fold_new(&mut self, fact: &Fact<run::Event>) -> Vec<Effect> {
        let was_asked = self.as_ref().is_some_and(Run::is_asked);
        self.fold(fact);
        self.as_ref().map_or_else(Vec::new, |run| run::effects(was_asked, run, &fact.event))
    }
}

/// States of which every fact makes a new one.
macro_rules! fold_by_evolving {
    ($($state:ty: $event:ty),* $(,)?) => {$(
        impl State for $state {
            type Event = $event;

            fn fold(&mut self, fact: &Fact<$event>) {
                *self = std::mem::take(self).evolve(fact);
            }
        }
    )*};
}

fold_by_evolving! {
    Assignments: Event,
    FileText: Event,
    Plan: Event,
    run::Index: run::Event,
    Account: session::Event,
    Inbox: message::Event,
    MessageCount: message::Event,
    Catalogue: document::Event,
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

/// The stream of a definition: only its version matters, since a definition never changes.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Kept;

impl State for Kept {
    type Event = run::Event;
    const HAS_SNAPSHOTS: bool = false;

    fn fold(&mut self, _: &Fact<run::Event>) {}
}

/// Who has the path of a file: the run that was created last with it, unless that has ended.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct PathOwner {
    pub(crate) run: Option<RunId>,
    /// The run that had it before.
    pub(crate) before: Option<RunId>,
}

impl State for PathOwner {
    type Event = run::Event;

    fn fold(&mut self, fact: &Fact<run::Event>) {
        if let run::Event::RunCreated { run_id, .. } = &fact.event {
            self.before = self.run.replace(*run_id);
        }
    }
}

/// An inbox that something is put into: whatever else lies in it makes no difference.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Slot;

impl State for Slot {
    type Event = message::Event;
    const HAS_SNAPSHOTS: bool = false;

    fn fold(&mut self, _: &Fact<message::Event>) {}
}

/// A stream that a decision read, whatever its state is.
pub(crate) trait Follow: Send {
    /// Returns the name of the stream.
    fn name(&self) -> &StreamName;

    /// Returns the version that the log has, as far as this process knows.
    fn version(&self) -> Version;

    /// Folds a new fact, which is a `Fact` of the stream's family, and returns what it asks for.
    fn follow(&mut self, fact: &dyn Any, bytes: usize) -> Vec<Effect>;

    /// Returns a snapshot if one is due.
    fn snapshot_if_due(&self) -> Option<NewSnapshot>;

    /// Records that what was added is in the log, with a snapshot of so many bytes if one was taken.
    fn settle(&mut self, snapshot_bytes: Option<usize>);
}

/// A state with what is needed to add to its stream.
pub(crate) struct Stream<S> {
    pub(crate) stream: StreamName,
    pub(crate) version: Version,
    pub(crate) state: S,
    /// The facts that were folded and are not in the log yet.
    added: u64,
    snapshot_bytes: usize,
    tail_bytes: usize,
}

impl<S: State> Stream<S> {
    /// Returns the state of a stream that has no events.
    pub(crate) fn empty(stream: StreamName) -> Self {
        let (version, state) = (Version(0), S::default());
        Stream { stream, version, state, added: 0, snapshot_bytes: 0, tail_bytes: 0 }
    }

    /// Returns a stream whose state makes no difference, at a version.
    pub(crate) fn at(stream: StreamName, version: Version) -> Self {
        Stream { version, ..Stream::empty(stream) }
    }

    /// Loads a stream.
    pub(crate) async fn load(project: &Project, stream: StreamName) -> Result<Self, Error> {
        Stream::from_loaded(project.store().load(&stream, SNAPSHOT_FORMAT).await?)
    }

    /// Loads several streams in one consistent read.
    pub(crate) async fn load_many(project: &Project, streams: &[StreamName]) -> Result<Vec<Self>, Error> {
        let loaded = project.store().load_many(streams, SNAPSHOT_FORMAT).await?;
        loaded.into_iter().map(Stream::from_loaded).collect()
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
        Ok(Stream { stream, version, state, added: 0, snapshot_bytes, tail_bytes })
    }
}

impl<S: State> Follow for Stream<S> {
    fn name(&self) -> &StreamName {
        &self.stream
    }

    fn version(&self) -> Version {
        self.version
    }

    fn follow(&mut self, fact: &dyn Any, bytes: usize) -> Vec<Effect> {
        let fact = fact.downcast_ref().expect("a stream holds events of one family");
        self.added += 1;
        self.tail_bytes += bytes;
        self.state.fold_new(fact)
    }

    /// A snapshot is due when the events since the last are four times as large. So a load reads at most about
    /// five times the state, and all snapshots together cost a quarter of what the events do. A stream that
    /// begins here gets none: most are read once more, and then whole.
    fn snapshot_if_due(&self) -> Option<NewSnapshot> {
        /// Below this a snapshot saves nothing.
        const TAIL_BYTES_MIN: usize = 1_024;
        let is_small = self.tail_bytes <= (4 * self.snapshot_bytes).max(TAIL_BYTES_MIN);
        if !S::HAS_SNAPSHOTS || self.added == 0 || self.version == Version(0) || is_small {
            return None;
        }
        let data = serde_json::to_string(&self.state).expect("a state has only text keys");
        Some(NewSnapshot { stream: self.stream.clone(), format: SNAPSHOT_FORMAT, data })
    }

    fn settle(&mut self, snapshot_bytes: Option<usize>) {
        self.version = Version(self.version.0 + std::mem::take(&mut self.added));
        if let Some(bytes) = snapshot_bytes {
            self.snapshot_bytes = bytes;
            self.tail_bytes = 0;
        }
    }
}

pub(crate) fn task_stream(task: TaskId) -> StreamName {
    name(format!("task/{task}"))
}

pub(crate) fn file_stream(task: TaskId) -> StreamName {
    name(format!("file/{task}"))
}

pub(crate) fn assignments_stream() -> StreamName {
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
pub(crate) fn inbox_stream(Address { party, run }: &Address) -> StreamName {
    if let Party::Task(task) = party {
        return name(format!("{INBOXES}task-{task}"));
    }
    // No name has a line break, so no party is taken for a role of a run.
    let text = run.map_or_else(|| party.to_string(), |run| format!("{party}\n{run}"));
    name(format!("{INBOXES}{}-{}", party.kind(), &sha256(text)[..32]))
}

/// Returns the stream of the runs that have a file at a path.
pub(crate) fn path_stream(path: &str) -> StreamName {
    name(format!("path/{}", &sha256(path)[..32]))
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
pub(crate) fn happening_of(recorded: &Recorded) -> Result<Fact<AnyEvent>, Error> {
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
/// What takes long has a lane of its own, because what ends it must run in parallel.
pub(crate) fn intent_of(effect: &Effect, event: usize) -> NewIntent {
    let lane = match (effect, effect.asker()) {
        (Effect::RunSession { .. }, Asker::Task(task)) => session_lane(task),
        (Effect::PerformNode { .. }, Asker::Run(run)) => node_lane(run),
        (Effect::Wait { .. }, Asker::Task(task)) => format!("task/{task}/wait"),
        (Effect::LandTask { .. }, Asker::Run(run)) => format!("run/{run}/land"),
        (_, Asker::Task(task)) => format!("task/{task}"),
        (_, Asker::Run(run)) => format!("run/{run}"),
    };
    let text = serde_json::to_string(effect).expect("an effect is plain data");
    let data = Head::of_effect(effect.kind()).take_off(text);
    NewIntent { event, kind: effect.kind().to_owned(), lane, data }
}

/// Reads the effect of an intent.
pub(crate) fn effect_of(intent: &Intent) -> Result<Effect, Error> {
    let text = Head::of_effect(&intent.kind).put_before(&intent.data);
    serde_json::from_str(&text).map_err(|error| Error::LogUnsound {
        seq: intent.id.seq.0,
        why: format!("its effect cannot be read: {error}"),
    })
}
