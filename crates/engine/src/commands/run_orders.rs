//! Gives orders to runs: begin, pause, resume, stop, answer, fork.

use crate::clock;
use crate::commands::fork_point::find_fork_point;
use crate::commands::orders::{Giver, invalid};
use crate::core::run::{self, Command, Event, Hold, Index, Inputs, Order, Parent, Run, Taping};
use crate::core::{Actor, Fact, FieldFault, PrdSlug, Refusal, RunId};
use crate::crash;
use crate::error::Error;
use crate::log;
use crate::log::{Folded, NO_SNAPSHOT, SNAPSHOT_FORMAT};
use crate::project::Project;
use crate::recording::tape;
use crate::runs::book::Listed;
use crate::runs::family;
use crate::runs::seat::{self, Seat, Terms};
use regatta_flow::Workflow;
use regatta_store::{Append, Appended, NewEvent, NewIntent, StreamName, Version};
use serde_json::Value;

/// Each lost race means that another command went through.
const TRIES_MAX: u32 = 64;

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
    /// The tape that it is recorded on, or played from.
    pub tape: Option<Taping>,
}

/// Begins a run.
pub async fn create(project: &Project, giver: &Giver, new: NewRun) -> Result<RunId, Error> {
    let ids = create_many(project, giver, vec![new]).await?;
    ids.into_iter().next().ok_or(Error::Contended { tries: 0 })
}

/// Begins several runs in one append.
pub async fn create_many(project: &Project, giver: &Giver, new: Vec<NewRun>) -> Result<Vec<RunId>, Error> {
    let mut plans = Vec::new();
    for NewRun { workflow, level, prd, input, board, tape } in new {
        let definition = project.book().compile(&workflow.address(), &workflow.folder)?;
        let digest = workflow.folder.digest();
        let order = Order {
            digest,
            within: Vec::new(),
            level,
            prd,
            input,
            board,
            tape,
            parent: None,
            is_parent_paused: false,
        };
        plans.push((definition, order));
    }
    for _ in 0..TRIES_MAX {
        let mut batch = Batch::open(project).await?;
        let mut ids = Vec::new();
        for (definition, order) in &plans {
            batch.keep(project, definition, &order.digest, &giver.actor).await?;
            ids.push(batch.begin(definition, order.clone(), &giver.actor)?);
        }
        if batch.append(project).await? {
            for (id, _) in ids.iter().zip(&plans).filter(|(_, (_, order))| order.tape.is_some()) {
                // So that the tape of an interrupted run says which run it is.
                tape::close_quietly(project, *id).await;
            }
            return Ok(ids);
        }
    }
    Err(Error::Contended { tries: TRIES_MAX })
}

/// Pauses a run and its children: they ask for nothing more until resumed, and the current steps end.
pub async fn pause(project: &Project, giver: &Giver, run: RunId) -> Result<(), Error> {
    family::tell(project, giver, run, Command::Pause).await
}

/// Resumes a paused run with its children, and retries a run that an error holds, as well as those of its
/// children that an error holds.
pub async fn resume(project: &Project, giver: &Giver, run: RunId) -> Result<(), Error> {
    family::tell(project, giver, run, Command::Resume).await?;
    let mut parents = vec![run];
    while let Some(parent) = parents.pop() {
        for child in get_run(project, parent).await?.children_under_way() {
            if matches!(get_run(project, child).await?.hold(), Some(Hold::Error { .. })) {
                let seat = Seat::load_bare(project, child).await?;
                match tell(project, giver, seat, Command::Resume).await {
                    // It has ended meanwhile, or is being stopped.
                    Err(Error::Refused(_)) | Ok(()) => {}
                    Err(other) => return Err(other),
                }
            }
            parents.push(child);
        }
    }
    Ok(())
}

/// Ends a run; a running session is stopped.
pub async fn stop(project: &Project, giver: &Giver, run: RunId, reason: Option<String>) -> Result<(), Error> {
    let seat = Seat::load_bare(project, run).await?;
    tell(project, giver, seat, Command::Stop { reason }).await
}

