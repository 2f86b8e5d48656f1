//! Lanes: which effects are under way, which wait for another of their lane, and how sessions are stopped.
//!
//! Effects of one lane are performed in order, one at a time; lanes run beside each other. Owned by the engine's
//! loop and touched by nothing else.

use crate::core::{Effect, RunId, TaskId, run};
use crate::error::Error;
use crate::perform;
use crate::perform::Work;
use crate::project::Project;
use crate::runs::seats::Seats;
use crate::runtime::control::Control;
use crate::runtime::under_way::UnderWay;
use crate::session::charge::Charges;
use crate::session::places::Places;
use crate::session::role::Roles;
use regatta_agents::StopReason;
use regatta_store::{Intent, IntentId, LeaseToken};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// A performer that fails for a reason of its own (a busy database) is tried so often before the engine stops.
const FAILURES_MAX: u32 = 5;

/// What a performer says when it is done.
pub(crate) struct Done {
    intent: IntentId,
    lane: String,
    result: Result<(), Error>,
}

/// An effect of any family.
pub(crate) enum Deed {
    Task(Effect),
    Run(run::Effect),
}

/// Whose long effect a control is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Held {
    Task(TaskId),
    Run(RunId),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Working,
    Leaving,
    Halted,
}

/// All lanes of one engine.
pub(crate) struct Lanes {
    project: Arc<Project>,
    token: LeaseToken,
    done: mpsc::Sender<Done>,
    places: Arc<Places>,
    under_way: Arc<UnderWay>,
    charges: Arc<Charges>,
    seats: Arc<Seats>,
    roles: Arc<dyn Roles>,
    leaving: watch::Sender<bool>,
    mood: Mood,
    known: HashSet<IntentId>,
    waiting: HashMap<String, VecDeque<(Intent, Deed)>>,
    busy: HashSet<String>,
    controls: HashMap<Held, Control>,
    failures: HashMap<IntentId, u32>,
}

impl Lanes {
    pub(crate) fn new(
        project: Arc<Project>,
        roles: Arc<dyn Roles>,
        token: LeaseToken,
        done: mpsc::Sender<Done>,
    ) -> Self {
        let places = Arc::new(Places::new(project.config()));
        Lanes {
            project,
            token,
            done,
            places,
            under_way: Arc::default(),
            charges: Arc::default(),
            seats: Arc::default(),
            roles,
            leaving: watch::Sender::new(false),
            mood: Mood::Working,
            known: HashSet::new(),
            waiting: HashMap::new(),
            busy: HashSet::new(),
            controls: HashMap::new(),
            failures: HashMap::new(),
        }
    }

    /// Counts the effects under way.
    pub(crate) fn count_busy(&self) -> usize {
        self.busy.len()
    }

    pub(crate) fn is_halted(&self) -> bool {
        self.mood == Mood::Halted
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.mood == Mood::Leaving
    }

    /// Stops what may take long, and takes up nothing more but short effects.
    pub(crate) fn leave(&mut self) {
        if self.mood == Mood::Working {
            self.mood = Mood::Leaving;
            self.stop_long();
        }
    }

    /// Starts nothing more, and stops what may take long.
    pub(crate) fn halt(&mut self) {
        self.mood = Mood::Halted;
        self.waiting.clear();
        self.stop_long();
    }

    fn stop_long(&mut self) {
        self.leaving.send_replace(true);
        self.waiting.values_mut().for_each(|lane| lane.retain(|(_, deed)| deed.is_short()));
        self.controls.values().for_each(|control| control.stop(StopReason::Shutdown));
    }

    /// Tells whether an intent is in its lane already.
    pub(crate) fn knows(&self, intent: IntentId) -> bool {
        self.known.contains(&intent)
    }

