//! Follows a command to its end: with an engine of our own, or by watching the one that runs.
//!
//! A verb is the engine only while it waits, and only for its own tasks and runs ([`Own`]). While another
//! verb is the engine, it waits for its turn; the other one performs short effects, such as a merge, for it.

use crate::commands::orders;
use crate::core::run::{Hold, Phase, Run, Turn};
use crate::core::{AgentId, Assignments, RunId, Stage, Task, TaskId, WorkPhase};
use crate::error::Error;
use crate::log::journal::{Entry, Journal};
use crate::project::Project;
use crate::run_files;
use crate::runs;
use crate::runtime::engine::{self, Engine, Stop};
use crate::runtime::holder::Holder;
use crate::runtime::scope::Own;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How often a follower looks whether the engine it relies on is gone.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How often a follower reads the log: fast enough for a person, and cheap enough for dozens of followers. A
/// performing process is woken by its own appends and needs no such pause.
const FOLLOW_EVERY: Duration = Duration::from_millis(50);

/// A wait for another command that is shorter than this needs no explanation; a merge takes about as long.
const WAIT_QUIETLY: Duration = Duration::from_millis(500);

/// A run in which nothing happens for this long may wait for an agent; most sessions report something more
/// often.
const HELD_AFTER: Duration = Duration::from_secs(3);

/// How long to wait for queued tasks while the agents that they need are held by tasks that nobody runs.
/// Another verb that waits for its turn gets it well within this time.
const GIVE_UP_AFTER: Duration = Duration::from_secs(3);

