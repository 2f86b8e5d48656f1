//! Gives orders to runs: begin, pause, resume, stop, answer, fork.

use crate::clock;
use crate::commands::batch::{Batch, reads};
use crate::commands::fork_point::find_fork_point;
use crate::commands::orders::{Caller, check_lengths, invalid};
use crate::commands::request::{Request, StartRun};
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::core::run::{
    self, Command, Event, ImportNote, Index, Inputs, Order, Parent, RecordingMode, Run, Taken,
};
use crate::core::{Fact, FieldFault, PrdSlug, Refusal, RunId};
use crate::error::Error;
use crate::log;
use crate::log::{Follow, Kept, NO_SNAPSHOT, PathOwner, Stream};
use crate::project::Project;
use crate::recording::recorder;
use crate::run_files;
use crate::runs::definitions::Listed;
use crate::runs::driver;
use crate::runs::family;
use jiff::Timestamp;
use regatta_flow::{Imported, Workflow};
use regatta_store::Version;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The longest reason for a stop, as for a task that is cancelled.
const REASON_CHARACTERS_MAX: usize = 500;

/// The longest answer of a person: every prompt that shows it grows by it.
const ANSWER_CHARACTERS_MAX: usize = 20_000;

/// The largest input, as JSON: a PRD and as much again.
const INPUT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// A run to begin.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// The workflow.
    pub workflow: Listed,
    /// The level; the workflow's own if none is given.
    pub level: Option<u32>,
    /// The PRD that it starts from; its tasks are linked to it.
    pub prd: Option<PrdSlug>,
    /// Its input.
    pub input: Value,
    /// Whether its items, and those of its children, become tasks on the board.
    pub board: bool,
    /// The recording that it is recorded on, or played from.
    pub recording: Option<RecordingMode>,
}

/// Begins a run.
pub async fn create(project: &Project, caller: &Caller, new: NewRun) -> Result<RunId, Error> {
    first(create_many(project, caller, vec![new]).await?)
}

/// Begins several runs in one append.
pub async fn create_many(project: &Project, caller: &Caller, new: Vec<NewRun>) -> Result<Vec<RunId>, Error> {
    let envelope =
        Envelope::of(caller, &Request::StartRuns { runs: new.iter().map(NewRun::request).collect() });
    // First of all: the workflow may have been changed or removed since.
    if let Some(ids) = round::find_answer(project, &envelope).await? {
        return Ok(ids);
    }
    let mut begin = Begin::default();
    for NewRun { workflow, level, prd, input, board, recording } in new {
        check_input(&input)?;
        let definition = project.definitions().compile(&workflow.address(), &workflow.folder)?;
        let digest = workflow.folder.digest();
        let (within, parent, is_parent_paused) = (Vec::new(), None, false);
        let order = Order { digest, within, level, prd, input, board, recording, parent, is_parent_paused };
        begin.start(definition, order);
    }
    let ids = round::submit(project, &envelope, &begin, None).await?.answer;
    for id in ids.iter().filter(|_| begin.has_files()) {
        // What fails is shown with the run, and tried again by the engine.
        run_files::ensure_first(project, &get_run(project, *id).await?).await;
    }
    for (id, _) in ids.iter().zip(&begin.runs).filter(|(_, run)| run.is_recorded()) {
        // So that the recording of an interrupted run says which run it is.
        recorder::close_quietly(project, *id).await;
    }
    Ok(ids)
}

/// Makes a run of what was found in files; the same files make one run.
pub(crate) async fn import(
    project: &Project,
    caller: &Caller,
    workflow: Listed,
    found: Imported,
    note: ImportNote,
) -> Result<RunId, Error> {
    check_input(&Value::Object(found.input.clone()))?;
    let definition = project.definitions().compile(&workflow.address(), &workflow.folder)?;
    let order = Order {
        digest: workflow.folder.digest(),
        within: Vec::new(),
        level: None,
        prd: None,
        input: Value::Null,
        board: true,
        recording: None,
        parent: None,
        is_parent_paused: false,
    };
    let mut begin = Begin::default();
    begin.keep.insert(order.digest.clone(), Arc::clone(&definition));
    begin.runs.push(Beginning::Import(definition, Box::new((order, found, note))));
    let id = first(round::submit(project, &Envelope::by(&caller.actor), &begin, None).await?.answer)?;
    run_files::ensure_first(project, &get_run(project, id).await?).await;
    Ok(id)
}