    /// Puts an intent into its lane, unless it is there already.
    pub(crate) fn take_up(&mut self, intent: Intent, deed: Deed) {
        let is_late = self.mood == Mood::Leaving && !deed.is_short();
        if self.knows(intent.id) || is_late || self.is_driven(&intent, &deed) {
            return;
        }
        // Told at once, since a set-up or a check that takes long stands in the same lane before what stops it.
        if let Deed::Task(Effect::StopAgent { task, .. }) = &deed
            && let Some(control) = self.controls.get(&Held::Task(*task))
        {
            control.stop(StopReason::Cancelled);
        }
        self.known.insert(intent.id);
        let lane = intent.lane.clone();
        self.waiting.entry(lane.clone()).or_default().push_back((intent, deed));
        self.advance(&lane);
    }

    /// Tells whether a run is being driven: whoever drives it goes on with its next step without being told.
    fn is_driven(&self, intent: &Intent, deed: &Deed) -> bool {
        matches!(deed, Deed::Run(run::Effect::PerformNode { .. })) && self.busy.contains(&intent.lane)
    }

    /// Takes note that a performer is done, and lets the next of its lane begin.
    pub(crate) fn finish(&mut self, done: Done) -> Result<(), Error> {
        self.busy.remove(&done.lane);
        let outcome = match done.result {
            Ok(()) => Ok(()),
            Err(error) => {
                // Forgotten, so that it is taken up again from the log.
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
        if self.mood == Mood::Halted || self.busy.contains(lane) {
            return;
        }
        let Some(waiting) = self.waiting.get_mut(lane) else { return };
        let Some((intent, deed)) = waiting.pop_front() else {
            self.waiting.remove(lane);
            return;
        };
        let control = self.control_for(&deed);
        self.busy.insert(lane.to_owned());
        let work = Work {
            project: Arc::clone(&self.project),
            token: self.token,
            intent: intent.id,
            at: intent.at,
            places: Arc::clone(&self.places),
            under_way: Arc::clone(&self.under_way),
            charges: Arc::clone(&self.charges),
            seats: Arc::clone(&self.seats),
            leaving: self.leaving.subscribe(),
        };
        let done = self.done.clone();
        let roles = Arc::clone(&self.roles);
        tokio::spawn(async move {
            // Of its own, so that one that breaks off is known to be over.
            let performed = tokio::spawn(async move {
                match deed {
                    Deed::Task(effect) => perform::perform(&work, effect, control).await,
                    Deed::Run(effect) => crate::perform::runs::perform(&work, &roles, effect, control).await,
                }
            });
            let broke_off = |panic: tokio::task::JoinError| {
                Err(Error::LogUnsound { seq: 0, why: format!("a performer broke off: {panic}") })
            };
            let result = performed.await.unwrap_or_else(broke_off);
            let message = Done { intent: intent.id, lane: intent.lane, result };
            // The loop outlives its performers; if it is gone the process is ending.
            let _ = done.send(message).await;
        });
    }

    /// What may take long gets a new control; what stops it gets the control of the one under way.
    fn control_for(&mut self, deed: &Deed) -> Option<Control> {
        let held = match deed {
            Deed::Task(effect) => match effect {
                Effect::CreateWorktree { task, .. }
                | Effect::RunSession { task, .. }
                | Effect::RunChecks { task, .. } => Held::Task(*task),
                Effect::StopAgent { task, .. } | Effect::PauseAgent { task, .. } => {
                    return self.controls.get(&Held::Task(*task)).cloned();
                }
                _ => return None,
            },
            Deed::Run(effect) => match effect {
                // Which task it works on changes from step to step, and is told where steps are performed.
                run::Effect::PerformNode { run, .. } | run::Effect::LandTask { run, .. } => Held::Run(*run),
                run::Effect::StopRun { run } => return self.controls.get(&Held::Run(*run)).cloned(),
                _ => return None,
            },
        };
        let control = Control::new();
        self.controls.insert(held, control.clone());
        Some(control)
    }
}

impl Deed {
    pub(crate) fn parse(intent: &Intent) -> Result<Self, Error> {
        let unsound = |error: serde_json::Error| Error::LogUnsound {
            seq: intent.id.seq.0,
            why: format!("its effect cannot be read: {error}"),
        };
        if intent.lane.starts_with("run/") {
            return crate::log::effect_of(intent).map(Deed::Run).map_err(unsound);
        }
        crate::log::effect_of(intent).map(Deed::Task).map_err(unsound)
    }
}