/// Answers the question of a run in one step; a question of another step stays open.
pub async fn answer(
    project: &Project,
    giver: &Giver,
    (run, step): (RunId, u64),
    approved: bool,
    text: String,
) -> Result<(), Error> {
    let seat = Seat::load(project, run).await?;
    tell(project, giver, seat, Command::Answer { step, approved, text }).await
}

/// Starts a new run from a step of an earlier one; by default from its last step.
///
/// It plays the definition of the earlier run, or the one that is given, to continue after a workflow was
/// fixed. A replay is refused, because what it merged is on no branch that a fork would work on.
pub async fn fork(
    project: &Project,
    giver: &Giver,
    run: RunId,
    step: Option<u64>,
    workflow: Option<&Listed>,
) -> Result<RunId, Error> {
    let mut point = find_fork_point(&load_facts(project, run).await?, run, step)?;
    if let Some(Taping::Replay(_)) = point.run.tape {
        let problem =
            format!("{run} is a replay: what it merged is only on its replay branch; fork the recorded run");
        return Err(invalid(vec![FieldFault { field: "run", problem }]));
    }
    let definition = match workflow {
        Some(listed) => Some(point.turn_to(project.book().compile(&listed.address(), &listed.folder)?)?),
        None => None,
    };
    let taken = point.find_taken(project).await?;
    for _ in 0..TRIES_MAX {
        let mut batch = Batch::open(project).await?;
        if let Some(definition) = &definition {
            batch.keep(project, definition, &point.run.digest, &giver.actor).await?;
        }
        let id = batch.add(|id| Ok(vec![run::fork(id, &point.run, taken.clone())]), &giver.actor)?;
        if batch.append(project).await? {
            return Ok(id);
        }
    }
    Err(Error::Contended { tries: TRIES_MAX })
}

/// Returns the run, or the refusal that there is none.
pub async fn get_run(project: &Project, run: RunId) -> Result<Run, Error> {
    seat::load(project, run).await?.state.ok_or(Error::Refused(Refusal::RunNotFound { run }))
}

/// Loads every event of a run.
pub(crate) async fn load_facts(project: &Project, run: RunId) -> Result<Vec<Fact<Event>>, Error> {
    let loaded = project.store().load(&log::run_stream(run), NO_SNAPSHOT).await?;
    if loaded.tail.is_empty() {
        return Err(Error::Refused(Refusal::RunNotFound { run }));
    }
    loaded.tail.iter().map(log::fact_of).collect()
}

async fn tell(project: &Project, giver: &Giver, mut seat: Seat, command: Command) -> Result<(), Error> {
    seat.give(project, &giver.actor, command, &Terms::default()).await.map(|_| ())
}

/// Loads the numbers of all runs.
pub(crate) async fn load_index(project: &Project) -> Result<Folded<Index>, Error> {
    Folded::from_loaded(project.store().load(&log::runs_stream(), SNAPSHOT_FORMAT).await?)
}

/// New runs on their way into the log.
pub(crate) struct Batch {
    index: Folded<Index>,
    index_version: Version,
    expect: Vec<(StreamName, Version)>,
    rows: Vec<NewEvent>,
    intents: Vec<NewIntent>,
}

impl Batch {
    pub(crate) async fn open(project: &Project) -> Result<Self, Error> {
        let index = load_index(project).await?;
        let index_version = index.version;
        Ok(Batch { index, index_version, expect: Vec::new(), rows: Vec::new(), intents: Vec::new() })
    }

    /// Stores a definition, unless the log has it.
    async fn keep(
        &mut self,
        project: &Project,
        definition: &Workflow,
        digest: &str,
        actor: &Actor,
    ) -> Result<(), Error> {
        let stream = log::workflow_stream(digest);
        if self.expect.iter().any(|(known, _)| *known == stream) {
            return Ok(());
        }
        let loaded = project.store().load(&stream, SNAPSHOT_FORMAT).await?;
        self.expect.push((stream, loaded.version));
        if loaded.version == Version(0) {
            let files = definition.folder.files().clone();
            let event =
                Event::WorkflowKept { digest: digest.to_owned(), name: definition.name.clone(), files };
            let fact = Fact { at: clock::now(), actor: actor.clone(), event };
            self.rows.push(log::row_of(&fact));
        }
        Ok(())
    }

