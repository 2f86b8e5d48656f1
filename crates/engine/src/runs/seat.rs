//! A run in memory, with what is needed to add to its stream.
//!
//! The driver of a run keeps it here from step to step, so that a step neither reads the log nor copies the
//! state. Every append states the version that the decision saw; when another process came first, the run is
//! read again.

use crate::clock;
use crate::core::run::{self, Command, Effect, Event, Inputs, Run};
use crate::core::{Actor, Fact, Refusal, RunId};
use crate::crash;
use crate::error::Error;
use crate::log;
use crate::log::{Folded, SNAPSHOT_FORMAT};
use crate::project::Project;
use crate::recording::tape;
use jiff::Timestamp;
use regatta_flow::{Folder, Workflow};
use regatta_store::{Append, Appended, IntentId, LeaseToken, NewEvent, NewIntent};
use std::sync::{Arc, LazyLock};

/// Each lost race means that another command went through.
const TRIES_MAX: u32 = 64;

/// A run with its definition.
pub(crate) struct Seat {
    id: RunId,
    folded: Folded<Option<Run>>,
    definition: Arc<Workflow>,
}

/// What accompanies a command: the intents that it answers, and the lease that must still be held.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terms {
    pub(crate) settle: Vec<IntentId>,
    pub(crate) fence: Option<LeaseToken>,
}

/// What one decision adds: rows and intents, with the effects behind the intents.
pub(crate) struct Added {
    pub(crate) rows: Vec<NewEvent>,
    pub(crate) intents: Vec<NewIntent>,
    pub(crate) effects: Vec<Effect>,
}

impl Seat {
    /// Loads a run.
    pub(crate) async fn load(project: &Project, id: RunId) -> Result<Self, Error> {
        let folded = load(project, id).await?;
        let run = folded.state.as_ref().ok_or(Error::Refused(Refusal::RunNotFound { run: id }))?;
        let definition = project.book().get(project, &run.digest).await?;
        Ok(Seat { id, folded, definition })
    }

    /// Loads a run without its definition, for commands that do not need one: pause, stop, hold. These must
    /// work even if this version does not accept the definition.
    pub(crate) async fn load_bare(project: &Project, id: RunId) -> Result<Self, Error> {
        let folded = load(project, id).await?;
        if folded.state.is_none() {
            return Err(Error::Refused(Refusal::RunNotFound { run: id }));
        }
        Ok(Seat { id, folded, definition: stand_in() })
    }

    /// Returns the run.
    pub(crate) fn run(&self) -> &Run {
        self.folded.state.as_ref().expect("a seat holds a run")
    }

    /// Returns the workflow that the run plays.
    pub(crate) fn workflow(&self) -> &Workflow {
        find_within(&self.definition, &self.run().within)
    }

    /// Tells the run something: decides, appends, and decides again when another process came first.
    ///
    /// Returns the effects that it asks for, with their intents.
    pub(crate) async fn give(
        &mut self,
        project: &Project,
        actor: &Actor,
        command: Command,
        terms: &Terms,
    ) -> Result<Vec<(IntentId, Effect)>, Error> {
        for _ in 0..TRIES_MAX {
            let at = clock::now();
            let events = self.decide(at, &command)?;
            if events.is_empty() && terms.settle.is_empty() {
                return Ok(Vec::new());
            }
            let stored = self.append(project, actor, (at, events), terms, Append::default()).await?;
            if let Some(asked) = stored {
                return Ok(asked);
            }
            self.folded = load(project, self.id).await?;
        }
        Err(Error::Contended { tries: TRIES_MAX })
    }

    /// Gives the run a command in the same append as other decisions, or returns false when another process
    /// came first.
    pub(crate) async fn give_with(
        &mut self,
        project: &Project,
        actor: &Actor,
        command: Command,
        terms: &Terms,
        with: Append,
    ) -> Result<bool, Error> {
        let at = clock::now();
        let events = self.decide(at, &command)?;
        Ok(self.append(project, actor, (at, events), terms, with).await?.is_some())
    }

    /// Tells the run something as a part of an append of several runs, which is stored only if each is as it was read.
    pub(crate) fn join(&mut self, actor: &Actor, command: Command, with: &mut Append) -> Result<(), Error> {
        with.expect.push((self.folded.stream.clone(), self.folded.version));
        let at = clock::now();
        let events = self.decide(at, &command)?;
        let added = push(&mut self.folded, (at, events), actor, with.events.len());
        with.events.extend(added.rows);
        with.intents.extend(added.intents);
        Ok(())
    }

