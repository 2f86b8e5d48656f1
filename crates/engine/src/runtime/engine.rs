//! The engine: holds the project's lease and performs what the log asks for.
//!
//! ```text
//!           log moves, a lane is done, the lease must be renewed, stop
//!                                  │ one loop
//!                                  ▼
//!   open intents ──▶ lanes (in order, one at a time) ──▶ performers ──▶ reports (commands)
//! ```
//!
//! The loop in [`run`] owns all of its state. There is at most one engine per project at a time; a second one
//! is refused with the name of the first. [`Scope`] says whose intents it performs. The next engine finds the
//! open intents of a killed one in the log and finishes them.

use crate::clock;
use crate::error::Error;
use crate::forecast::{Forecaster, LOOK_EVERY, Moves};
use crate::log;
use crate::project::Project;
use crate::run_files;
use crate::runtime::backoff::Backoff;
use crate::runtime::holder::Holder;
use crate::runtime::lanes::{Done, Lanes};
use crate::runtime::queue;
use crate::runtime::scope::{Own, Scope};
use crate::session::endpoint;
use crate::session::planted;
use crate::session::role::Roles;
use crate::session::roles::AgentRoles;
use crate::session::sandbox;
use crate::task_files;
use regatta_store::{Lease, LeaseAnswer, LeaseRequest, LeaseToken, Seq};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(crate) const LEASE: &str = "engine";
/// Long enough to survive a busy machine, short enough to wait for when a machine is lost.
const LEASE_TTL: Duration = Duration::from_secs(15);
const RENEW_EVERY: Duration = Duration::from_secs(3);
/// How long the loop sleeps when nothing happens; it wakes at once when the log moves.
const IDLE: Duration = Duration::from_secs(1);
/// How many outcomes may wait for the loop.
const DONE_MAX: usize = 256;

/// A running engine.
pub struct Engine {
    stop: watch::Sender<Option<Stop>>,
    task: JoinHandle<Result<(), Error>>,
    busy: watch::Receiver<usize>,
}

/// How an engine is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Stops long effects, such as sessions, and finishes every short effect that is asked for.
    WhenDone,
    /// Stops long effects, and starts nothing more. The next engine continues with all of it.
    Now,
}

impl Engine {
    /// Starts the engine of a project, or says who runs it already.
    pub async fn start(project: Arc<Project>) -> Result<Self, Error> {
        Self::start_with(project, Arc::new(AgentRoles::default())).await
    }

    /// Starts the engine of a project with other players for the roles of its runs.
    pub async fn start_with(project: Arc<Project>, roles: Arc<dyn Roles>) -> Result<Self, Error> {
        Self::start_within(project, roles, Scope::everything()).await
    }

    /// Starts the engine of a project for the work of one verb.
    pub(crate) async fn start_for(
        project: Arc<Project>,
        roles: Arc<dyn Roles>,
        own: watch::Receiver<Own>,
    ) -> Result<Self, Error> {
        Self::start_within(project, roles, Scope::of(own)).await
    }

    async fn start_within(project: Arc<Project>, roles: Arc<dyn Roles>, scope: Scope) -> Result<Self, Error> {
        // Checked first: a process that waits for its turn tries this several times a second, and the rest
        // starts git.
        refuse_second(&project).await?;
        task_files::check_folder(&project)?;
        project.repository().ready().await?;
        let token = take_lease(&project, scope.own()).await?;
        endpoint::sweep(&project);
        sandbox::recover(&project);
        clean_up(&project, token).await;
        let (stop, stopped) = watch::channel(None);
        let (busy_sender, busy) = watch::channel(0);
        let task = tokio::spawn(async move {
            let watch = tokio::spawn(task_files::watch(Arc::clone(&project)));
            let (moves, end_forecasts, how) = (Moves::default(), CancellationToken::new(), stopped.clone());
            let forecaster = Forecaster::new(Arc::clone(&project), token, moves.clone());
            let every = scope.own().is_none().then_some(LOOK_EVERY);
            let forecasts = tokio::spawn(forecaster.run(every, end_forecasts.clone()));
            let end_files = CancellationToken::new();
            let files = tokio::spawn(run_files::follow(Arc::clone(&project), end_files.clone()));
            let edits = tokio::spawn(run_files::watch(Arc::clone(&project), end_files.clone()));
            let result = run(&project, roles, scope, token, moves, stopped, busy_sender).await;
            watch.abort();
            end_forecasts.cancel();
            end_files.cancel();
            if result.is_err() || *how.borrow() == Some(Stop::Now) {
                forecasts.abort();
            }
            // Before the lease is released: the next engine finds the files as they are to be.
            let _ = edits.await;
            let _ = files.await;
            // It fails only if it was ended just now; what it writes needs the lease.
            let _ = forecasts.await;
            let released = project.store().release_lease(&token).await;
            result.and(released.map_err(Error::from))
        });
        Ok(Engine { stop, task, busy })
    }

