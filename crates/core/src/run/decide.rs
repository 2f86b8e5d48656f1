//! What happens when a run is given a command, or why it may not.

use super::board::find_faults_after;
use super::step::{FAULTS_MAX, Player};
use super::{ChildEnd, Event, Hold, Next, Phase, Run, Status, failure, nesting};
use crate::task::one_line;
use crate::{AgentId, CommitId, Failure, Refusal, RunId, TaskId};
use regatta_flow::{OUTPUT_LEVELS_MAX, Workflow, is_nested_deeper};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How often a role is asked again when its output does not fit; each is a session.
const ASKS_MAX: u32 = 2;

/// What a decision about a run may depend on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The definition that it plays.
    pub workflow: &'a Workflow,
    /// The current time, in milliseconds since 1970 began in UTC; the same throughout a step.
    pub now_millis: i64,
}

/// Orders of people to a run, and reports of the outcomes of its effects.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "each variant is an order, or the outcome of the effect of the same subject")]
pub enum Command {
    Pause,
    Resume,
    Stop { reason: Option<String> },
    Answer { step: u64, approved: bool, text: String },
    FollowParent { is_paused: bool },
    Published { step: u64, tasks: BTreeMap<String, TaskId> },
    AgentRefused { step: u64, agent: AgentId, what: String },
    Performed { step: u64, asks: u32, output: Value, head: Option<CommitId> },
    NotPerformed { step: u64, failure: Failure },
    Unperformable { step: u64, failure: Failure },
    PutOff { step: u64 },
    Stopped,
    ChildrenStarted { step: u64, children: BTreeMap<String, RunId> },
    ChildEnded { child: RunId, end: ChildEnd },
    Landed { step: u64 },
    SentBack { step: u64, feedback: String },
}

/// Says what happens when a run is given a command, or why it may not.
///
/// The run is lent the output while its expressions are evaluated, in place, since a copy would cost what its state
/// weighs; afterwards it is as it was. A report that it no longer waits for changes nothing. An output that is in an
/// event afterwards is no longer in the command; [`Command::take_back`] returns it.
pub fn decide(situation: Situation<'_>, run: &mut Run, command: &mut Command) -> Result<Vec<Event>, Refusal> {
    let mut player = Player { situation, run };
    let decided = player.decide(command)?;
    Ok(nesting::keep_readable(player.run, decided))
}

impl Player<'_> {
    fn decide(&mut self, command: &mut Command) -> Result<Vec<Event>, Refusal> {
        match command {
            Command::Pause => self.pause(),
            Command::Resume => self.resume(),
            Command::Stop { reason } => self.stop(reason.clone()),
            Command::Answer { step, approved, text } => self.answer(*step, *approved, text),
            _ if self.run.is_over() => Ok(Vec::new()),
            Command::FollowParent { is_paused } => Ok(self.follow_parent(*is_paused)),
            Command::Published { step, tasks } => Ok(self.published(*step, tasks.clone())),
            Command::AgentRefused { step, agent, what } => Ok(self.agent_refused(*step, agent.clone(), what)),
            Command::Performed { step, asks, output, head } => {
                Ok(self.performed(*step, *asks, output, head.clone()))
            }
            Command::NotPerformed { step, failure } => Ok(self.not_performed(*step, failure.clone())),
            Command::Unperformable { step, failure } => Ok(self.unperformable(*step, failure.clone())),
            Command::PutOff { step } => Ok(self.put_off(*step)),
            Command::Stopped => Ok(self.stopped()),
            Command::ChildrenStarted { step, children } => Ok(self.children_started(*step, children.clone())),
            Command::ChildEnded { child, end } => Ok(self.child_ended(*child, end.clone())),
            Command::Landed { step } => Ok(self.landed(*step)),
            Command::SentBack { step, feedback } => Ok(self.sent_back(*step, feedback.clone())),
        }
    }
}

impl Command {
    /// Takes the output back from the events that were decided, so that it can be decided again.
    pub fn take_back(&mut self, decided: impl IntoIterator<Item = Event>) {
        if let Command::Performed { output, .. } = self {
            take_output(output, decided);
        }
    }
}

fn take_output(output: &mut Value, decided: impl IntoIterator<Item = Event>) {
    for event in decided {
        if let Event::RunStepped { output: moved, .. } | Event::RunFailed { output: Some(moved), .. } = event
        {
            *output = moved;
        }
    }
}

