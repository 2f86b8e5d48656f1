//! Carrying a command to its end: with an engine of our own, or by following the one that runs.

use crate::core::run::{Hold, Phase, Run, Turn};
use crate::core::{RunId, Stage, Task, TaskId, WorkPhase};
use crate::engine::{Engine, Stop};
use crate::error::Error;
use crate::journal::{Entry, Journal};
use crate::orders;
use crate::project::Project;
use crate::runs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How often a follower looks whether the engine it relies on is gone.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How often a follower reads the log: unnoticed by a person, and cheap enough for dozens who wait at once. The one
/// who performs is woken by its own appends and needs no such pause.
const FOLLOW_EVERY: Duration = Duration::from_millis(50);

/// A wait that is shorter than this needs no explanation.
const STAY_QUIETLY: Duration = Duration::from_millis(700);

/// Called for each event while a command is carried out.
pub type Progress<'a> = &'a mut (dyn FnMut(&Entry) + Send);

/// Where a task stands when nothing more happens to it by itself.
#[derive(Debug, Clone)]
pub struct Carried {
    /// The task.
    pub task: Task,
    /// The run that works on it, if that goes on only when a person does something.
    pub run: Option<Run>,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// No earlier command for the task is being carried out.
    Settled,
    /// Nothing more happens to it by itself.
    AtRest,
}

/// The hold of one process on a project's engine for as long as it waits.
pub struct Helm {
    project: Arc<Project>,
    engine: Option<Engine>,
    roles: Arc<dyn runs::Roles>,
    interrupt: CancellationToken,
    seen: u64,
}

impl Helm {
    /// Starts an engine, or follows the one that runs.
    pub async fn take(project: Arc<Project>, interrupt: CancellationToken) -> Result<Self, Error> {
        let seen = Journal::at_end(&project).await?.position();
        let roles = Arc::new(runs::AgentRoles::default());
        let mut helm = Helm { project, engine: None, roles, interrupt, seen };
        helm.ensure_engine().await?;
        Ok(helm)
    }

    /// Starts an engine with somebody else to play the roles of runs; refused when another engine runs.
    pub async fn take_alone(
        project: Arc<Project>,
        roles: Arc<dyn runs::Roles>,
        interrupt: CancellationToken,
    ) -> Result<Self, Error> {
        let seen = Journal::at_end(&project).await?.position();
        let engine = Engine::start_with(Arc::clone(&project), Arc::clone(&roles)).await?;
        Ok(Helm { project, engine: Some(engine), roles, interrupt, seen })
    }

    /// Waits until no earlier command for the task is being carried out.
    pub async fn settle(&mut self, task: TaskId) -> Result<(), Error> {
        self.wait(task, &mut |_| {}, Until::Settled).await.map(|_| ())
    }

    /// Waits until nothing more happens to the task by itself.
    pub async fn rest(&mut self, task: TaskId, progress: Progress<'_>) -> Result<Carried, Error> {
        let task = self.wait(task, progress, Until::AtRest).await?;
        let run = match find_run(&self.project, &task).await? {
            Some(run) if run.turn() == Turn::Parent => {
                Some(runs::find_paused_above(&self.project, run).await?)
            }
            own => own,
        };
        // What else its run waits for is no longer about this task.
        let waits = |run: &Run| is_between_sessions(&task) && run.turn() == Turn::Person;
        let run = run.filter(|run| waits(run) || run.hold == Some(Hold::Paused));
        Ok(Carried { task, run })
    }

    /// Waits until a run has ended, or until it goes on only when a person does something.
    pub async fn rest_run(&mut self, run: RunId, progress: Progress<'_>) -> Result<Run, Error> {
        let project = Arc::clone(&self.project);
        let mut journal = Journal::after(&project, self.seen);
        let interrupt = self.interrupt.clone();
        let mut looked_at: Option<Instant> = None;
        loop {
            let found = runs::get_run(&project, run).await?;
            if runs::rests(&project, &found).await? {
                journal.read().await?.iter().for_each(&mut *progress);
                self.seen = journal.position();
                return Ok(found);
            }
            if looked_at.is_none_or(|at| at.elapsed() >= LOOK_EVERY) {
                self.ensure_engine().await?;
                looked_at = Some(Instant::now());
            }
            let entries = tokio::select! {
                () = interrupt.cancelled() => return Err(Error::WaitEnded { why: "it was interrupted", task: None }),
                entries = next_entries(&mut journal, self.engine.is_some()) => entries?,
            };
            entries.iter().for_each(&mut *progress);
        }
    }

