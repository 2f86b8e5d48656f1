//! Folds one fact into a run.
//!
//! Facts are never refused: only `replay` asks [`Run::try_evolve`] whether each fitted. Nothing is evaluated here: every
//! value that a step assigned is in its event.

use super::soundness::carries;
use super::{Begin, Choice, Event, Hold, Mapping, Next, Phase, Run, Situation, Working};
use crate::{Code, Fact, RunId};
use jiff::Timestamp;
use regatta_flow::{Patch, Sheet};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

impl Run {
    /// Folds one fact into the run; `None` before it is created.
    pub fn evolve(run: Option<Run>, fact: &Fact<Event>) -> Option<Run> {
        match (run, &fact.event) {
            (None, Event::RunCreated { run_id, plan }) => Some(begin(*run_id, plan, fact.at)),
            (Some(mut run), event) if event.find_run() == Some(run.id) => {
                run.take_in(event);
                run.updated_at = fact.at;
                Some(run)
            }
            (run, _) => run,
        }
    }

    /// Folds one fact into the run, or returns `None` when the run cannot carry it.
    pub(crate) fn try_evolve(run: Option<Run>, fact: &Fact<Event>) -> Option<Run> {
        match (run, &fact.event) {
            (None, Event::RunCreated { run_id, plan }) => Some(begin(*run_id, plan, fact.at)),
            (Some(mut run), event) if event.find_run() == Some(run.id) && carries(&run, event) => {
                let fits = run.take_in(event);
                run.updated_at = fact.at;
                fits.then_some(run)
            }
            _ => None,
        }
    }

    /// Takes an event in, and tells whether it fits: whether the run has not ended, and every value has a place.
    fn take_in(&mut self, event: &Event) -> bool {
        let Situation::Working(working) = &mut self.situation else { return false };
        let mut fits = true;
        match event {
            Event::WorkflowKept { .. } | Event::RunCreated { .. } | Event::RunAgentRefused { .. } => {}
            Event::RunPublished { tasks, .. } => {
                self.tasks.extend(tasks.iter().map(|(key, task)| (key.clone(), *task)));
                self.go_on_published(!tasks.is_empty());
            }
            Event::RunStepped { output, head, set, choice, next, .. } => {
                self.count(choice);
                if let (Some(item), Some(head)) = (&self.item, head) {
                    self.heads.insert(item.clone(), head.clone());
                }
                fits = self.assign(set, output);
                if let Some(Phase::Asking { .. }) = self.phase() {
                    self.sheet.set_feedback(answered(output, self.item.as_deref()));
                }
                self.give_up(choice.fail.as_ref());
                self.go(next);
                if let Situation::Working(Working { phase: Phase::Landing { output: kept, .. }, .. }) =
                    &mut self.situation
                {
                    kept.clone_from(output);
                }
            }
            Event::RunOutputRefused { faults, asks, .. } => {
                self.turn_to(Phase::Performing { asks: *asks, faults: faults.clone() });
            }
            Event::RunChildrenStarted { children, .. } => {
                let Phase::Mapping(mapping) = &mut working.phase else { return false };
                for (key, run) in children {
                    mapping.start(key, *run);
                }
                working.is_asked = false;
                working.ask_if_wanted();
            }
            Event::RunChildEnded { item, child: end, .. } => {
                let Phase::Mapping(mapping) = &mut working.phase else { return false };
                mapping.end(item, end.clone());
                // With the last one ended the step follows at once.
                if !mapping.is_over() {
                    working.ask_if_wanted();
                }
            }
            Event::RunLanded { set, next, .. } => {
                let output = working.take_output();
                fits = self.assign(set, &output);
                self.sheet.set_feedback(Value::Null);
                if let Some(item) = self.item.take() {
                    self.driven.remove(&item);
                    self.heads.remove(&item);
                }
                self.go(next);
            }
            Event::RunSentBack { feedback, fail, set, next, .. } => {
                let output = working.take_output();
                fits = self.assign(set, &output);
                self.sheet.set_feedback(sent_back(feedback, self.item.as_deref()));
                let item = self.item.clone().unwrap_or_default();
                *self.sent_back.entry(item).or_default() += 1;
                self.give_up(fail.as_ref());
                self.go(next);
            }
            Event::RunHeld { error, .. } => {
                if let (Phase::Performing { .. }, Code::TaskCancelled, Some(item)) =
                    (&working.phase, error.code, &self.item)
                {
                    // Who resumes it now knows that the item begins again.
                    self.heads.remove(item);
                }
                working.is_asked = false;
                working.hold = Some(Hold::Error { error: error.clone() });
            }
            Event::RunPutOff { .. } => working.is_asked = false,
            Event::RunPaused { .. } => working.hold = Some(Hold::Paused),
            Event::RunResumed { .. } => {
                working.hold = None;
                working.ask_if_wanted();
            }
            Event::RunParentPaused { .. } => working.is_parent_paused = true,
            Event::RunParentResumed { .. } => {
                working.is_parent_paused = false;
                working.ask_if_wanted();
            }
            Event::RunStopping { reason, .. } => {
                working.hold = Some(Hold::Stopping { reason: reason.clone() });
            }
            Event::RunCompleted { result, .. } => {
                self.situation = Situation::Completed { result: result.clone() };
            }
            Event::RunFailed { error, .. } => self.situation = Situation::Failed { error: error.clone() },
        }
        fits
    }