    /// Tells whether it has ended on its own, which it does only when something is wrong.
    pub fn is_over(&self) -> bool {
        self.task.is_finished()
    }

    /// Returns a view of how many effects are running.
    pub fn watch_busy(&self) -> watch::Receiver<usize> {
        self.busy.clone()
    }

    /// Stops it and waits until it has released the project.
    pub async fn stop(self, how: Stop) -> Result<(), Error> {
        self.stop.send_replace(Some(how));
        self.join().await
    }

    /// Stops it gently, unless `hurry` comes first.
    pub async fn stop_or_hurry(self, hurry: impl Future<Output = ()>) -> Result<(), Error> {
        self.stop.send_replace(Some(Stop::WhenDone));
        let sender = self.stop.clone();
        let join = self.join();
        tokio::pin!(join);
        tokio::select! {
            result = &mut join => result,
            () = hurry => {
                sender.send_replace(Some(Stop::Now));
                join.await
            }
        }
    }

    /// Waits until it ends.
    pub async fn join(self) -> Result<(), Error> {
        match self.task.await {
            Ok(result) => result,
            Err(panic) => {
                Err(Error::LogUnsound { seq: 0, why: format!("the engine's loop broke off: {panic}") })
            }
        }
    }
}

/// Takes the lease, if need be from a process that is certainly dead. `own` is what the engine is limited to.
pub(crate) async fn take_lease(project: &Project, own: Option<Own>) -> Result<LeaseToken, Error> {
    // Read before it is requested: followers ask often, and must not keep writers waiting.
    refuse_second(project).await?;
    let mut replaces = None;
    loop {
        let token = LeaseToken(Uuid::now_v7());
        let held = match project.store().take_lease(request(token, own.clone(), replaces)).await? {
            LeaseAnswer::Taken => return Ok(token),
            LeaseAnswer::Held(lease) => lease,
        };
        let holder = read_holder(&held)?;
        if !holder.is_dead() || replaces == Some(held.token) {
            return Err(Error::EngineAlreadyRunning(Box::new(holder)));
        }
        replaces = Some(held.token);
    }
}

async fn refuse_second(project: &Project) -> Result<(), Error> {
    match find_running(project).await? {
        Some(holder) => Err(Error::EngineAlreadyRunning(Box::new(holder))),
        None => Ok(()),
    }
}

fn request(token: LeaseToken, own: Option<Own>, replaces: Option<LeaseToken>) -> LeaseRequest {
    let now = clock::now();
    let holder = serde_json::to_string(&Holder::this(now, own)).expect("a holder is plain data");
    LeaseRequest { name: LEASE.to_owned(), holder, token, now, ttl: LEASE_TTL, replaces }
}

/// Cleans up after the programs of a killed engine, and keeps the lease meanwhile: they may be slow to end. What cannot be
/// cleaned up now is cleaned up, or refused, before the next session in that worktree.
async fn clean_up(project: &Project, token: LeaseToken) {
    let cleaned = planted::clean_up(project);
    tokio::pin!(cleaned);
    let mut renew = tokio::time::interval_at(Instant::now() + RENEW_EVERY, RENEW_EVERY);
    loop {
        tokio::select! {
            _ = &mut cleaned => return,
            _ = renew.tick() => {
                // The loop renews it too, and says what is wrong.
                let _ = project.store().renew_lease(&token, clock::now(), LEASE_TTL).await;
            }
        }
    }
}

/// Announces to other processes that the engine is now limited to something else.
async fn announce(project: &Project, token: LeaseToken, own: Option<Own>) -> Result<(), Error> {
    // Checked first: a lost lease must not be taken again by accident.
    check_lease(project, token).await?;
    project.store().take_lease(request(token, own, None)).await?;
    Ok(())
}