    /// Decides at a moment, which must be that of the facts: a repeated decision has only these to go by.
    fn decide(&self, at: Timestamp, command: &Command) -> Result<Vec<Event>, Error> {
        let inputs = Inputs { workflow: self.workflow(), now_millis: at.as_millisecond() };
        run::decide(inputs, self.run(), command).map_err(Error::Refused)
    }

    /// Appends events of this run and returns what they ask for; nothing when another process came first.
    async fn append(
        &mut self,
        project: &Project,
        actor: &Actor,
        (at, events): (Timestamp, Vec<Event>),
        terms: &Terms,
        mut with: Append,
    ) -> Result<Option<Vec<(IntentId, Effect)>>, Error> {
        with.expect.push((self.folded.stream.clone(), self.folded.version));
        let count = events.len() as u64;
        let Added { rows, intents, effects } = push(&mut self.folded, (at, events), actor, with.events.len());
        let others = with.intents.len();
        with.events.extend(rows);
        with.intents.extend(intents);
        let snapshot = if count == 0 { None } else { self.folded.snapshot_if_due() };
        let snapshot_bytes = snapshot.as_ref().map(|snapshot| snapshot.data.len());
        with.snapshots.extend(snapshot);
        let append = Append { settle: terms.settle.clone(), fence: terms.fence, ..with };
        crash::point("append.before");
        match project.store().append(append).await {
            Ok(Appended::Stored { intents, .. }) => {
                crash::point("append.after");
                self.folded.settle(count, snapshot_bytes);
                tape::close_if_resting(project, self.run()).await;
                Ok(Some(intents.into_iter().skip(others).zip(effects).collect()))
            }
            Ok(Appended::Repeated { .. }) | Err(regatta_store::Error::IntentSettled { .. }) => {
                self.folded = load(project, self.id).await?;
                Ok(Some(Vec::new()))
            }
            Err(regatta_store::Error::Conflict { .. }) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }
}

/// Returns an empty definition.
fn stand_in() -> Arc<Workflow> {
    static NOTHING: LazyLock<Arc<Workflow>> = LazyLock::new(|| {
        let definition = "name = \"nothing\"\nstart = \"end\"\nnodes.end = { kind = \"end\" }\n";
        let files = [("workflow.toml", definition), ("state.schema.json", "{ \"type\": \"object\" }")];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        Arc::new(Workflow::load(&Folder::new(files.into())).expect("it is a definition"))
    });
    Arc::clone(&NOTHING)
}

/// Settles intents that have no further effect: their outcome is in the log, or the run is past it.
pub(crate) async fn settle(project: &Project, terms: &Terms) -> Result<(), Error> {
    let append = Append { settle: terms.settle.clone(), fence: terms.fence, ..Append::default() };
    crash::point("append.before");
    match project.store().append(append).await {
        Ok(_) | Err(regatta_store::Error::IntentSettled { .. }) => {
            crash::point("append.after");
            Ok(())
        }
        Err(other) => Err(other.into()),
    }
}

/// Folds events of one run that are about to be appended as rows from `first` on.
pub(crate) fn push(
    folded: &mut Folded<Option<Run>>,
    (at, events): (Timestamp, Vec<Event>),
    actor: &Actor,
    first: usize,
) -> Added {
    let mut added = Added { rows: Vec::new(), intents: Vec::new(), effects: Vec::new() };
    for event in events {
        let fact = Fact { at, actor: actor.clone(), event };
        let row = log::row_of(&fact);
        let was_asked = folded.state.as_ref().is_some_and(Run::is_asked);
        folded.push(&fact, row.data.len());
        if let Some(run) = folded.state.as_ref().filter(|_| fact.event.find_run().is_some()) {
            for effect in run::effects(was_asked, run, &fact.event) {
                added.intents.push(log::intent_of_run(&effect, first + added.rows.len()));
                added.effects.push(effect);
            }
        }
        added.rows.push(row);
    }
    added
}

pub(crate) async fn load(project: &Project, id: RunId) -> Result<Folded<Option<Run>>, Error> {
    Folded::from_loaded(project.store().load(&log::run_stream(id), SNAPSHOT_FORMAT).await?)
}

/// Returns the child at the end of a path of names; a definition without it was refused when it was loaded.
pub(crate) fn find_within<'w>(definition: &'w Workflow, within: &[String]) -> &'w Workflow {
    within.iter().fold(definition, |workflow, name| workflow.children.get(name).unwrap_or(workflow))
}