    /// A task that was given up is no longer the run's.
    fn give_up(&mut self, item: Option<&String>) {
        let Some(item) = item else { return };
        self.driven.remove(item);
        self.item.take_if(|current| current == item);
    }

    fn count(&mut self, choice: &Choice) {
        let item = self.item.clone().unwrap_or_default();
        *self.visits.entry(self.node.to_string()).or_default().entry(item).or_default() += 1;
        let scopes = self.taken.entry(choice.edge.to_string()).or_default();
        // A used-up edge is not taken; its route is.
        if choice.exhausted.is_none() {
            *scopes.entry(choice.scope.clone()).or_default() += 1;
        }
    }

    fn assign(&mut self, patches: &[Patch], output: &Value) -> bool {
        self.sheet.apply(patches, output).is_ok()
    }

    fn go(&mut self, next: &Next) {
        if !matches!(next, Next::Land { .. }) {
            self.step += 1;
        }
        self.place(next);
    }

    /// With new tasks of its own, a fork is asked once more: to take up those that had been begun.
    fn go_on_published(&mut self, has_new: bool) {
        let then = match &mut self.situation {
            Situation::Working(Working { phase: Phase::Publishing { then }, .. }) => then.take(),
            _ => None,
        };
        match then {
            Some(next) if has_new => {
                let begun: BTreeSet<&String> = self.heads.keys().chain(&self.anew).collect();
                let known = begun.into_iter().filter(|item| self.tasks.contains_key(*item));
                self.driven.extend(known.cloned());
                self.turn_to(Phase::Publishing { then: Some(next) });
            }
            None | Some(Next::Perform { .. }) => self.turn_to(Phase::performing()),
            Some(next) => self.place(&next),
        }
    }

    fn place(&mut self, next: &Next) {
        let (node, item, phase) = match next {
            Next::Perform { node, item } => {
                let is_known = item.as_ref().is_none_or(|item| self.tasks.contains_key(item));
                let is_new = self.board && !is_known;
                let phase = if is_new { Phase::Publishing { then: None } } else { Phase::performing() };
                (node, item.clone(), phase)
            }
            Next::Pass { node } => (node, self.item.clone(), Phase::Passing),
            // The question is about what the node before it worked on.
            Next::Ask { node, question } => {
                (node, self.item.clone(), Phase::Asking { question: question.clone() })
            }
            Next::Map { node, workflow, items, max_parallel } => {
                (node, None, Phase::Mapping(Mapping::new(workflow.clone(), *max_parallel, items)))
            }
            Next::Land { node, edge, item, task_id } => {
                let (edge, item) = (edge.clone(), item.clone());
                let phase = Phase::Landing { edge, item: item.clone(), task: *task_id, output: Value::Null };
                (node, Some(item), phase)
            }
            Next::End { node } => (node, self.item.clone(), Phase::Ending),
        };
        self.node = node.clone();
        self.item = item;
        self.turn_to(phase);
    }