/// Decides once more what a recorded event tells, with the output that it has or the answer of a person; nothing when it
/// tells no decision of the workflow. For replaying a run.
pub fn decide_again(situation: Situation<'_>, run: &mut Run, recorded: &Event) -> Option<Vec<Event>> {
    let mut player = Player { situation, run };
    match recorded {
        Event::RunStepped { output, .. } | Event::RunFailed { output: Some(output), .. } => {
            Some(match player.run.phase {
                Phase::Performing { .. } => player
                    .take(output.clone(), None)
                    .unwrap_or_else(|(faults, output)| vec![player.give_up(&faults, Some(output))]),
                _ => player.step(output.clone(), None),
            })
        }
        Event::RunLanded { step, .. } => Some(player.landed(*step)),
        Event::RunSentBack { step, feedback, .. } => Some(player.sent_back(*step, feedback.clone())),
        _ => None,
    }
}

impl Player<'_> {
    fn pause(&mut self) -> Result<Vec<Event>, Refusal> {
        self.refuse_if_over("pause")?;
        let is_held = self.run.hold.is_some();
        Ok(if is_held { Vec::new() } else { vec![Event::RunPaused { run_id: self.run.id }] })
    }

    fn resume(&mut self) -> Result<Vec<Event>, Refusal> {
        self.refuse_if_over("resume")?;
        match self.run.hold {
            Some(Hold::Paused | Hold::Error { .. }) => Ok(vec![Event::RunResumed { run_id: self.run.id }]),
            Some(Hold::Stopping { .. }) => Err(self.refusal("resume")),
            None => match &self.run.parent {
                Some(parent) if self.run.is_parent_paused => {
                    Err(Refusal::RunParentPaused { run: self.run.id, parent: parent.run_id })
                }
                _ => Ok(Vec::new()),
            },
        }
    }

    /// A pause of its own stays, whatever becomes of the one above.
    fn follow_parent(&self, is_paused: bool) -> Vec<Event> {
        let run_id = self.run.id;
        match (self.run.is_parent_paused, is_paused) {
            (false, true) => vec![Event::RunParentPaused { run_id }],
            (true, false) => vec![Event::RunParentResumed { run_id }],
            (false, false) | (true, true) => Vec::new(),
        }
    }

    fn stop(&mut self, reason: Option<String>) -> Result<Vec<Event>, Refusal> {
        self.refuse_if_over("stop")?;
        if let Some(Hold::Stopping { .. }) = self.run.hold {
            return Ok(Vec::new());
        }
        if self.run.is_at_work() {
            return Ok(vec![Event::RunStopping { run_id: self.run.id, reason }]);
        }
        Ok(vec![self.fail(failure::stopped(self.run.id, reason.as_deref()))])
    }

    /// An answer is to the question that was seen; the next one may be another.
    fn answer(&mut self, step: u64, approved: bool, text: &str) -> Result<Vec<Event>, Refusal> {
        match self.run.phase {
            Phase::Asking { .. } if step != self.run.step => {
                Err(Refusal::RunAsksOther { run: self.run.id, step, now: self.run.step })
            }
            Phase::Asking { .. } if text.trim().is_empty() => {
                Err(Refusal::RunAnswerBlank { run: self.run.id })
            }
            Phase::Asking { .. } => Ok(self.step(json!({ "approved": approved, "text": text }), None)),
            _ => Err(self.refusal("take an answer")),
        }
    }

    fn published(&mut self, step: u64, tasks: BTreeMap<String, TaskId>) -> Vec<Event> {
        let run_id = self.run.id;
        if self.run.phase != Phase::Publishing || step != self.run.step || !self.run.is_asked {
            return Vec::new();
        }
        let is_there = |item: &&String| tasks.contains_key(*item) || self.run.tasks.contains_key(*item);
        // A question may be about an item that is not there; a fork takes up first what is.
        let is_performed = match &self.run.then {
            None => true,
            Some(next) => tasks.is_empty() && matches!(next, Next::Perform { .. }),
        };
        let missing = self.run.item.as_ref().filter(|item| is_performed && !is_there(item));
        let failed = missing.map(|item| self.fail(failure::no_such_task(self.run, item)));
        let mut events = vec![Event::RunPublished { run_id, step, tasks }];
        events.extend(failed);
        events
    }

    fn agent_refused(&self, step: u64, agent_id: AgentId, what: &str) -> Vec<Event> {
        if step != self.run.step {
            return Vec::new();
        }
        vec![Event::RunAgentRefused { run_id: self.run.id, step, agent_id, what: one_line(what) }]
    }

    fn performed(&mut self, step: u64, asks: u32, output: &mut Value, head: Option<CommitId>) -> Vec<Event> {
        let is_wanted = matches!(self.run.phase, Phase::Performing { asks: now, .. } if now == asks);
        if !is_wanted || step != self.run.step || !self.run.is_asked {
            return Vec::new();
        }
        if let Some(Hold::Stopping { reason }) = &self.run.hold {
            return vec![self.fail(failure::stopped(self.run.id, reason.as_deref()))];
        }
        match self.take(std::mem::take(output), head) {
            Ok(events) => events,
            Err((faults, back)) if asks < ASKS_MAX => {
                *output = back;
                vec![Event::RunOutputRefused { run_id: self.run.id, step, faults, asks: asks + 1 }]
            }
            // Kept, it could not be read back.
            Err((faults, back)) if is_nested_deeper(&back, OUTPUT_LEVELS_MAX) => {
                *output = back;
                vec![self.give_up(&faults, None)]
            }
            Err((faults, back)) => vec![self.give_up(&faults, Some(back))],
        }
    }

    /// Makes the step that follows an output, or returns it with what does not fit.
    fn take(&mut self, output: Value, head: Option<CommitId>) -> Result<Vec<Event>, (Vec<String>, Value)> {
        let faults = self.find_output_faults(&output);
        if !faults.is_empty() {
            return Err((faults, output));
        }
        let events = self.step(output, head);
        let (faults, error) = match find_faults_after(self.situation, self.run, &events) {
            Ok(faults) if faults.is_empty() => return Ok(events),
            Ok(faults) => (faults.into_iter().take(FAULTS_MAX).collect(), None),
            Err(fault) => (Vec::new(), Some(failure::of_step(self.run, &fault))),
        };
        let mut output = Value::Null;
        take_output(&mut output, events);
        match error {
            None => Err((faults, output)),
            Some(error) => Ok(vec![Event::RunFailed { run_id: self.run.id, error, output: Some(output) }]),
        }
    }

    fn give_up(&self, faults: &[String], output: Option<Value>) -> Event {
        let error = failure::output_invalid(self.run.id, &self.run.node, faults);
        Event::RunFailed { run_id: self.run.id, error, output }
    }

    fn not_performed(&mut self, step: u64, error: Failure) -> Vec<Event> {
        if step != self.run.step || !self.run.is_asked {
            return Vec::new();
        }
        if let Some(Hold::Stopping { reason }) = &self.run.hold {
            return vec![self.fail(failure::stopped(self.run.id, reason.as_deref()))];
        }
        vec![Event::RunHeld { run_id: self.run.id, step, error }]
    }

    /// The definition is at fault, and the run has no other: to try again would come to the same.
    fn unperformable(&mut self, step: u64, error: Failure) -> Vec<Event> {
        if step != self.run.step || !self.run.is_asked {
            return Vec::new();
        }
        match &self.run.hold {
            Some(Hold::Stopping { reason }) => {
                vec![self.fail(failure::stopped(self.run.id, reason.as_deref()))]
            }
            _ => vec![self.fail(error)],
        }
    }

    fn put_off(&mut self, step: u64) -> Vec<Event> {
        let is_wanted = step == self.run.step && self.run.may_be_put_off();
        if is_wanted { vec![Event::RunPutOff { run_id: self.run.id, step }] } else { Vec::new() }
    }

    fn stopped(&mut self) -> Vec<Event> {
        match &self.run.hold {
            Some(Hold::Stopping { reason }) => {
                vec![self.fail(failure::stopped(self.run.id, reason.as_deref()))]
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn fail(&self, error: Failure) -> Event {
        Event::RunFailed { run_id: self.run.id, error, output: None }
    }

    fn refuse_if_over(&self, command: &'static str) -> Result<(), Refusal> {
        match self.run.status() {
            Status::Completed | Status::Failed => Err(self.refusal(command)),
            Status::Created | Status::Running | Status::Paused => Ok(()),
        }
    }

    fn refusal(&self, command: &'static str) -> Refusal {
        Refusal::RunInvalidTransition { run: self.run.id, status: self.run.status(), command }
    }
}
