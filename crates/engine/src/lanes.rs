//! Lanes: which effects are under way, which wait for another of their lane, and how sessions are stopped.
//!
//! Effects of one lane are performed in order, one at a time; lanes run beside each other. Owned by the engine's
//! loop and touched by nothing else.

use crate::core::{Effect, TaskId};
use crate::error::Error;
use crate::perform::{self, Control, Places, Work};
use crate::project::Project;
use regatta_agents::StopReason;
use regatta_store::{Intent, IntentId, LeaseToken};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use tokio::sync::mpsc;

/// A performer that fails for a reason of its own (a busy database) is tried so often before the engine stops.
const FAILURES_MAX: u32 = 5;

/// What a performer says when it is done.
pub(crate) struct Done {
    intent: IntentId,
    lane: String,
    result: Result<(), Error>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Working,
    Draining,
    Halted,
}

/// All lanes of one engine.
pub(crate) struct Lanes {
    project: Arc<Project>,
    token: LeaseToken,
    done: mpsc::Sender<Done>,
    places: Arc<Places>,
    mood: Mood,
    known: HashSet<IntentId>,
    waiting: HashMap<String, VecDeque<(Intent, Effect)>>,
    busy: HashSet<String>,
    controls: HashMap<TaskId, Control>,
    /// Tasks whose worktree this engine makes, and whose session it therefore owes.
    begun: HashSet<TaskId>,
    failures: HashMap<IntentId, u32>,
}

impl Lanes {
    pub(crate) fn new(project: Arc<Project>, token: LeaseToken, done: mpsc::Sender<Done>) -> Self {
        let places = Arc::new(Places::new(project.config()));
        Lanes {
            project,
            token,
            done,
            places,
            mood: Mood::Working,
            known: HashSet::new(),
            waiting: HashMap::new(),
            busy: HashSet::new(),
            controls: HashMap::new(),
            begun: HashSet::new(),
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

    pub(crate) fn is_draining(&self) -> bool {
        self.mood == Mood::Draining
    }

    /// Finishes what is under way, and starts no session but those of assignments that it has begun.
    pub(crate) fn drain(&mut self) {
        if self.mood == Mood::Working {
            self.mood = Mood::Draining;
        }
    }

    /// Starts nothing more, and stops what may take long.
    pub(crate) fn halt(&mut self) {
        self.mood = Mood::Halted;
        self.waiting.clear();
        self.controls.values().for_each(|control| control.stop(StopReason::Shutdown));
    }

    /// Puts an intent into its lane, unless it is there already.
    pub(crate) fn take_up(&mut self, intent: Intent) -> Result<(), Error> {
        if self.known.contains(&intent.id) {
            return Ok(());
        }
        let effect: Effect = serde_json::from_str(&intent.data).map_err(|error| Error::LogUnsound {
            seq: intent.id.seq.0,
            why: format!("its effect cannot be read: {error}"),
        })?;
        if !self.may_begin(&effect) {
            return Ok(());
        }
        // Told at once, since a set-up or a check that takes long stands in the same lane before what stops it.
        if let Effect::StopAgent { task, .. } = &effect
            && let Some(control) = self.controls.get(task)
        {
            control.stop(StopReason::Cancelled);
        }
        self.known.insert(intent.id);
        let lane = intent.lane.clone();
        self.waiting.entry(lane.clone()).or_default().push_back((intent, effect));
        self.advance(&lane);
        Ok(())
    }

    /// An engine that is about to leave takes up a session only if it has made the worktree for it.
    fn may_begin(&mut self, effect: &Effect) -> bool {
        match effect {
            Effect::CreateWorktree { task, .. } => {
                self.begun.insert(*task);
                true
            }
            Effect::RunSession { task, .. } => self.begun.remove(task) || self.mood != Mood::Draining,
            _ => true,
        }
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
        let Some((intent, effect)) = waiting.pop_front() else {
            self.waiting.remove(lane);
            return;
        };
        let control = self.control_for(&effect);
        self.busy.insert(lane.to_owned());
        let work = Work {
            project: Arc::clone(&self.project),
            token: self.token,
            intent: intent.id,
            at: intent.at,
            places: Arc::clone(&self.places),
        };
        let done = self.done.clone();
        tokio::spawn(async move {
            let result = perform::perform(&work, effect, control).await;
            let message = Done { intent: intent.id, lane: intent.lane, result };
            // The loop outlives its performers; if it is gone the process is ending.
            let _ = done.send(message).await;
        });
    }

    /// What may take long gets a new control; what stops it gets the control of the one under way.
    fn control_for(&mut self, effect: &Effect) -> Option<Control> {
        match effect {
            Effect::CreateWorktree { task, .. }
            | Effect::RunSession { task, .. }
            | Effect::RunChecks { task, .. } => {
                let control = Control::new();
                self.controls.insert(*task, control.clone());
                Some(control)
            }
            Effect::StopAgent { task, .. } | Effect::PauseAgent { task, .. } => {
                self.controls.get(task).cloned()
            }
            _ => None,
        }
    }
}