fn check_input(input: &Value) -> Result<(), Error> {
    if input.to_string().len() <= INPUT_BYTES_MAX {
        return Ok(());
    }
    let problem = format!("must have at most {INPUT_BYTES_MAX} bytes as JSON");
    Err(invalid(vec![FieldFault { field: "input", problem }]))
}

impl NewRun {
    fn request(&self) -> StartRun<'_> {
        let NewRun { workflow, level, prd, input, board, recording: _ } = self;
        let (workflow, prd) = (workflow.address(), prd.as_ref());
        StartRun { workflow, level: *level, prd, input, board: *board }
    }
}

/// Pauses a run and its children: they ask for nothing more until resumed, and the current steps end.
pub async fn pause(project: &Project, caller: &Caller, run: RunId) -> Result<(), Error> {
    let envelope = Envelope::of(caller, &Request::PauseRun { run });
    family::tell(project, &envelope, run, Command::Pause).await?;
    run_files::settle(project, run).await;
    Ok(())
}

/// Resumes a paused run with its children, and retries a run that an error holds, as well as those of its
/// children that an error holds.
pub async fn resume(project: &Project, caller: &Caller, run: RunId) -> Result<(), Error> {
    let envelope = Envelope::of(caller, &Request::ResumeRun { run });
    family::tell(project, &envelope, run, Command::Resume).await
}

/// Ends a run; a running session is stopped.
pub async fn stop(
    project: &Project,
    caller: &Caller,
    run: RunId,
    reason: Option<String>,
) -> Result<(), Error> {
    check_lengths(&[("reason", reason.as_deref().unwrap_or_default(), REASON_CHARACTERS_MAX)])?;
    let envelope = Envelope::of(caller, &Request::StopRun { run, reason: reason.as_deref() });
    driver::tell(project, &envelope, run, Command::Stop { reason }).await
}

/// Answers the question of a run in one step; a question of another step stays open.
pub async fn answer(
    project: &Project,
    caller: &Caller,
    (run, step): (RunId, u64),
    approved: bool,
    text: String,
) -> Result<(), Error> {
    check_lengths(&[("text", &text, ANSWER_CHARACTERS_MAX)])?;
    let envelope = Envelope::of(caller, &Request::AnswerRun { run, approved, text: &text });
    driver::tell(project, &envelope, run, Command::Answer { step, approved, text }).await
}

/// Starts a new run from a step of an earlier one; by default from its last step.
///
/// It plays the definition of the earlier run, or the one that is given, to continue after a workflow was
/// fixed. A replay is refused, because what it merged is on no branch that a fork would work on.
pub async fn fork(
    project: &Project,
    caller: &Caller,
    run: RunId,
    step: Option<u64>,
    workflow: Option<&Listed>,
) -> Result<RunId, Error> {
    let request = Request::ForkRun { run, step, workflow: workflow.map(Listed::address) };
    let envelope = Envelope::of(caller, &request);
    if let Some(ids) = round::find_answer(project, &envelope).await? {
        return first(ids);
    }
    let mut point = find_fork_point(&load_facts(project, run).await?, run, step)?;
    if let Some(RecordingMode::Replay(_)) = point.run.recording {
        let problem =
            format!("{run} is a replay: what it merged is only on its replay branch; fork the recorded run");
        return Err(invalid(vec![FieldFault { field: "run", problem }]));
    }
    let mut begin = Begin::default();
    if let Some(listed) = workflow {
        let definition = point.turn_to(project.definitions().compile(&listed.address(), &listed.folder)?)?;
        begin.keep.insert(point.run.digest.clone(), definition);
    }
    let taken = point.find_taken(project).await?;
    let definition = match begin.keep.get(&point.run.digest) {
        Some(definition) => Some(Arc::clone(definition)),
        // One that this version does not accept holds the fork later, with the reason.
        None => project.definitions().get(project, &point.run.digest).await.ok(),
    };
    begin.runs.push(Beginning::Fork(Box::new(point.run), taken, definition));
    let id = first(round::submit(project, &envelope, &begin, None).await?.answer)?;
    if begin.has_files() {
        run_files::ensure_first(project, &get_run(project, id).await?).await;
    }
    Ok(id)
}

fn first(ids: Vec<RunId>) -> Result<RunId, Error> {
    let none = || Error::LogUnsound { seq: 0, why: "the answer that was kept names no run".to_owned() };
    ids.into_iter().next().ok_or_else(none)
}