    fn turn_to(&mut self, phase: Phase) {
        if let (Phase::Performing { .. }, Some(_), Some(item)) = (&phase, self.find_task(), &self.item) {
            self.driven.insert(item.clone());
        }
        if let Situation::Working(working) = &mut self.situation {
            working.phase = phase;
            working.is_asked = false;
            working.ask_if_wanted();
        }
    }
}

impl Working {
    /// What a phase needs is asked for unless the run is held; a person is not asked by an effect.
    fn ask_if_wanted(&mut self) {
        let needs = match &self.phase {
            Phase::Publishing { .. } | Phase::Performing { .. } | Phase::Landing { .. } => true,
            Phase::Mapping(mapping) => mapping.is_over() || !mapping.startable().is_empty(),
            Phase::Asking { .. } | Phase::Passing | Phase::Ending => false,
        };
        self.is_asked |= needs && !self.is_held();
    }

    /// Returns what the node returned whose task was up for approval.
    fn take_output(&mut self) -> Value {
        match &mut self.phase {
            Phase::Landing { output, .. } => std::mem::take(output),
            _ => Value::Null,
        }
    }
}

impl Phase {
    fn performing() -> Self {
        Phase::Performing { asks: 0, faults: Vec::new() }
    }
}

/// Returns what expressions see as `feedback` after a person sent a task back.
pub(super) fn sent_back(feedback: &str, item: Option<&str>) -> Value {
    answered(&json!({ "approved": false, "text": feedback }), item)
}

/// Returns what expressions see as `feedback` after a person answered, perhaps about an item.
pub(super) fn answered(answer: &Value, item: Option<&str>) -> Value {
    let mut said = answer.clone();
    if let (Value::Object(fields), Some(item)) = (&mut said, item) {
        fields.insert("task".to_owned(), Value::from(item));
    }
    said
}

fn begin(id: RunId, plan: &Begin, at: Timestamp) -> Run {
    let mut run = Run {
        id,
        workflow: plan.workflow.clone(),
        digest: plan.digest.clone(),
        within: plan.within.clone(),
        level: plan.level,
        board: plan.board,
        board_below: plan.board_below,
        recording: plan.recording.clone(),
        prd: plan.prd.clone(),
        sheet: Sheet::new(plan.state.clone(), plan.input.clone(), plan.feedback.clone()),
        taken: plan.taken.clone(),
        visits: plan.visits.clone(),
        tasks: plan.tasks.clone(),
        driven: BTreeSet::new(),
        heads: plan.heads.clone(),
        anew: plan.anew.clone(),
        sent_back: BTreeMap::new(),
        step: plan.step,
        node: plan.next.node().clone(),
        item: plan.item.clone(),
        situation: Situation::Working(Working::new(Phase::Ending, plan.is_parent_paused)),
        parent: plan.parent.clone(),
        forked: plan.forked,
        created_at: at,
        updated_at: at,
    };
    run.place(&plan.next);
    if plan.takes_up {
        run.turn_to(Phase::Publishing { then: Some(plan.next.clone()) });
    }
    run
}

impl Next {
    /// Returns the node that it leads to, or stays at.
    pub fn node(&self) -> &regatta_flow::NodeName {
        match self {
            Next::Perform { node, .. }
            | Next::Pass { node }
            | Next::Ask { node, .. }
            | Next::Map { node, .. }
            | Next::Land { node, .. }
            | Next::End { node } => node,
        }
    }
}
