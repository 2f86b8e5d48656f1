//! A run in memory, with what is needed to add to its stream.
//!
//! The driver of a run keeps it here from step to step, so that a step neither reads the log nor copies the
//! state. Every append states the version that the decision saw; when another process came first, the round
//! reads the run again.

use crate::commands::batch::{Batch, Reads};
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::core::run::{self, Command, Event, Inputs, MemberCame, Run};
use crate::core::{Actor, Effect, Refusal, RunId};
use crate::error::Error;
use crate::log;
use crate::log::{Follow, Stream};
use crate::project::Project;
use crate::recording::recorder;
use crate::runs::facts::{self, Facts};
use crate::runs::post::{Handed, Post};
use jiff::Timestamp;
use regatta_flow::{Folder, NodeKind, NodeName, Variables, Workflow};
use regatta_store::IntentId;
use std::sync::{Arc, LazyLock};

/// A run with its definition.
pub(crate) struct Driver {
    folded: Stream<Option<Run>>,
    definition: Arc<Workflow>,
    /// The facts that its steps read, as of when they were gathered last.
    facts: Facts,
    /// What its decisions about messages read.
    post: Post,
    /// What stood in the prompt of the step that is being performed.
    handed: Option<Handed>,
}

impl Driver {
    /// Loads a run.
    pub(crate) async fn load(project: &Project, id: RunId) -> Result<Self, Error> {
        let mut driver = Driver::load_bare(project, id).await?;
        driver.definition = project.definitions().get(project, &driver.run().digest).await?;
        driver.post = Post::load(project, driver.run(), driver.workflow()).await?;
        driver.gather(project).await?;
        Ok(driver)
    }

    /// Loads a run without its definition, for commands that do not need one.
    pub(crate) async fn load_bare(project: &Project, id: RunId) -> Result<Self, Error> {
        let folded = load(project, id).await?;
        if folded.state.is_none() {
            return Err(Error::Refused(Refusal::RunNotFound { run: id }));
        }
        let (definition, facts, post) = (stand_in(), Facts::default(), Post::default());
        Ok(Driver { folded, definition, facts, post, handed: None })
    }

