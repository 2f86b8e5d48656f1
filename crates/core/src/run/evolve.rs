//! Folds one fact into a run.
//!
//! Facts are never refused: only `replay` asks [`Run::try_evolve`] whether each fitted. Nothing is evaluated here: every
//! value that a step assigned is in its event.

use super::soundness::carries;
use super::{
    Begin, Choice, Edits, Event, Hold, Mapping, MemberCame, MemberState, Next, Outcome, Phase, Run,
    Situation, Working,
};
use crate::{Code, Fact, RunId};
use jiff::Timestamp;
use regatta_flow::{OutcomeKind, Patch, Sheet};
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

    /// Folds one fact into the run, if it is of this run.
    pub(super) fn evolve_in_place(&mut self, fact: &Fact<Event>) {
        if fact.event.find_run() == Some(self.id) {
            self.take_in(&fact.event);
            self.updated_at = fact.at;
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
    pub(super) fn take_in(&mut self, event: &Event) -> bool {
        if let Event::RunSignalled { set, restarted, next, .. } = event {
            return self.take_in_signal(set, restarted, next.as_ref());
        }
        if let Event::RunEdited { .. } | Event::RunEditKept { .. } = event {
            return self.take_in_edit(event);
        }
        let Situation::Working(working) = &mut self.situation else { return false };
        let mut fits = true;
        match event {
            Event::WorkflowKept { .. }
            | Event::RunCreated { .. }
            | Event::RunAgentRefused { .. }
            | Event::RunEdited { .. }
            | Event::RunEditKept { .. }
            | Event::RunSignalled { .. } => {}
            Event::RunPublished { tasks, .. } => {
                self.tasks.extend(tasks.iter().map(|(key, task)| (key.clone(), *task)));
                self.go_on_published(!tasks.is_empty());
            }
            Event::RunStepped { output, set, choice, next, outcome: Some(outcome), .. } => {
                let output = working.take_output().unwrap_or_else(|| output.clone());
                self.count_members();
                self.come_to(outcome, choice);
                fits = self.assign(set, &output);
                self.give_up(choice.fail.as_ref());
                self.withdraw(choice.drop.as_ref());
                self.go(next);
            }
            Event::RunStepped { output, head, set, choice, next, .. } => {
                self.count_members();
                self.count(choice, true);
                self.withdrawn.retain(|item| Some(item) != self.item.as_ref());
                if let (Some(item), Some(head)) = (&self.item, head) {
                    self.heads.insert(item.clone(), head.clone());
                }
                fits = self.assign(set, output);
                if let Some(Phase::Asking { .. }) = self.phase() {
                    self.sheet.set_feedback(answered(output, self.item.as_deref()));
                }
                self.give_up(choice.fail.as_ref());
                self.withdraw(choice.drop.as_ref());
                self.go(next);
                if let Situation::Working(Working { phase: Phase::Landing { output: kept, .. }, .. }) =
                    &mut self.situation
                {
                    kept.clone_from(output);
                }
            }
            Event::RunMemberEnded { .. } => fits = self.take_in_member(event),
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
                let output = working.take_output().unwrap_or_default();
                fits = self.assign(set, &output);
                self.sheet.set_feedback(Value::Null);
                if let Some(item) = self.item.take() {
                    self.driven.remove(&item);
                    self.heads.remove(&item);
                }
                self.go(next);
            }
            Event::RunSentBack { feedback, fail, drop, set, next, .. } => {
                let output = working.take_output().unwrap_or_default();
                fits = self.assign(set, &output);
                self.sheet.set_feedback(sent_back(feedback, self.item.as_deref()));
                let item = self.item.clone().unwrap_or_default();
                *self.sent_back.entry(item).or_default() += 1;
                self.give_up(fail.as_ref());
                self.withdraw(drop.as_ref());
                self.go(next);
            }
            Event::RunHeld { error, .. } => {
                if error.code == Code::TaskCancelled {
                    // Who resumes it now knows that the item begins again.
                    let items = working.find_failed(self.item.as_ref());
                    self.heads.retain(|item, _| !items.contains(item));
                }
                working.is_asked = false;
                working.hold = Some(Hold::Error { error: error.clone() });
            }
            Event::RunPutOff { .. } => working.is_asked = false,
            Event::RunPaused { .. } => working.hold = Some(Hold::Paused),
            Event::RunResumed { .. } => {
                working.begin_members_again();
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

    /// A signal changes the state; a run that had ended continues by it.
    fn take_in_signal(&mut self, set: &[Patch], restarted: &[String], next: Option<&Next>) -> bool {
        let fits = self.assign(set, &Value::Null);
        let Some(next) = next else { return fits && !self.is_over() };
        for item in restarted {
            self.tasks.remove(item);
            self.driven.remove(item);
            self.heads.remove(item);
        }
        let fits = fits && self.is_over();
        self.item = None;
        self.situation = Situation::Working(Working::new(Phase::Ending, false));
        self.go(next);
        fits
    }

    /// An edit changes the state of a run that has not ended; one that is kept changes nothing.
    fn take_in_edit(&mut self, event: &Event) -> bool {
        self.edits.take_in(event, &self.sheet.state());
        match event {
            Event::RunEdited { set, .. } => self.assign(set, &Value::Null) && !self.is_over(),
            _ => true,
        }
    }

    /// A task that was given up is no longer the run's.
    fn give_up(&mut self, item: Option<&String>) {
        let Some(item) = item else { return };
        self.driven.remove(item);
        self.item.take_if(|current| current == item);
    }

    /// A task that was cancelled begins again, should the run come back to it.
    fn withdraw(&mut self, item: Option<&String>) {
        let Some(item) = item else { return };
        self.give_up(Some(item));
        self.heads.remove(item);
        self.withdrawn.insert(item.clone());
    }

    /// Takes in what came of the node, or of the task that it submitted; that node was counted when it returned.
    fn come_to(&mut self, outcome: &Outcome, choice: &Choice) {
        let is_landing = matches!(self.phase(), Some(Phase::Landing { .. }));
        self.count(choice, !is_landing);
        if let Some(feedback) = &outcome.feedback {
            self.sheet.set_feedback(sent_back(feedback, self.item.as_deref()));
        }
        let Some(item) = outcome.item.clone().or_else(|| self.item.clone()) else { return };
        if outcome.sends_back() {
            *self.sent_back.entry(item.clone()).or_default() += 1;
        }
        if outcome.on == OutcomeKind::Cancelled {
            self.driven.remove(&item);
            self.heads.remove(&item);
            self.withdrawn.insert(item);
        }
    }

    fn count(&mut self, choice: &Choice, is_visit: bool) {
        if is_visit {
            let item = self.item.clone().unwrap_or_default();
            *self.visits.entry(self.node.to_string()).or_default().entry(item).or_default() += 1;
        }
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
            self.edits.fresh.clear();
        }
        self.place(next);
    }

    /// With new tasks of its own, a fork is asked once more: to take up those that had been begun.
    fn go_on_published(&mut self, has_new: bool) {
        let (then, before) = match &mut self.situation {
            Situation::Working(Working { phase: Phase::Publishing { then, before }, .. }) => {
                (then.take(), before.take())
            }
            _ => (None, None),
        };
        if let Some(next) = before {
            self.do_next(&next);
            return;
        }
        match then {
            Some(next) if has_new => {
                let begun: BTreeSet<&String> = self.heads.keys().chain(&self.restarted).collect();
                let known = begun.into_iter().filter(|item| self.tasks.contains_key(*item));
                self.driven.extend(known.cloned());
                self.turn_to(Phase::Publishing { then: Some(next), before: None });
            }
            None | Some(Next::Perform { .. }) => self.turn_to(Phase::performing()),
            Some(next) => self.place(&next),
        }
    }

    /// Turns to what is next, or to putting its items on the board first.
    fn place(&mut self, next: &Next) {
        let comes_first = match next {
            Next::Parallel { members, .. } => {
                let mut items = members.iter().filter_map(|member| member.item.as_ref());
                self.board && items.any(|item| !self.tasks.contains_key(item))
            }
            // Also when all are there: what they depend on may have changed.
            Next::Map { publishes, .. } => self.board && *publishes,
            _ => false,
        };
        if comes_first {
            (self.node, self.item) = (next.node().clone(), None);
            self.turn_to(Phase::Publishing { then: None, before: Some(Box::new(next.clone())) });
        } else {
            self.do_next(next);
        }
    }

    fn do_next(&mut self, next: &Next) {
        let (node, item, phase) = match next {
            Next::Perform { node, item } => {
                let is_known = item.as_ref().is_none_or(|item| self.tasks.contains_key(item));
                let is_new = self.board && !is_known;
                let phase =
                    if is_new { Phase::Publishing { then: None, before: None } } else { Phase::performing() };
                (node, item.clone(), phase)
            }
            Next::Parallel { node, members } => {
                (node, None, Phase::Parallel { members: members.iter().map(MemberState::new).collect() })
            }
            Next::Pass { node } => (node, self.item.clone(), Phase::Passing),
            // The question is about what the node before it worked on.
            Next::Ask { node, question } => {
                (node, self.item.clone(), Phase::Asking { question: question.clone() })
            }
            Next::Map { node, workflow, items, max_parallel, .. } => {
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
        let items = match &phase {
            Phase::Performing { .. } => self.item.iter().collect(),
            Phase::Parallel { members } => {
                members.iter().filter_map(|state| state.member.item.as_ref()).collect()
            }
            _ => Vec::new(),
        };
        let taken = items.into_iter().filter(|item| self.tasks.contains_key(*item));
        self.driven.extend(taken.cloned());
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
            Phase::Publishing { .. }
            | Phase::Performing { .. }
            | Phase::Parallel { .. }
            | Phase::Landing { .. } => true,
            Phase::Mapping(mapping) => mapping.is_over() || !mapping.startable().is_empty(),
            Phase::Asking { .. } | Phase::Passing | Phase::Ending => false,
        };
        self.is_asked |= needs && !self.is_held();
    }

    /// Returns the items of the nodes that could not be performed, of which the run's own is one.
    fn find_failed(&self, own: Option<&String>) -> Vec<String> {
        match &self.phase {
            Phase::Performing { .. } => own.into_iter().cloned().collect(),
            Phase::Parallel { members } => {
                let failed =
                    members.iter().filter(|state| matches!(state.came, Some(MemberCame::Failed { .. })));
                failed.filter_map(|state| state.member.item.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns what the node returned whose task was up for approval.
    fn take_output(&mut self) -> Option<Value> {
        match &mut self.phase {
            Phase::Landing { output, .. } => Some(std::mem::take(output)),
            _ => None,
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
        withdrawn: BTreeSet::new(),
        heads: plan.heads.clone(),
        restarted: plan.restarted.clone(),
        sent_back: BTreeMap::new(),
        step: plan.step,
        node: plan.next.node().clone(),
        item: plan.item.clone(),
        member: None,
        situation: Situation::Working(Working::new(Phase::Ending, plan.is_parent_paused)),
        parent: plan.parent.clone(),
        forked: plan.forked,
        imported: plan.imported.as_ref().map(|import| import.note.clone()),
        files: plan.files.clone(),
        passes: plan.passes,
        edits: Edits::default(),
        created_at: plan.imported.as_ref().and_then(|import| import.created_at).unwrap_or(at),
        updated_at: at,
    };
    // An import starts no agents: somebody looks at it first.
    if let (Some(_), Situation::Working(working)) = (&plan.imported, &mut run.situation) {
        working.hold = Some(Hold::Paused);
    }
    run.place(&plan.next);
    if plan.takes_up {
        run.turn_to(Phase::Publishing { then: Some(plan.next.clone()), before: None });
    }
    run
}

impl Next {
    /// Returns the node that it leads to, or stays at.
    pub fn node(&self) -> &regatta_flow::NodeName {
        match self {
            Next::Perform { node, .. }
            | Next::Parallel { node, .. }
            | Next::Pass { node }
            | Next::Ask { node, .. }
            | Next::Map { node, .. }
            | Next::Land { node, .. }
            | Next::End { node } => node,
        }
    }
}