/// Called for each report while a command is carried out.
pub type Progress<'a> = &'a mut (dyn FnMut(Update<'_>) + Send);

/// What is reported while a command is carried out.
#[derive(Debug, Clone, Copy)]
pub enum Update<'a> {
    /// Something happened.
    Event(&'a Entry),
    /// Another command is working on its own tasks, and this one waits for its turn.
    Turn(&'a Holder, &'a Own),
    /// The command may be waiting for agents that are held by tasks which nobody runs now.
    Held(&'a [(TaskId, AgentId)]),
}

/// The state of a task to which nothing more happens automatically.
#[derive(Debug, Clone)]
pub struct Followed {
    /// The task.
    pub task: Task,
    /// The run that works on it, if that run waits for a person.
    pub run: Option<Run>,
    /// Whether it still waits in the queue.
    pub is_queued: bool,
}

/// What to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// No earlier command for the task is being carried out.
    Settled,
    /// Nothing more happens to it automatically.
    AtRest,
}

/// The hold of one process on a project's engine for as long as it waits.
pub struct Supervisor {
    project: Arc<Project>,
    engine: Option<Engine>,
    /// Who runs the engine, if that is not us.
    other: Option<Holder>,
    roles: Arc<dyn runs::Roles>,
    interrupt: CancellationToken,
    /// What an engine of ours is limited to; nothing if it performs everything.
    own: Option<watch::Sender<Own>>,
    /// Since when it has been waiting for another verb.
    waits_since: Option<Instant>,
    /// The process that it has already reported to be waiting for.
    told_of: Option<u32>,
    seen: u64,
}

/// Several tasks to wait for.
struct Wait {
    tasks: BTreeMap<TaskId, Task>,
    assignments: Assignments,
    until: Until,
    /// Since when nobody could serve what is queued.
    idle: Option<Instant>,
}

impl Supervisor {
    /// Takes hold of a project for a verb. An engine is started once there is something to wait for, and
    /// performs only the sessions of that work.
    pub async fn take(project: Arc<Project>, interrupt: CancellationToken) -> Result<Self, Error> {
        let own = Some(watch::Sender::new(Own::default()));
        Self::hold(project, Arc::new(runs::AgentRoles::default()), own, interrupt).await
    }

    /// Takes hold of a project that nobody else works on, for everything in it.
    pub async fn take_everything(project: Arc<Project>, interrupt: CancellationToken) -> Result<Self, Error> {
        Self::take_everything_with(project, Arc::new(runs::AgentRoles::default()), interrupt).await
    }

    /// Takes hold of everything in a project, with other players for the roles of its runs.
    pub async fn take_everything_with(
        project: Arc<Project>,
        roles: Arc<dyn runs::Roles>,
        interrupt: CancellationToken,
    ) -> Result<Self, Error> {
        let mut supervisor = Self::hold(project, roles, None, interrupt).await?;
        supervisor.ensure_engine().await?;
        Ok(supervisor)
    }

    /// Starts an engine with other players for the roles of runs; refused when another engine runs.
    pub async fn take_alone(
        project: Arc<Project>,
        roles: Arc<dyn runs::Roles>,
        interrupt: CancellationToken,
    ) -> Result<Self, Error> {
        let own = Some(watch::Sender::new(Own::default()));
        let mut supervisor = Self::hold(project, roles, own, interrupt).await?;
        supervisor.engine = Some(supervisor.start().await?);
        Ok(supervisor)
    }

    async fn hold(
        project: Arc<Project>,
        roles: Arc<dyn runs::Roles>,
        own: Option<watch::Sender<Own>>,
        interrupt: CancellationToken,
    ) -> Result<Self, Error> {
        let seen = Journal::at_end(&project).await?.position();
        let (engine, other, waits_since, told_of) = (None, None, None, None);
        Ok(Supervisor { project, engine, other, roles, interrupt, own, waits_since, told_of, seen })
    }

    /// Waits until no earlier command for the task is being carried out.
    pub async fn settle(&mut self, task: TaskId, progress: Progress<'_>) -> Result<(), Error> {
        self.wait(&[task], progress, Until::Settled).await.map(|_| ())
    }

    /// Waits until nothing more happens to the task automatically.
    pub async fn rest(&mut self, task: TaskId, progress: Progress<'_>) -> Result<Followed, Error> {
        let mut followed = self.rest_all(&[task], progress).await?;
        Ok(followed.pop().expect("one task was waited for"))
    }

    /// Waits until nothing more happens to any of the tasks automatically. Queued ones are assigned as there
    /// is room.
    pub async fn rest_all(
        &mut self,
        tasks: &[TaskId],
        progress: Progress<'_>,
    ) -> Result<Vec<Followed>, Error> {
        let wait = self.wait(tasks, progress, Until::AtRest).await?;
        let mut followed = Vec::new();
        for id in tasks {
            let task = wait.tasks[id].clone();
            let run = self.find_what_it_waits_for(&task).await?;
            followed.push(Followed { task, run, is_queued: wait.assignments.find_queued(*id).is_some() });
        }
        Ok(followed)
    }

    async fn find_what_it_waits_for(&self, task: &Task) -> Result<Option<Run>, Error> {
        let run = match find_run(&self.project, task).await? {
            Some(run) if run.turn() == Turn::Parent => {
                Some(runs::find_paused_above(&self.project, run).await?)
            }
            own => own,
        };
        // Anything else that its run waits for does not concern this task.
        let waits = |run: &Run| is_between_sessions(task) && run.turn() == Turn::Person;
        Ok(run.filter(|run| waits(run) || run.hold() == Some(&Hold::Paused)))
    }

    /// Waits until a run has ended, or until it cannot continue without a person.
    pub async fn rest_run(&mut self, run: RunId, progress: Progress<'_>) -> Result<Run, Error> {
        self.claim(|own| own.runs.insert(run));
        let project = Arc::clone(&self.project);
        let mut journal = Journal::after(&project, self.seen);
        let interrupt = self.interrupt.clone();
        let mut looked_at: Option<Instant> = None;
        let mut quiet_since = Some(Instant::now());
        loop {
            let found = runs::get_run(&project, run).await?;
            if runs::rests(&project, &found).await? {
                run_files::settle(&project, run).await;
                read_on(&mut journal, progress).await?;
                self.seen = journal.position();
                return Ok(found);
            }
            if found.is_over() {
                // The run has released them, so nobody else puts them up for approval.
                self.claim(|own| own.tasks.extend(found.tasks.values()));
            }
            if looked_at.is_none_or(|at| at.elapsed() >= LOOK_EVERY) {
                self.ensure_engine().await?;
                self.say_whose_turn(progress).await?;
                if self.engine.is_some() && quiet_since.is_some_and(|since| since.elapsed() >= HELD_AFTER) {
                    self.say_who_is_held(progress).await?;
                    quiet_since = None;
                }
                looked_at = Some(Instant::now());
            }
            let entries = tokio::select! {
                () = interrupt.cancelled() => {
                    return Err(Error::WaitEnded { why: "it was interrupted", left: Vec::new() });
                }
                entries = next_entries(&mut journal, self.engine.is_some()) => entries?,
            };
            if !entries.is_empty() && quiet_since.is_some() {
                quiet_since = Some(Instant::now());
            }
            entries.iter().for_each(|entry| progress(Update::Event(entry)));
        }
    }

    /// Releases the project. An engine of ours finishes the short effects that are asked for, and stops the
    /// rest.
    pub async fn release(self) -> Result<(), Error> {
        let Some(engine) = self.engine else { return Ok(()) };
        let interrupt = self.interrupt;
        engine.stop_or_hurry(async move { interrupt.cancelled().await }).await
    }

    async fn wait(&mut self, ids: &[TaskId], progress: Progress<'_>, until: Until) -> Result<Wait, Error> {
        let project = Arc::clone(&self.project);
        let mut tasks = BTreeMap::new();
        for id in ids {
            tasks.insert(*id, orders::get_task(&project, *id).await?);
        }
        self.claim(|own| own.tasks.extend(ids));
        let mut wait = Wait { tasks, assignments: Assignments::default(), until, idle: None };
        let mut journal = Journal::after(&project, self.seen);
        let interrupt = self.interrupt.clone();
        let mut looked_at: Option<Instant> = None;
        loop {
            let open = self.find_open(&mut wait).await?;
            if open.is_empty() || wait.idle.is_some_and(|since| since.elapsed() >= GIVE_UP_AFTER) {
                read_on(&mut journal, progress).await?;
                self.seen = journal.position();
                return Ok(wait);
            }
            // Not at every event: dozens of processes may wait here, and each check costs the engine a
            // little.
            if looked_at.is_none_or(|at| at.elapsed() >= LOOK_EVERY) {
                self.find_engine(&mut wait, &open).await?;
                self.say_whose_turn(progress).await?;
                looked_at = Some(Instant::now());
            }
            let entries = tokio::select! {
                () = interrupt.cancelled() => {
                    return Err(Error::WaitEnded { why: "it was interrupted", left: self.left_of(&wait, &open) });
                }
                entries = next_entries(&mut journal, self.engine.is_some()) => entries?,
            };
            entries.iter().for_each(|entry| progress(Update::Event(entry)));
            for id in open {
                if entries.iter().any(|entry| entry.task() == Some(id)) {
                    wait.tasks.insert(id, orders::get_task(&project, id).await?);
                }
            }
        }
    }

    /// Finds the tasks that have not reached the awaited state; the run that works on such a task becomes
    /// ours.
    async fn find_open(&mut self, wait: &mut Wait) -> Result<Vec<TaskId>, Error> {
        if wait.tasks.values().any(|task| matches!(task.stage, Stage::Backlog)) {
            wait.assignments = orders::load_assignments(&self.project).await?;
        }
        let mut open = Vec::new();
        for (id, task) in &wait.tasks {
            if self.is_reached(task, wait).await? {
                continue;
            }
            if let (true, Some(run)) = (is_driven(task), task.run) {
                self.claim(|own| own.runs.insert(run));
            }
            open.push(*id);
        }
        Ok(open)
    }

    async fn is_reached(&self, task: &Task, wait: &Wait) -> Result<bool, Error> {
        if wait.until == Until::Settled {
            return Ok(!task.is_settling());
        }
        let rests = task.is_at_rest() || task.waits_for_its_provider();
        match &task.stage {
            // A task that cannot be assigned has the reason in its error.
            Stage::Backlog => Ok(wait.assignments.find_queued(task.id).is_none() || task.error.is_some()),
            Stage::Verified(_) if rests => {
                let run = find_run(&self.project, task).await?;
                Ok(run.is_none_or(|run| !takes_up(&run, task)) || !self.is_heard(task).await?)
            }
            _ if rests || !is_between_sessions(task) => Ok(rests),
            _ => {
                let run = find_run(&self.project, task).await?;
                Ok(run.is_some_and(|run| matches!(run.turn(), Turn::Person | Turn::Parent)))
            }
        }
    }

    /// Tells whether the running engine, or ours to come, reports the outcome of a task to its run.
    async fn is_heard(&self, task: &Task) -> Result<bool, Error> {
        match self.other.as_ref().and_then(|other| other.own.as_ref()) {
            Some(own) => own.has_task(&self.project, task.id).await,
            None => Ok(true),
        }
    }

    /// Makes sure that an engine runs that can advance the work that is waited for.
    ///
    /// While every task waits for agents that others hold, an engine of ours could only keep those others
    /// from working; so none is started.
    async fn find_engine(&mut self, wait: &mut Wait, open: &[TaskId]) -> Result<(), Error> {
        let settings = &self.project.config().settings;
        let waits_in_vain = |id: &TaskId| {
            let queued = wait.assignments.find_queued(*id);
            queued.is_some_and(|queued| wait.assignments.find_free(settings, &queued.agent).is_err())
        };
        if !open.iter().all(waits_in_vain) {
            wait.idle = None;
            return self.ensure_engine().await;
        }
        if let Some(engine) = self.engine.take() {
            engine.stop(Stop::WhenDone).await?;
        }
        self.other = engine::find_running(&self.project).await?;
        wait.idle = match self.other {
            Some(_) => None,
            None => wait.idle.or_else(|| Some(Instant::now())),
        };
        Ok(())
    }

    /// Says what an interrupted wait leaves open, and how to continue.
    fn left_of(&self, wait: &Wait, open: &[TaskId]) -> Vec<String> {
        let is_served = self.is_served();
        let say = |id: &TaskId| match wait.assignments.find_queued(*id) {
            Some(queued) if matches!(wait.tasks[id].stage, Stage::Backlog) => format!(
                "task #{id} is still queued for {}; {}`regatta task dequeue {id}` removes it",
                queued.agent,
                if is_served { "" } else { "`regatta up` assigns it, " }
            ),
            _ if is_served => {
                format!("task #{id} continues, since `regatta up` runs; `regatta task cancel {id}` stops it")
            }
            _ => format!(
                "task #{id} is still assigned; `regatta up` or `regatta task resume {id}` continues it, `regatta task \
                 cancel {id}` gives it up"
            ),
        };
        open.iter().map(say).collect()
    }

    /// Tells whether an engine runs that performs everything.
    fn is_served(&self) -> bool {
        self.engine.is_none() && self.other.as_ref().is_some_and(|other| other.own.is_none())
    }

    /// Adds to what an engine of ours performs.
    fn claim<T>(&self, add: impl FnOnce(&mut Own) -> T) {
        let Some(sender) = &self.own else { return };
        let mut own = sender.borrow().clone();
        add(&mut own);
        sender.send_if_modified(|before| {
            let is_other = *before != own;
            *before = own;
            is_other
        });
    }

    async fn start(&self) -> Result<Engine, Error> {
        let (project, roles) = (Arc::clone(&self.project), Arc::clone(&self.roles));
        match &self.own {
            Some(own) => Engine::start_for(project, roles, own.subscribe()).await,
            None => Engine::start_with(project, roles).await,
        }
    }

    /// Takes over when no engine runs; if an engine of ours has ended, returns its error.
    async fn ensure_engine(&mut self) -> Result<(), Error> {
        if self.engine.as_ref().is_some_and(Engine::is_over)
            && let Some(engine) = self.engine.take()
        {
            engine.join().await?;
        }
        if self.engine.is_none() {
            (self.engine, self.other) = match self.start().await {
                Ok(engine) => (Some(engine), None),
                Err(Error::EngineAlreadyRunning(holder)) => (None, Some(*holder)),
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }

    /// Reports which agents are held by tasks that this engine leaves alone, so that nobody frees them.
    async fn say_who_is_held(&self, progress: Progress<'_>) -> Result<(), Error> {
        let Some(own) = self.own.as_ref().map(|own| own.borrow().clone()) else { return Ok(()) };
        let mut held = Vec::new();
        for (task, assignment) in orders::load_assignments(&self.project).await?.held {
            if assignment.state.is_working() && !own.has_task(&self.project, task).await? {
                held.push((task, assignment.agent));
            }
        }
        if !held.is_empty() {
            progress(Update::Held(&held));
        }
        Ok(())
    }

    /// Reports once that another verb is working, unless that one works on what is waited for here.
    async fn say_whose_turn(&mut self, progress: Progress<'_>) -> Result<(), Error> {
        let Some(holder) = self.other.as_ref().filter(|_| self.engine.is_none()) else {
            self.waits_since = None;
            return Ok(());
        };
        let (Some(theirs), Some(ours)) = (&holder.own, &self.own) else { return Ok(()) };
        let since = *self.waits_since.get_or_insert_with(Instant::now);
        if self.told_of == Some(holder.pid) || since.elapsed() < WAIT_QUIETLY {
            return Ok(());
        }
        let ours = ours.borrow().clone();
        if !is_within(&self.project, &ours, theirs).await? {
            progress(Update::Turn(holder, theirs));
        }
        self.told_of = Some(holder.pid);
        Ok(())
    }
}

/// Tells whether all of `ours` is part of `theirs`.
async fn is_within(project: &Project, ours: &Own, theirs: &Own) -> Result<bool, Error> {
    for task in &ours.tasks {
        if !theirs.has_task(project, *task).await? {
            return Ok(false);
        }
    }
    for run in &ours.runs {
        if !theirs.has_run(project, *run).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Tells whether a run is about to continue from a task that was merged; even a paused one does, perhaps to
/// its end.
fn takes_up(run: &Run, merged: &Task) -> bool {
    run.is_asked() && matches!(run.phase(), Some(Phase::Landing { task, .. }) if *task == merged.id)
}

fn is_driven(task: &Task) -> bool {
    matches!(&task.stage, Stage::InProgress(work) if matches!(work.phase, WorkPhase::Driven { .. }))
}

/// Tells whether the next move on the task is its run's; that run may be paused, or held by an error.
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

/// Reports what happened up to now.
async fn read_on(journal: &mut Journal<'_>, progress: Progress<'_>) -> Result<(), Error> {
    journal.read().await?.iter().for_each(|entry| progress(Update::Event(entry)));
    Ok(())
}

/// Returns what happened next, possibly nothing yet.
async fn next_entries(journal: &mut Journal<'_>, performs: bool) -> Result<Vec<Entry>, Error> {
    if performs {
        return journal.wait(LOOK_EVERY).await;
    }
    tokio::time::sleep(FOLLOW_EVERY).await;
    journal.read().await
}
