//! Lanes: which effects are running, which wait for another of their lane, and how sessions are stopped.
//!
//! Effects of one lane are performed in order, one at a time; lanes run in parallel. Only the engine's loop
//! owns and touches this.

use crate::core::{Asker, Effect};
use crate::error::Error;
use crate::forecast::Moves;
use crate::perform;
use crate::perform::Work;
use crate::project::Project;
use crate::runs::drivers::Drivers;
use crate::runtime::active_steps::ActiveSteps;
use crate::runtime::scope::is_short;
use crate::runtime::stop_handle::StopHandle;
use crate::session::reservation::Charges;
use crate::session::role::Roles;
use crate::session::slots::Slots;
use regatta_agents::StopReason;
use regatta_store::{Intent, IntentId, LeaseToken};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// A performer that fails for an internal reason (a busy database) is tried this often before the engine
/// stops.
const FAILURES_MAX: u32 = 5;

/// What a performer reports when it is done.
pub(crate) struct Done {
    intent: IntentId,
    lane: String,
    result: Result<(), Error>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Working,
    Leaving,
    Halted,
}

/// All lanes of one engine.
pub(crate) struct Lanes {
    project: Arc<Project>,
    token: LeaseToken,
    done: mpsc::Sender<Done>,
    slots: Arc<Slots>,
    active_steps: Arc<ActiveSteps>,
    charges: Arc<Charges>,
    drivers: Arc<Drivers>,
    moves: Moves,
    roles: Arc<dyn Roles>,
    leaving: watch::Sender<bool>,
    status: Status,
    known: HashSet<IntentId>,
    waiting: HashMap<String, VecDeque<(Intent, Effect)>>,
    busy: HashSet<String>,
    /// The controls of long effects, by who asked for them.
    controls: HashMap<Asker, StopHandle>,
    failures: HashMap<IntentId, u32>,
}

impl Lanes {
    pub(crate) fn new(
        project: Arc<Project>,
        roles: Arc<dyn Roles>,
        token: LeaseToken,
        done: mpsc::Sender<Done>,
        moves: Moves,
    ) -> Self {
        let slots = Arc::new(Slots::new(project.config()));
        Lanes {
            project,
            token,
            done,
            slots,
            active_steps: Arc::default(),
            charges: Arc::default(),
            drivers: Arc::default(),
            moves,
            roles,
            leaving: watch::Sender::new(false),
            status: Status::Working,
            known: HashSet::new(),
            waiting: HashMap::new(),
            busy: HashSet::new(),
            controls: HashMap::new(),
            failures: HashMap::new(),
        }
    }

    /// Follows a changed config.
    pub(crate) fn adapt(&self) {
        self.slots.adapt(self.project.config());
    }

    /// Counts the running effects.
    pub(crate) fn count_busy(&self) -> usize {
        self.busy.len()
    }

    pub(crate) fn is_halted(&self) -> bool {
        self.status == Status::Halted
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.status == Status::Leaving
    }

    /// Stops long effects, and from then on starts only short ones.
    pub(crate) fn leave(&mut self) {
        if self.status == Status::Working {
            self.status = Status::Leaving;
            self.stop_long();
        }
    }

    /// Starts nothing more, and stops long effects.
    pub(crate) fn halt(&mut self) {
        self.status = Status::Halted;
        self.waiting.clear();
        self.stop_long();
    }

    fn stop_long(&mut self) {
        self.leaving.send_replace(true);
        self.waiting.values_mut().for_each(|lane| lane.retain(|(_, effect)| is_short(effect)));
        self.controls.values().for_each(|stop_handle| stop_handle.stop(StopReason::Shutdown));
    }

    /// Tells whether an intent is in its lane already.
    pub(crate) fn knows(&self, intent: IntentId) -> bool {
        self.known.contains(&intent)
    }