/// Finds the process that runs the project's engine; a process that is certainly dead or whose lease has
/// expired does not count.
pub async fn find_running(project: &Project) -> Result<Option<Holder>, Error> {
    let held = project.store().find_lease(LEASE).await?;
    let Some(held) = held.filter(|held| held.expires > clock::now()) else { return Ok(None) };
    Ok(Some(read_holder(&held)?).filter(|holder| !holder.is_dead()))
}

/// Makes sure that the lease was not lost, for example to an engine that took over while this machine slept.
///
/// The log refuses writes without the lease, but the rest of the world has no such fence: this check keeps a
/// woken engine from touching it.
pub(crate) async fn check_lease(project: &Project, token: LeaseToken) -> Result<(), Error> {
    match project.store().find_lease(LEASE).await? {
        Some(held) if held.token == token => Ok(()),
        _ => Err(Error::Store(regatta_store::Error::LeaseLost { token })),
    }
}

pub(crate) fn read_holder(lease: &Lease) -> Result<Holder, Error> {
    serde_json::from_str(&lease.holder)
        .map_err(|error| Error::LogUnsound { seq: 0, why: format!("the lease cannot be read: {error}") })
}

async fn run(
    project: &Arc<Project>,
    roles: Arc<dyn Roles>,
    mut scope: Scope,
    token: LeaseToken,
    moves: Moves,
    mut stopped: watch::Receiver<Option<Stop>>,
    busy: watch::Sender<usize>,
) -> Result<(), Error> {
    let (done_sender, mut done) = mpsc::channel::<Done>(DONE_MAX);
    let mut lanes = Lanes::new(Arc::clone(project), roles, token, done_sender, moves);
    let mut renew = tokio::time::interval_at(Instant::now() + RENEW_EVERY, RENEW_EVERY);
    renew.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut seen = Seq(0);
    let mut backoff = Backoff::new();
    let mut queue = queue::Server::default();
    let mut config = project.watch_config();
    let mut result = Ok(());
    loop {
        if result.is_err() {
            lanes.halt();
        }
        // While a look is owed, nobody knows whether there is more to do.
        if !backoff.is_owed() || lanes.is_halted() {
            busy.send_replace(lanes.count_busy());
        }
        if lanes.is_halted() && lanes.count_busy() == 0 {
            return result;
        }
        let step = tokio::select! {
            biased;
            changed = stopped.changed() => {
                let how = if changed.is_err() { Some(Stop::Now) } else { *stopped.borrow_and_update() };
                match how {
                    Some(Stop::Now) => lanes.halt(),
                    Some(Stop::WhenDone) => lanes.leave(),
                    None => {}
                }
                backoff.owe();
                Ok(())
            }
            Some(finished) = done.recv() => {
                let finished = lanes.finish(finished);
                if lanes.count_busy() == 0 { backoff.rest() } else { backoff.owe() }
                finished
            }
            _ = renew.tick() => project.store().renew_lease(&token, clock::now(), LEASE_TTL).await.map_err(Error::from),
            Ok(()) = config.changed() => {
                lanes.adapt();
                backoff.owe();
                Ok(())
            }
            () = scope.changed() => {
                backoff.owe();
                announce(project, token, scope.own()).await
            }
            () = backoff.turn(), if !lanes.is_halted() => {
                let began = Instant::now();
                let looked = look(project, &mut scope, &mut queue, &mut lanes, token).await;
                backoff.looked(began);
                if lanes.is_leaving() && lanes.count_busy() == 0 {
                    lanes.halt();
                }
                looked
            }
            head = project.store().wait_past(seen, IDLE), if !backoff.is_owed() => {
                backoff.owe();
                head.map(|head| seen = head).map_err(Error::from)
            }
        };
        result = result.and(step);
    }
}

/// Assigns queued tasks for which there is room, and performs the open intents that are for this engine.
async fn look(
    project: &Project,
    scope: &mut Scope,
    queue: &mut queue::Server,
    lanes: &mut Lanes,
    token: LeaseToken,
) -> Result<(), Error> {
    if !lanes.is_leaving() {
        queue.serve(project, scope, token).await?;
    }
    for intent in project.store().open_intents().await? {
        if lanes.knows(intent.id) {
            continue;
        }
        let effect = log::effect_of(&intent)?;
        if scope.covers(project, intent.id, &effect).await? {
            lanes.take_up(intent, effect);
        }
    }
    Ok(())
}