/// Returns the run, or the refusal that there is none.
pub async fn get_run(project: &Project, run: RunId) -> Result<Run, Error> {
    driver::load(project, run).await?.state.ok_or(Error::Refused(Refusal::RunNotFound { run }))
}

/// Loads every event of a run.
pub(crate) async fn load_facts(project: &Project, run: RunId) -> Result<Vec<Fact<Event>>, Error> {
    let loaded = project.store().load(&log::run_stream(run), NO_SNAPSHOT).await?;
    if loaded.tail.is_empty() {
        return Err(Error::Refused(Refusal::RunNotFound { run }));
    }
    loaded.tail.iter().map(log::fact_of).collect()
}

/// Loads the numbers of all runs.
pub(crate) async fn load_index(project: &Project) -> Result<Stream<Index>, Error> {
    Stream::load(project, log::runs_stream()).await
}

/// Runs that begin in one append, with the definitions that the log must have for them.
#[derive(Default)]
struct Begin {
    keep: BTreeMap<String, Arc<Workflow>>,
    runs: Vec<Beginning>,
}

enum Beginning {
    New(Arc<Workflow>, Order),
    Fork(Box<Run>, Taken, Option<Arc<Workflow>>),
    Import(Arc<Workflow>, Box<(Order, Imported, ImportNote)>),
}

impl Begin {
    fn has_files(&self) -> bool {
        self.runs.iter().filter_map(Beginning::filing).any(|(filing, _)| !filing.workflow.files.is_empty())
    }

    fn start(&mut self, definition: Arc<Workflow>, order: Order) {
        self.keep.insert(order.digest.clone(), Arc::clone(&definition));
        self.runs.push(Beginning::New(definition, order));
    }
}

impl Beginning {
    /// Returns what says where the files of the run are.
    fn filing(&self) -> Option<(Filing<'_>, Value)> {
        match self {
            Beginning::New(workflow, order) => Some((Filing::of(workflow), order.input.clone())),
            Beginning::Import(workflow, parts) => {
                Some((Filing::of(workflow), Value::Object(parts.1.input.clone())))
            }
            Beginning::Fork(from, _, definition) => {
                let definition = definition.as_ref()?;
                let workflow = driver::find_within(definition, &from.within);
                let filing = Filing { workflow, folder: run::folder_of(definition) };
                Some((filing, from.sheet.input().clone()))
            }
        }
    }

    fn is_recorded(&self) -> bool {
        matches!(self, Beginning::New(_, order) if order.recording.is_some())
    }
}

impl Round for Begin {
    type Reads = NewRuns;
    type Answer = Vec<RunId>;

    async fn load(&self, project: &Project) -> Result<NewRuns, Error> {
        let mut reads = NewRuns::load(project).await?;
        let new: Vec<(Filing<'_>, Value)> = self.runs.iter().filter_map(Beginning::filing).collect();
        reads.find_owners(project, &new).await?;
        for digest in self.keep.keys() {
            reads.definitions.push(Stream::load(project, log::workflow_stream(digest)).await?);
        }
        Ok(reads)
    }

    fn decide(&self, reads: &mut NewRuns, batch: &mut Batch) -> Result<Verdict<Vec<RunId>>, Error> {
        for ((digest, definition), kept) in self.keep.iter().zip(&mut reads.definitions) {
            if kept.version == Version(0) {
                let (name, files) = (definition.name.clone(), definition.folder.files().clone());
                batch.add(&mut [kept], vec![Event::WorkflowKept { digest: digest.clone(), name, files }]);
            }
        }
        let mut ids = Vec::new();
        for run in &self.runs {
            ids.push(match run {
                Beginning::New(workflow, order) => reads.begin(Filing::of(workflow), order.clone(), batch)?,
                Beginning::Import(workflow, parts) => {
                    let (order, found, note) = parts.as_ref().clone();
                    reads.import(Filing::of(workflow), order, (found, note), batch)?
                }
                Beginning::Fork(from, taken, _) => {
                    let filing = run.filing().map(|(filing, _)| filing);
                    reads.add(filing, |id| Ok(vec![run::fork(id, from, taken.clone())]), batch)?
                }
            });
        }
        Ok(Verdict::Append(ids))
    }
}

/// What says where the files of a run are.
#[derive(Clone, Copy)]
pub(crate) struct Filing<'w> {
    /// What the run plays.
    pub(crate) workflow: &'w Workflow,
    /// The folder of its files, which children share with the runs above them.
    pub(crate) folder: &'w str,
}