    /// Begins a run, and returns its number.
    pub(crate) fn begin(&mut self, workflow: &Workflow, order: Order, actor: &Actor) -> Result<RunId, Error> {
        let inputs = Inputs { workflow, now_millis: clock::now().as_millisecond() };
        self.add(|id| run::begin(inputs, id, order), actor)
    }

    fn add(
        &mut self,
        begin: impl FnOnce(RunId) -> Result<Vec<Event>, Refusal>,
        actor: &Actor,
    ) -> Result<RunId, Error> {
        let (id, at) = (self.index.state.next_id(), clock::now());
        let events = begin(id).map_err(Error::Refused)?;
        for event in &events {
            let fact = Fact { at, actor: actor.clone(), event: event.clone() };
            if let Event::RunCreated { .. } = event {
                self.index.push(&fact, 0);
            }
        }
        let mut folded = Folded::empty(log::run_stream(id));
        self.expect.push((folded.stream.clone(), Version(0)));
        let added = seat::push(&mut folded, (at, events), actor, self.rows.len());
        self.rows.extend(added.rows);
        self.intents.extend(added.intents);
        Ok(id)
    }

    /// Puts it into the log, unless another process came first.
    async fn append(self, project: &Project) -> Result<bool, Error> {
        crash::point("append.before");
        match project.store().append(self.into_append()).await {
            Ok(Appended::Stored { .. }) => {
                crash::point("append.after");
                Ok(true)
            }
            Ok(Appended::Repeated { .. }) => Ok(true),
            Err(regatta_store::Error::Conflict { .. }) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }

    /// Returns all of it, to be appended together with something else.
    pub(crate) fn into_append(mut self) -> Append {
        let mut snapshots = Vec::new();
        if !self.rows.is_empty() {
            self.expect.push((self.index.stream.clone(), self.index_version));
            snapshots.extend(self.index.snapshot_if_due());
        }
        Append {
            expect: self.expect,
            events: self.rows,
            intents: self.intents,
            snapshots,
            ..Append::default()
        }
    }
}

/// Returns the order for a child of a `map` node.
pub(crate) fn child_order(parent: &Run, workflow: &str, item: &run::Item) -> Order {
    let mut within = parent.within.clone();
    within.push(workflow.to_owned());
    Order {
        digest: parent.digest.clone(),
        within,
        level: None,
        prd: parent.prd.clone(),
        input: item.input.clone(),
        board: parent.wants_board(),
        tape: parent.tape.clone(),
        parent: Some(Parent { run_id: parent.id, item: item.key.clone() }),
        is_parent_paused: parent.pauses_children(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::run::{Hold, Situation};
    use crate::core::{Code, Failure};
    use crate::runtime::carry::Helm;
    use regatta_flow::Folder;
    use regatta_testkit::repo::TestRepo;
    use std::sync::Arc;
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
        let mut helm = Helm::take(Arc::clone(project), CancellationToken::new()).await.unwrap();
        let found = helm.rest_run(run, &mut |_| {}).await.unwrap();
        helm.release().await.unwrap();
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
            tape: None,
            parent: None,
            is_parent_paused: false,
        };
        let actor = Actor::User("local".to_owned());
        let mut batch = Batch::open(&project).await.unwrap();
        batch.keep(&project, &definition, "00", &actor).await.unwrap();
        let run = batch.begin(&definition, order, &actor).unwrap();
        assert!(batch.append(&project).await.unwrap());

        let held = rest(&project, run).await;
        let Some(Hold::Error { error: Failure { code, hint, .. } }) = held.hold() else { panic!("{held:?}") };
        assert_eq!(*code, Code::WorkflowInvalid);
        assert!(hint.contains("`regatta run fork 1 --with WORKFLOW`"), "{hint}");
        stop(&project, &Giver { actor, command_id: None }, run, None).await.unwrap();
        let Situation::Failed { error } = rest(&project, run).await.situation else {
            panic!("it was stopped")
        };
        assert_eq!(error.code, Code::RunStopped);
    }
}
