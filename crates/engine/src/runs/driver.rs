//! A run in memory, with what is needed to add to its stream.
//!
//! The driver of a run keeps it here from step to step, so that a step neither reads the log nor copies the
//! state. Every append states the version that the decision saw; when another process came first, the round
//! reads the run again.

use crate::commands::batch::{Batch, reads};
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::core::run::{self, Command, Inputs, Run};
use crate::core::{Actor, Effect, Refusal, RunId};
use crate::error::Error;
use crate::log;
use crate::log::Stream;
use crate::project::Project;
use crate::recording::recorder;
use regatta_flow::{Folder, Workflow};
use regatta_store::IntentId;
use std::sync::{Arc, LazyLock};

/// A run with its definition.
pub(crate) struct Driver {
    folded: Stream<Option<Run>>,
    definition: Arc<Workflow>,
}

impl Driver {
    /// Loads a run.
    pub(crate) async fn load(project: &Project, id: RunId) -> Result<Self, Error> {
        let mut driver = Driver::load_bare(project, id).await?;
        driver.definition = project.definitions().get(project, &driver.run().digest).await?;
        Ok(driver)
    }

    /// Loads a run without its definition, for commands that do not need one.
    pub(crate) async fn load_bare(project: &Project, id: RunId) -> Result<Self, Error> {
        let folded = load(project, id).await?;
        if folded.state.is_none() {
            return Err(Error::Refused(Refusal::RunNotFound { run: id }));
        }
        Ok(Driver { folded, definition: stand_in() })
    }

    /// Loads what a command needs. A pause, a stop or a hold must work even if this version does not accept the
    /// definition; and when a child ends whose parent cannot continue because of that, its end must not be lost.
    async fn load_for(project: &Project, id: RunId, command: &Command) -> Result<Self, Error> {
        match command {
            Command::Answer { .. }
            | Command::Performed { .. }
            | Command::ChildrenStarted { .. }
            | Command::Landed { .. }
            | Command::SentBack { .. } => Driver::load(project, id).await,
            Command::ChildEnded { .. } => match Driver::load(project, id).await {
                Err(Error::Workflow(_)) => Driver::load_bare(project, id).await,
                other => other,
            },
            _ => Driver::load_bare(project, id).await,
        }
    }

    /// Returns the run.
    pub(crate) fn run(&self) -> &Run {
        self.folded.state.as_ref().expect("a driver holds a run")
    }

    /// Returns the workflow that the run plays.
    pub(crate) fn workflow(&self) -> &Workflow {
        find_within(&self.definition, &self.run().within)
    }

    /// Decides what a command of somebody comes to, and adds it to a batch.
    pub(crate) fn decide(&mut self, actor: Actor, command: &Command, batch: &mut Batch) -> Result<(), Error> {
        let inputs = Inputs { workflow: self.workflow(), now_millis: batch.at.as_millisecond() };
        let events = run::decide(inputs, self.run(), command).map_err(Error::Refused)?;
        batch.add_as(actor, &mut [&mut self.folded], events);
        Ok(())
    }
}

reads!(Driver: folded);

/// A command to one run.
struct Tell<'a> {
    actor: &'a Actor,
    run: RunId,
    command: Command,
}

impl Round for Tell<'_> {
    type Reads = Driver;
    type Answer = ();

    async fn load(&self, project: &Project) -> Result<Driver, Error> {
        Driver::load_for(project, self.run, &self.command).await
    }

    fn decide(&self, driver: &mut Driver, batch: &mut Batch) -> Result<Verdict<()>, Error> {
        driver.decide(self.actor.clone(), &self.command, batch)?;
        Ok(Verdict::Append(()))
    }
}

/// Gives a run a command.
pub(crate) async fn tell(
    project: &Project,
    envelope: &Envelope,
    run: RunId,
    command: Command,
) -> Result<(), Error> {
    give(project, envelope, (run, None), command).await.map(drop)
}

/// Gives a run a command, as it is in memory if it is there.
///
/// Returns the run as it is then, if this changed it, and the effects that it asks for.
pub(crate) async fn give(
    project: &Project,
    envelope: &Envelope,
    (run, driver): (RunId, Option<Driver>),
    command: Command,
) -> Result<(Option<Driver>, Vec<(IntentId, Effect)>), Error> {
    let tell = Tell { actor: &envelope.actor, run, command };
    let told = round::submit(project, envelope, &tell, driver).await?;
    if let Some(driver) = &told.reads {
        recorder::close_if_resting(project, driver.run()).await;
    }
    Ok((told.reads, told.asked))
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

pub(crate) async fn load(project: &Project, id: RunId) -> Result<Stream<Option<Run>>, Error> {
    Stream::load(project, log::run_stream(id)).await
}

/// Returns the child at the end of a path of names; a definition without it was refused when it was loaded.
pub(crate) fn find_within<'w>(definition: &'w Workflow, within: &[String]) -> &'w Workflow {
    within.iter().fold(definition, |workflow, name| workflow.children.get(name).unwrap_or(workflow))
}