    /// Lets go of the project, after finishing what this process performs for others.
    ///
    /// `staying` is called when that will take a while.
    pub async fn release(self, staying: impl FnOnce(usize)) -> Result<(), Error> {
        let Some(engine) = self.engine else { return Ok(()) };
        let count = engine.watch_busy();
        let interrupt = self.interrupt;
        let stop = engine.stop_or_hurry(async move { interrupt.cancelled().await });
        tokio::pin!(stop);
        tokio::select! {
            result = &mut stop => return result,
            () = tokio::time::sleep(STAY_QUIETLY) => staying(*count.borrow()),
        }
        stop.await
    }

    /// Lets go of the project at once; sessions that this process runs are started again by the next engine.
    pub async fn abandon(self) -> Result<(), Error> {
        match self.engine {
            Some(engine) => engine.stop(Stop::Now).await,
            None => Ok(()),
        }
    }

    async fn wait(&mut self, id: TaskId, progress: Progress<'_>, until: Until) -> Result<Task, Error> {
        let project = Arc::clone(&self.project);
        let mut journal = Journal::after(&project, self.seen);
        let interrupt = self.interrupt.clone();
        let mut task = orders::get_task(&project, id).await?;
        let mut looked_at: Option<Instant> = None;
        loop {
            if is_reached(&project, &task, until).await? {
                journal.read().await?.iter().for_each(&mut *progress);
                self.seen = journal.position();
                return Ok(task);
            }
            // Not at every event: dozens may wait here, and each look costs the engine a little.
            if looked_at.is_none_or(|at| at.elapsed() >= LOOK_EVERY) {
                self.ensure_engine().await?;
                looked_at = Some(Instant::now());
            }
            let entries = tokio::select! {
                () = interrupt.cancelled() => return Err(Error::WaitEnded { why: "it was interrupted", task: Some(id) }),
                entries = next_entries(&mut journal, self.engine.is_some()) => entries?,
            };
            entries.iter().for_each(&mut *progress);
            if entries.iter().any(|entry| entry.task() == Some(id)) {
                task = orders::get_task(&project, id).await?;
            }
        }
    }

    /// Takes over when no engine runs; an engine of ours that ended has failed, and says why.
    async fn ensure_engine(&mut self) -> Result<(), Error> {
        if self.engine.as_ref().is_some_and(Engine::is_over)
            && let Some(engine) = self.engine.take()
        {
            engine.join().await?;
        }
        if self.engine.is_none() {
            self.engine = match Engine::start_with(Arc::clone(&self.project), Arc::clone(&self.roles)).await {
                Ok(engine) => Some(engine),
                Err(Error::EngineAlreadyRunning(_)) => None,
                Err(other) => return Err(other),
            };
        }
        Ok(())
    }
}

async fn is_reached(project: &Project, task: &Task, until: Until) -> Result<bool, Error> {
    if until == Until::Settled {
        return Ok(!task.is_settling());
    }
    let rests = task.is_at_rest() || task.waits_for_its_provider();
    if rests && matches!(task.stage, Stage::Verified(_)) {
        return Ok(find_run(project, task).await?.is_none_or(|run| !takes_up(&run, task)));
    }
    if rests || !is_between_sessions(task) {
        return Ok(rests);
    }
    let run = find_run(project, task).await?;
    Ok(run.is_some_and(|run| matches!(run.turn(), Turn::Person | Turn::Parent)))
}

/// Tells whether a run is about to go on from a task that was merged; even a paused one does, perhaps to its end.
fn takes_up(run: &Run, merged: &Task) -> bool {
    run.is_asked && matches!(run.phase, Phase::Landing { task, .. } if task == merged.id)
}

/// Tells whether it is for a run to go on with the task; and a run may be paused, or held by an error.
fn is_between_sessions(task: &Task) -> bool {
    let Stage::InProgress(work) = &task.stage else { return false };
    matches!(work.phase, WorkPhase::Driven { session: None, .. })
}

/// Finds the run that works on a task.
async fn find_run(project: &Project, task: &Task) -> Result<Option<Run>, Error> {
    match task.run {
        Some(run) => runs::get_run(project, run).await.map(Some),
        None => Ok(None),
    }
}

/// Returns what happened next, possibly nothing yet.
async fn next_entries(journal: &mut Journal<'_>, performs: bool) -> Result<Vec<Entry>, Error> {
    if performs {
        return journal.wait(LOOK_EVERY).await;
    }
    tokio::time::sleep(FOLLOW_EVERY).await;
    journal.read().await
}