    /// Loads what a command needs. A pause, a stop or a hold must work even if this version does not accept the
    /// definition; and when a child ends whose parent cannot continue because of that, its end must not be lost. Nor must a
    /// failure, which such a definition has no edge for.
    async fn load_for(project: &Project, id: RunId, command: &Command) -> Result<Self, Error> {
        match command {
            Command::Answer { .. }
            | Command::Performed { .. }
            | Command::MemberEnded { .. }
            | Command::ChildrenStarted { .. }
            | Command::Edited(_)
            | Command::Landed { .. }
            | Command::SentBack { .. }
            | Command::Conflicted { .. } => Driver::load(project, id).await,
            Command::ChildEnded { .. } | Command::NotPerformed { .. } => {
                match Driver::load(project, id).await {
                    Err(Error::Workflow(_)) => Driver::load_bare(project, id).await,
                    other => other,
                }
            }
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

    /// Returns the folder of the files of the run and its family.
    pub(crate) fn folder(&self) -> &str {
        run::folder_of(&self.definition)
    }

    /// Returns the run as a member of its `parallel` node sees it, if that is still to be performed. One that only reads
    /// has a worktree of its own, because another may be changing that of the task.
    pub(crate) fn as_member(&self, node: &NodeName) -> Option<Driver> {
        let mut view = self.run().as_member(node)?;
        let kind = &self.workflow().find_node(node.as_str())?.kind;
        if let NodeKind::Agent { writes: false, .. } = kind {
            view.item = None;
        }
        let mut folded = Stream::empty(log::run_stream(self.run().id));
        folded.state = Some(view);
        let (definition, facts) = (Arc::clone(&self.definition), self.facts.clone());
        Some(Driver { folded, definition, facts, post: Post::default(), handed: None })
    }

    /// Gathers the facts that the steps of the run read, as they are now.
    pub(crate) async fn gather(&mut self, project: &Project) -> Result<(), Error> {
        self.facts = facts::gather(project, self.run(), self.workflow()).await?;
        let run = self.folded.state.as_ref().expect("a driver holds a run");
        self.post.refresh(project, run, &self.definition).await
    }

    /// Returns the facts that were gathered last.
    pub(crate) fn variables(&self) -> &Variables {
        &self.facts.variables
    }

    /// Returns what a decision at that time depends on.
    pub(crate) fn inputs(&self, at: Timestamp) -> Inputs<'_> {
        Inputs {
            workflow: self.workflow(),
            variables: &self.facts.variables,
            seen: self.facts.seen,
            now_millis: at.as_millisecond(),
        }
    }

    /// Begins a step of a role: what stands in its prompt is read when its result is accepted.
    pub(crate) fn hand_to(&mut self, role: &str) -> Handed {
        let handed = Handed::to_role(self.run().id, role);
        self.handed.insert(handed).clone()
    }

    /// Takes what stood in the prompt of the step.
    pub(crate) fn take_handed(&mut self) -> Option<Handed> {
        self.handed.take()
    }

    /// Opens the inbox from which a role had messages in its prompt.
    pub(crate) async fn open_post(
        &mut self,
        project: &Project,
        handed: Option<&Handed>,
    ) -> Result<(), Error> {
        self.post.open(project, handed).await
    }

    /// Decides what a command of somebody comes to, and what it says it has read if a result is accepted.
    pub(crate) fn decide_with(
        &mut self,
        actor: Actor,
        command: &Command,
        handed: Option<&Handed>,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let is_accepted = self.decide(actor, command, batch)?;
        if let Some(handed) = handed.filter(|_| is_accepted) {
            self.post.mark_read(handed, batch);
        }
        Ok(())
    }

    /// Decides what a command of somebody comes to, and adds it to a batch with the messages that go out.
    ///
    /// Tells whether the result of a step was accepted.
    pub(crate) fn decide(
        &mut self,
        actor: Actor,
        command: &Command,
        batch: &mut Batch,
    ) -> Result<bool, Error> {
        let inputs = self.inputs(batch.at);
        let mut events = run::decide(inputs, self.run(), command).map_err(Error::Refused)?;
        let run = self.folded.state.as_ref().expect("a driver holds a run");
        let sent = self.post.send((run, &self.definition), &actor, &mut events);
        let is_accepted = matches!(
            events.first(),
            Some(
                Event::RunStepped { outcome: None, .. }
                    | Event::RunMemberEnded { came: MemberCame::Returned { .. }, .. }
            )
        );
        batch.add_as(actor.clone(), &mut [&mut self.folded], events);
        batch.add_as(actor, &mut self.post.streams(), sent);
        Ok(is_accepted)
    }
}

impl Reads for Driver {
    fn streams(&mut self) -> Vec<&mut dyn Follow> {
        let mut streams: Vec<&mut dyn Follow> = vec![&mut self.folded];
        streams.extend(self.post.streams());
        streams
    }
}

/// A command to one run.
struct Tell<'a> {
    actor: &'a Actor,
    run: RunId,
    command: Command,
    /// What stood in the prompt of the step whose result this may be.
    handed: Option<Handed>,
}

impl Round for Tell<'_> {
    type Reads = Driver;
    type Answer = ();

    async fn load(&self, project: &Project) -> Result<Driver, Error> {
        let mut driver = Driver::load_for(project, self.run, &self.command).await?;
        driver.post.open(project, self.handed.as_ref()).await?;
        Ok(driver)
    }

    fn decide(&self, driver: &mut Driver, batch: &mut Batch) -> Result<Verdict<()>, Error> {
        driver.decide_with(self.actor.clone(), &self.command, self.handed.as_ref(), batch)?;
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
    let mut driver = driver;
    let handed = driver.as_mut().and_then(|driver| driver.handed.take());
    if let Some(driver) = &mut driver {
        // What happened since it was loaded, such as the session of this step.
        driver.gather(project).await?;
        driver.post.open(project, handed.as_ref()).await?;
    }
    let tell = Tell { actor: &envelope.actor, run, command, handed };
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