    /// Puts an intent into its lane, unless it is there already.
    pub(crate) fn take_up(&mut self, intent: Intent, effect: Effect) {
        let is_late = self.status == Status::Leaving && !is_short(&effect);
        if self.knows(intent.id) || is_late || self.is_driven(&intent, &effect) {
            return;
        }
        // Signalled at once, because a long set-up or check may come before the effect that stops it in the
        // same lane.
        if let Effect::StopAgent { .. } = &effect
            && let Some(stop_handle) = self.controls.get(&effect.asker())
        {
            stop_handle.stop(StopReason::Cancelled);
        }
        self.known.insert(intent.id);
        let lane = intent.lane.clone();
        self.waiting.entry(lane.clone()).or_default().push_back((intent, effect));
        self.advance(&lane);
    }

    /// Tells whether a run is being driven: its driver performs the next step without being asked.
    fn is_driven(&self, intent: &Intent, effect: &Effect) -> bool {
        matches!(effect, Effect::PerformNode { .. }) && self.busy.contains(&intent.lane)
    }

    /// Records that a performer is done, and lets the next of its lane begin.
    pub(crate) fn finish(&mut self, done: Done) -> Result<(), Error> {
        self.busy.remove(&done.lane);
        let outcome = match done.result {
            Ok(()) => Ok(()),
            Err(error) => {
                // Forgotten, so that it is read from the log again.
                self.known.remove(&done.intent);
                let failures = self.failures.entry(done.intent).or_default();
                *failures += 1;
                let is_final = matches!(error, Error::Store(regatta_store::Error::LeaseLost { .. }));
                if is_final || *failures >= FAILURES_MAX { Err(error) } else { Ok(()) }
            }
        };
        self.advance(&done.lane);
        outcome
    }

    fn advance(&mut self, lane: &str) {
        if self.status == Status::Halted || self.busy.contains(lane) {
            return;
        }
        let Some(waiting) = self.waiting.get_mut(lane) else { return };
        let Some((intent, effect)) = waiting.pop_front() else {
            self.waiting.remove(lane);
            return;
        };
        let stop_handle = self.control_for(&effect);
        self.busy.insert(lane.to_owned());
        let work = Work {
            project: Arc::clone(&self.project),
            token: self.token,
            intent: intent.id,
            at: intent.at,
            slots: Arc::clone(&self.slots),
            active_steps: Arc::clone(&self.active_steps),
            charges: Arc::clone(&self.charges),
            drivers: Arc::clone(&self.drivers),
            moves: self.moves.clone(),
            leaving: self.leaving.subscribe(),
        };
        let done = self.done.clone();
        let roles = Arc::clone(&self.roles);
        tokio::spawn(async move {
            // A task of its own, so that a panic is noticed as its end.
            let performed =
                tokio::spawn(
                    async move { perform::perform(&work, roles.as_ref(), effect, stop_handle).await },
                );
            let broke_off = |panic: tokio::task::JoinError| {
                Err(Error::LogUnsound { seq: 0, why: format!("a performer broke off: {panic}") })
            };
            let result = performed.await.unwrap_or_else(broke_off);
            let message = Done { intent: intent.id, lane: intent.lane, result };
            // The loop outlives its performers; if it is gone the process is ending.
            let _ = done.send(message).await;
        });
    }

    /// A long effect gets a new control; what stops it gets the control of the running one.
    fn control_for(&mut self, effect: &Effect) -> Option<StopHandle> {
        match effect {
            // The task that a run works on changes from step to step, so the performer of each step reports it.
            Effect::CreateWorktree { .. }
            | Effect::RunSession { .. }
            | Effect::RunChecks { .. }
            | Effect::PerformNode { .. }
            | Effect::LandTask { .. } => {
                let stop_handle = StopHandle::new();
                self.controls.insert(effect.asker(), stop_handle.clone());
                Some(stop_handle)
            }
            Effect::StopAgent { .. } | Effect::PauseAgent { .. } | Effect::StopRun { .. } => {
                self.controls.get(&effect.asker()).cloned()
            }
            _ => None,
        }
    }
}
