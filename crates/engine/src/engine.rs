//! The engine: holds the project's lease and performs what the log asks for.
//!
//! ```text
//!           log moves, a lane is done, the lease must be renewed, stop
//!                                  │ one loop
//!                                  ▼
//!   open intents ──▶ lanes (in order, one at a time) ──▶ performers ──▶ reports (commands)
//! ```
//!
//! One owner for all of its state: the loop in [`run`]. There is at most one engine per project at a time; a
//! second one is refused and told who the first is. A killed engine's open intents are found in the log by the
//! next, and finished.

use crate::clock;
use crate::core::Actor;
use crate::desk;
use crate::error::Error;
use crate::holder::Holder;
use crate::keeper;
use crate::lanes::{Done, Lanes};
use crate::orders::{self, Giver};
use crate::pace::Pace;
use crate::project::Project;
use crate::runs::{AgentRoles, Roles};
use regatta_store::{Lease, LeaseAnswer, LeaseRequest, LeaseToken, Seq};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use uuid::Uuid;

pub(crate) const LEASE: &str = "engine";
/// Long enough to outlast a busy machine, short enough to wait for when a machine is lost.
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
    /// Finishes what is under way, sessions and the queue too, and starts no other session.
    WhenDone,
    /// Stops the sessions at once; they are started again by the next engine.
    Now,
}

impl Engine {
    /// Starts the engine of a project, or says who runs it already.
    pub async fn start(project: Arc<Project>) -> Result<Self, Error> {
        Self::start_with(project, Arc::new(AgentRoles::default())).await
    }

    /// Starts the engine of a project with somebody else to play the roles of its runs.
    pub async fn start_with(project: Arc<Project>, roles: Arc<dyn Roles>) -> Result<Self, Error> {
        keeper::check_folder(&project)?;
        project.repository().ready().await?;
        let token = take_lease(&project).await?;
        desk::sweep(&project);
        let (stop, stopped) = watch::channel(None);
        let (busy_sender, busy) = watch::channel(0);
        let task = tokio::spawn(async move {
            let watch = tokio::spawn(keeper::watch(Arc::clone(&project)));
            let result = run(&project, roles, token, stopped, busy_sender).await;
            watch.abort();
            let released = project.store().release_lease(&token).await;
            result.and(released.map_err(Error::from))
        });
        Ok(Engine { stop, task, busy })
    }

    /// Tells whether it has ended by itself, which it does only when something is wrong.
    pub fn is_over(&self) -> bool {
        self.task.is_finished()
    }

    /// Returns a view of how many effects are under way.
    pub fn watch_busy(&self) -> watch::Receiver<usize> {
        self.busy.clone()
    }

    /// Stops it and waits until it has let go of the project.
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

/// Takes the lease; that of a process which is surely dead is taken over.
pub(crate) async fn take_lease(project: &Project) -> Result<LeaseToken, Error> {
    // Looked at before it is asked for: followers ask often, and must not keep those who write waiting.
    if let Some(holder) = find_running(project).await? {
        return Err(Error::EngineAlreadyRunning(Box::new(holder)));
    }
    let mut replaces = None;
    loop {
        let now = clock::now();
        let token = LeaseToken(Uuid::now_v7());
        let holder = serde_json::to_string(&Holder::this(now)).expect("a holder is plain data");
        let request = LeaseRequest { name: LEASE.to_owned(), holder, token, now, ttl: LEASE_TTL, replaces };
        let held = match project.store().take_lease(request).await? {
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

/// Finds the process that runs the project's engine; one that is surely dead or let its lease run out runs none.
pub(crate) async fn find_running(project: &Project) -> Result<Option<Holder>, Error> {
    let held = project.store().find_lease(LEASE).await?;
    let Some(held) = held.filter(|held| held.expires > clock::now()) else { return Ok(None) };
    Ok(Some(read_holder(&held)?).filter(|holder| !holder.is_dead()))
}

/// Makes sure that the lease was not lost, as to an engine that took over while this machine slept.
///
/// Nothing is written without the lease, but the world has no such fence: this keeps a woken engine from touching it.
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
    token: LeaseToken,
    mut stopped: watch::Receiver<Option<Stop>>,
    busy: watch::Sender<usize>,
) -> Result<(), Error> {
    let (done_sender, mut done) = mpsc::channel::<Done>(DONE_MAX);
    let mut lanes = Lanes::new(Arc::clone(project), roles, token, done_sender);
    let mut renew = tokio::time::interval_at(Instant::now() + RENEW_EVERY, RENEW_EVERY);
    renew.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut seen = Seq(0);
    let mut pace = Pace::new();
    let mut result = Ok(());
    loop {
        if result.is_err() {
            lanes.halt();
        }
        // While a look is owed nobody knows whether there is more to do.
        if !pace.is_owed() || lanes.is_halted() {
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
                    Some(Stop::WhenDone) => lanes.drain(),
                    None => {}
                }
                pace.owe();
                Ok(())
            }
            Some(finished) = done.recv() => {
                let finished = lanes.finish(finished);
                if lanes.count_busy() == 0 { pace.rest() } else { pace.owe() }
                finished
            }
            _ = renew.tick() => project.store().renew_lease(&token, clock::now(), LEASE_TTL).await.map_err(Error::from),
            () = pace.turn(), if !lanes.is_halted() => look_on(project, &mut lanes, &mut pace).await,
            head = project.store().wait_past(seen, IDLE), if !pace.is_owed() => {
                pace.owe();
                head.map(|head| seen = head).map_err(Error::from)
            }
        };
        result = result.and(step);
    }
}

/// Looks, and lets an engine go that was only finishing what there was to do.
async fn look_on(project: &Project, lanes: &mut Lanes, pace: &mut Pace) -> Result<(), Error> {
    let began = Instant::now();
    let looked = look(project, lanes).await;
    pace.looked(began);
    if lanes.is_draining() && lanes.count_busy() == 0 {
        lanes.halt();
    }
    looked
}

/// Assigns queued tasks for which there is a place, and takes up the open intents.
///
/// In this order, so that an engine that is about to leave is busy with what it has just assigned: whoever queued
/// a task was told that it starts by itself.
async fn look(project: &Project, lanes: &mut Lanes) -> Result<(), Error> {
    serve_queue(project).await?;
    for intent in project.store().open_intents().await? {
        lanes.take_up(intent)?;
    }
    Ok(())
}

async fn serve_queue(project: &Project) -> Result<(), Error> {
    let giver = Giver { actor: Actor::Policy("queue".to_owned()), command_id: None };
    let mut refused = BTreeSet::new();
    loop {
        let crew = orders::load_crew(project).await?;
        let Some(next) = crew.find_next_where(&project.config().settings, |task| !refused.contains(&task))
        else {
            return Ok(());
        };
        match orders::assign(project, &giver, next.task, next.agent.clone(), None).await {
            Ok(_) => {}
            Err(Error::Queued { .. }) => return Ok(()),
            Err(error) if error.is_of_engine() => return Err(error),
            // It cannot go now, because of the rules or of git; the next one may.
            Err(_) => {
                refused.insert(next.task);
            }
        }
    }
}