impl<'w> Filing<'w> {
    /// Returns that of an outermost run.
    fn of(workflow: &'w Workflow) -> Self {
        Filing { workflow, folder: run::folder_of(workflow) }
    }
}

/// New runs, with what gives them their numbers, and the runs that have the paths of their files.
pub(crate) struct NewRuns {
    index: Stream<Index>,
    definitions: Vec<Stream<Kept>>,
    runs: Vec<Stream<Option<Run>>>,
    owners: Vec<Stream<PathOwner>>,
    /// The paths that runs under way have, by the names of their streams.
    taken: BTreeMap<String, RunId>,
    /// The time for which the paths were found: a path may contain it.
    at: Option<Timestamp>,
}

reads!(NewRuns: index, definitions, runs, owners);

impl NewRuns {
    pub(crate) async fn load(project: &Project) -> Result<Self, Error> {
        Ok(NewRuns {
            index: load_index(project).await?,
            definitions: Vec::new(),
            runs: Vec::new(),
            owners: Vec::new(),
            taken: BTreeMap::new(),
            at: None,
        })
    }

    /// Finds who has the paths of the files of runs that are to begin with these inputs.
    pub(crate) async fn find_owners(
        &mut self,
        project: &Project,
        new: &[(Filing<'_>, Value)],
    ) -> Result<(), Error> {
        let (mut id, at) = (self.index.state.next_id(), clock::now());
        let mut streams = BTreeMap::new();
        for (filing, input) in new.iter().filter(|(filing, _)| !filing.workflow.files.is_empty()) {
            let mut input = input.clone();
            // What does not fit is refused when the run begins, and so is a path that cannot be made.
            let _ = filing.workflow.fit_input(&mut input);
            let paths = run::find_paths(filing.workflow, filing.folder, (id, at), &input).unwrap_or_default();
            for path in paths.values() {
                let stream = log::path_stream(path);
                streams.insert(stream.as_str().to_owned(), stream);
            }
            id = id.next();
        }
        let streams: Vec<_> = streams.into_values().collect();
        if streams.is_empty() {
            return Ok(());
        }
        self.at = Some(at);
        self.owners = Stream::load_many(project, &streams).await?;
        for owner in &self.owners {
            if let Some(run) = owner.state.run
                && !get_run(project, run).await?.is_over()
            {
                self.taken.insert(owner.stream.as_str().to_owned(), run);
            }
        }
        Ok(())
    }

    /// Begins a run, and returns its number.
    pub(crate) fn begin(
        &mut self,
        filing: Filing<'_>,
        order: Order,
        batch: &mut Batch,
    ) -> Result<RunId, Error> {
        let (workflow, at) = (filing.workflow, self.set_time(batch));
        let begin = |id| {
            let variables = run::first_facts(workflow, Some(id), at);
            let inputs = Inputs { variables: &variables, ..Inputs::new(workflow, at.as_millisecond()) };
            run::begin(inputs, id, order)
        };
        self.add(Some(filing), begin, batch)
    }

    fn import(
        &mut self,
        filing: Filing<'_>,
        order: Order,
        found: (Imported, ImportNote),
        batch: &mut Batch,
    ) -> Result<RunId, Error> {
        let (workflow, at) = (filing.workflow, self.set_time(batch));
        let import = |id| {
            let variables = run::first_facts(workflow, Some(id), at);
            let inputs = Inputs { variables: &variables, ..Inputs::new(workflow, at.as_millisecond()) };
            run::import(inputs, id, order, found)
        };
        self.add(Some(filing), import, batch)
    }

    fn add(
        &mut self,
        filing: Option<Filing<'_>>,
        begin: impl FnOnce(RunId) -> Result<Vec<Event>, Refusal>,
        batch: &mut Batch,
    ) -> Result<RunId, Error> {
        let id = self.index.state.next_id();
        let at = self.set_time(batch);
        let mut events = begin(id).map_err(Error::Refused)?;
        if let Some(Filing { workflow, folder }) = filing {
            run::place_files(workflow, folder, at, &mut events).map_err(Error::Refused)?;
            self.take_paths(id, &events)?;
        }
        let mut run = Stream::empty(log::run_stream(id));
        let mut streams: Vec<&mut dyn Follow> = vec![&mut self.index, &mut run];
        streams.extend(self.owners.iter_mut().map(|owner| owner as &mut dyn Follow));
        batch.add(&mut streams, events);
        self.runs.push(run);
        Ok(id)
    }
}

impl NewRuns {
    /// Makes the time for which the paths were found that of the events. Otherwise a second that ends in between would give the
    /// run other paths, whose streams nobody has read.
    fn set_time(&self, batch: &mut Batch) -> Timestamp {
        batch.at = self.at.unwrap_or(batch.at);
        batch.at
    }

    /// Makes the paths of a new run its own, unless another run under way has one.
    fn take_paths(&mut self, id: RunId, events: &[Event]) -> Result<(), Error> {
        let Some(Event::RunCreated { plan, .. }) = events.first() else { return Ok(()) };
        for path in plan.files.values() {
            let stream = log::path_stream(path).as_str().to_owned();
            if let Some(owner) = self.taken.insert(stream, id) {
                return Err(Error::Refused(Refusal::FileTaken { path: path.clone(), owner }));
            }
        }
        Ok(())
    }
}

/// Returns the order for a child of a `map` node.
pub(crate) fn child_order(parent: &Run, workflow: &str, item: &run::Item) -> Order {
    let mut within = parent.within.clone();
    within.push(workflow.to_owned());
    let task = parent.tasks.get(&item.key).copied();
    Order {
        digest: parent.digest.clone(),
        within,
        level: None,
        prd: parent.prd.clone(),
        input: item.input.clone(),
        board: parent.wants_board(),
        recording: parent.recording.clone(),
        parent: Some(Parent { run_id: parent.id, item: item.key.clone(), task }),
        is_parent_paused: parent.pauses_children(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::run::{Hold, Situation};
    use crate::core::{Actor, Code, Failure};
    use crate::runtime::supervisor::Supervisor;
    use regatta_flow::Folder;
    use regatta_testkit::repo::TestRepo;
    use tokio_util::sync::CancellationToken;

    fn folder(prompt: &str) -> Folder {
        let workflow = r#"
            name = "plain"
            start = "work"
            nodes.work = { kind = "agent", role = "worker" }
            nodes.done = { kind = "end" }
            edges = [{ id = "worked", from = "work", to = "done" }]
        "#;
        let files = [
            ("workflow.toml", workflow),
            ("state.schema.json", r#"{ "type": "object" }"#),
            ("roles/worker.md", prompt),
            ("roles/worker.output.json", "{}"),
        ];
        Folder::new(files.map(|(name, text)| (name.to_owned(), text.to_owned())).into())
    }

    async fn rest(project: &Arc<Project>, run: RunId) -> Run {
        let mut supervisor = Supervisor::take(Arc::clone(project), CancellationToken::new()).await.unwrap();
        let found = supervisor.rest_run(run, &mut |_| {}).await.unwrap();
        supervisor.release().await.unwrap();
        found
    }

    #[tokio::test]
    async fn a_run_whose_definition_is_no_longer_accepted_is_held_and_can_be_stopped() {
        let repo = TestRepo::new();
        repo.write(".regatta/config.toml", "[project]\ndefault_branch = \"main\"\n");
        repo.write(".gitignore", ".regatta/\n");
        repo.commit("a project");
        let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
        let mut definition = Workflow::load(&folder("Work.")).unwrap();
        definition.folder = Arc::new(folder("{% set x = 1 %}"));
        let order = Order {
            digest: "00".to_owned(),
            within: Vec::new(),
            level: None,
            prd: None,
            input: serde_json::json!({}),
            board: false,
            recording: None,
            parent: None,
            is_parent_paused: false,
        };
        let actor = Actor::User("local".to_owned());
        let mut begin = Begin::default();
        begin.start(Arc::new(definition), order);
        let begun = round::submit(&project, &Envelope::by(&actor), &begin, None).await.unwrap();
        let run = begun.answer[0];

        let held = rest(&project, run).await;
        let Some(Hold::Error { error: Failure { code, hint, .. } }) = held.hold() else { panic!("{held:?}") };
        assert_eq!(*code, Code::WorkflowInvalid);
        assert!(hint.contains("`regatta run fork 1 --with WORKFLOW`"), "{hint}");
        stop(&project, &Caller::new(actor), run, None).await.unwrap();
        let Situation::Failed { error } = rest(&project, run).await.situation else {
            panic!("it was stopped")
        };
        assert_eq!(error.code, Code::RunStopped);
    }
}
