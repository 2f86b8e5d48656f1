//! What happens when a run is given a command, or why it may not.

use super::children::{child_ended, children_started};
use super::edit::{self, FoundEdit, find_overtaken};
use super::land::{landed, sent_back};
use super::outcome::{self, Conflict, Outcome};
use super::parallel::{MemberReport, member_ended};
use super::signal::{self, Given};
use super::step::{make_role_step, make_step};
use super::{ChildEnd, Event, Hold, Next, Phase, Run, Situation, Working, failure, nesting};
use crate::task::one_line;
use crate::{AgentId, CommitId, Failure, Refusal, RunId, TaskId};
use regatta_flow::{OUTPUT_LEVELS_MAX, Variables, Workflow, is_nested_deeper};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How often a role is asked again when its output does not fit; each is a session.
pub(super) const ASKS_MAX: u32 = 2;

/// What a decision about a run may depend on.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The definition that it plays.
    pub workflow: &'a Workflow,
    /// The facts that its expressions read, and what comes with the command.
    pub variables: &'a Variables,
    /// The number of the last event of the log that the facts are as of.
    pub seen: u64,
    /// The current time, in milliseconds since 1970 began in UTC; the same throughout a step.
    pub now_millis: i64,
}

impl<'a> Inputs<'a> {
    /// Returns what a decision depends on that reads no variable.
    pub fn new(workflow: &'a Workflow, now_millis: i64) -> Self {
        Inputs { workflow, variables: Variables::NONE, seen: 0, now_millis }
    }
}

/// Orders of people to a run, and reports of the outcomes of its effects.
///
/// `edits` is how many edits of the run's files the prompt of a step knew.
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
    Performed { step: u64, asks: u32, output: Value, head: Option<CommitId>, edits: u64 },
    NotPerformed { step: u64, failure: Failure },
    MemberEnded { step: u64, report: MemberReport },
    Unperformable { step: u64, failure: Failure },
    PutOff { step: u64 },
    Stopped,
    ChildrenStarted { step: u64, children: BTreeMap<String, RunId> },
    ChildEnded { child: RunId, end: ChildEnd },
    Landed { step: u64 },
    SentBack { step: u64, feedback: String },
    Signal(Given),
    Edited(FoundEdit),
    Conflicted { step: u64, conflict: Conflict },
}

/// Says what happens when a run is given a command, or why it may not.
///
/// A report that it no longer waits for changes nothing.
pub fn decide(inputs: Inputs<'_>, run: &Run, command: &Command) -> Result<Vec<Event>, Refusal> {
    let Situation::Working(working) = &run.situation else { return ended(inputs, run, command) };
    let decided = match command {
        Command::Pause => pause(run, working),
        Command::Resume => resume(run, working)?,
        Command::Stop { reason } => stop(run, working, reason.as_deref()),
        Command::Answer { step, approved, text } => answer(inputs, run, *step, *approved, text)?,
        Command::FollowParent { is_paused } => follow_parent(run, working, *is_paused),
        Command::Published { step, tasks } => published(run, working, *step, tasks),
        Command::AgentRefused { step, agent, what } => agent_refused(run, *step, agent, what),
        Command::Performed { step, asks, output, head, .. } => {
            performed(inputs, (run, working), (*step, *asks), output, head.as_ref())
        }
        Command::NotPerformed { step, failure } => not_performed(inputs, (run, working), *step, failure),
        Command::MemberEnded { step, report } => member_ended(inputs, (run, working), *step, report),
        Command::Unperformable { step, failure } => unperformable(run, working, *step, failure),
        Command::PutOff { step } => put_off(run, *step),
        Command::Stopped => stopped(run, working),
        Command::ChildrenStarted { step, children } => children_started(inputs, run, *step, children),
        Command::ChildEnded { child, end } => child_ended(inputs, run, *child, end),
        Command::Landed { step } => landed(inputs, run, *step),
        Command::SentBack { step, feedback } => sent_back(inputs, run, *step, feedback),
        Command::Signal(given) => signal::take(inputs, run, given)?,
        Command::Edited(found) => edit::take(inputs, run, found),
        Command::Conflicted { step, conflict } => outcome::conflicted(inputs, run, *step, conflict),
    };
    let mut decided = nesting::keep_readable(run, decided);
    let prompt_knew = if let Command::Performed { edits, .. } = command { *edits } else { 0 };
    let overtaken = find_overtaken(run, prompt_knew, &decided);
    decided.extend(overtaken);
    Ok(decided)
}

/// Decides once more what a recorded event tells, with the output that it has or the answer of a person; nothing when it
/// tells no decision of the workflow. For replaying a run.
pub fn decide_again(inputs: Inputs<'_>, run: &Run, recorded: &Event) -> Option<Vec<Event>> {
    match recorded {
        Event::RunStepped { outcome: Some(outcome), .. }
        | Event::RunFailed { outcome: Some(outcome), .. } => {
            Some(outcome::step_on(inputs, run, outcome).unwrap_or_default())
        }
        Event::RunStepped { output, .. } | Event::RunFailed { output: Some(output), .. } => {
            Some(match run.phase() {
                Some(Phase::Performing { .. }) => make_role_step(inputs, run, output, None)
                    .unwrap_or_else(|faults| refuse(inputs, run, &faults, output)),
                _ => make_step(inputs, run, output.clone(), None),
            })
        }
        Event::RunLanded { step, .. } => Some(landed(inputs, run, *step)),
        Event::RunSentBack { step, feedback, .. } => Some(sent_back(inputs, run, *step, feedback)),
        Event::RunSignalled { signal: name, input, from, restarted, .. } => {
            let (name, input, gone) = (name.clone(), input.clone(), restarted.iter().cloned().collect());
            let given = Given { name, input, from: from.clone(), gone };
            Some(signal::take(inputs, run, &given).unwrap_or_default())
        }
        _ => None,
    }
}

/// Orders to a run that has ended are refused, except for a signal by which it continues; a report comes too late, and
/// changes nothing.
fn ended(inputs: Inputs<'_>, run: &Run, command: &Command) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::Pause => Err(refusal(run, "pause")),
        Command::Resume => Err(refusal(run, "resume")),
        Command::Stop { .. } => Err(refusal(run, "stop")),
        Command::Answer { .. } => Err(refusal(run, "take an answer")),
        Command::Signal(given) => signal::take(inputs, run, given),
        Command::Edited(found) => Ok(edit::take(inputs, run, found)),
        _ => Ok(Vec::new()),
    }
}

fn pause(run: &Run, working: &Working) -> Vec<Event> {
    let is_held = working.hold.is_some();
    if is_held { Vec::new() } else { vec![Event::RunPaused { run_id: run.id }] }
}

fn resume(run: &Run, working: &Working) -> Result<Vec<Event>, Refusal> {
    match working.hold {
        Some(Hold::Paused | Hold::Error { .. }) => Ok(vec![Event::RunResumed { run_id: run.id }]),
        Some(Hold::Stopping { .. }) => Err(refusal(run, "resume")),
        None => match &run.parent {
            Some(parent) if working.is_parent_paused => {
                Err(Refusal::RunParentPaused { run: run.id, parent: parent.run_id })
            }
            _ => Ok(Vec::new()),
        },
    }
}

/// A pause of its own stays, whatever becomes of the one above.
fn follow_parent(run: &Run, working: &Working, is_paused: bool) -> Vec<Event> {
    let run_id = run.id;
    match (working.is_parent_paused, is_paused) {
        (false, true) => vec![Event::RunParentPaused { run_id }],
        (true, false) => vec![Event::RunParentResumed { run_id }],
        (false, false) | (true, true) => Vec::new(),
    }
}

fn stop(run: &Run, working: &Working, reason: Option<&str>) -> Vec<Event> {
    if working.is_stopping() {
        return Vec::new();
    }
    if working.is_at_work() {
        return vec![Event::RunStopping { run_id: run.id, reason: reason.map(str::to_owned) }];
    }
    vec![fail(run, failure::stopped(run.id, reason))]
}

/// An answer is to the question that was seen; the next one may be another.
fn answer(
    inputs: Inputs<'_>,
    run: &Run,
    step: u64,
    approved: bool,
    text: &str,
) -> Result<Vec<Event>, Refusal> {
    match run.phase() {
        Some(Phase::Asking { .. }) if step != run.step => {
            Err(Refusal::RunAsksOther { run: run.id, step, now: run.step })
        }
        Some(Phase::Asking { .. }) if text.trim().is_empty() => Err(Refusal::RunAnswerBlank { run: run.id }),
        Some(Phase::Asking { .. }) => {
            Ok(make_step(inputs, run, json!({ "approved": approved, "text": text }), None))
        }
        _ => Err(refusal(run, "take an answer")),
    }
}

fn published(run: &Run, working: &Working, step: u64, tasks: &BTreeMap<String, TaskId>) -> Vec<Event> {
    let run_id = run.id;
    let Phase::Publishing { then, before } = &working.phase else { return Vec::new() };
    if step != run.step || !working.is_asked {
        return Vec::new();
    }
    let is_there = |item: &&String| tasks.contains_key(*item) || run.tasks.contains_key(*item);
    // A question may be about an item that is not there; a fork takes up first what is.
    let is_performed = match then {
        None => true,
        Some(next) => tasks.is_empty() && matches!(next, Next::Perform { .. }),
    };
    let own = run.item.as_ref().filter(|_| is_performed);
    let missing = own.into_iter().chain(find_wanted(before.as_deref())).find(|item| !is_there(item));
    let failed = missing.map(|item| fail(run, failure::no_such_task(run, item)));
    let mut events = vec![Event::RunPublished { run_id, step, tasks: tasks.clone() }];
    events.extend(failed);
    events
}

/// Returns the items of the nodes that are performed once they are on the board.
fn find_wanted(before: Option<&Next>) -> impl Iterator<Item = &String> {
    let members = if let Some(Next::Parallel { members, .. }) = before { members.as_slice() } else { &[] };
    members.iter().filter_map(|member| member.item.as_ref())
}

fn agent_refused(run: &Run, step: u64, agent: &AgentId, what: &str) -> Vec<Event> {
    if step != run.step {
        return Vec::new();
    }
    let (agent_id, what) = (agent.clone(), one_line(what));
    vec![Event::RunAgentRefused { run_id: run.id, step, agent_id, what }]
}

fn performed(
    inputs: Inputs<'_>,
    (run, working): (&Run, &Working),
    (step, asks): (u64, u32),
    output: &Value,
    head: Option<&CommitId>,
) -> Vec<Event> {
    let is_wanted = matches!(working.phase, Phase::Performing { asks: now, .. } if now == asks);
    if !is_wanted || step != run.step || !working.is_asked {
        return Vec::new();
    }
    if let Some(Hold::Stopping { reason }) = &working.hold {
        return vec![fail(run, failure::stopped(run.id, reason.as_deref()))];
    }
    match make_role_step(inputs, run, output, head) {
        Ok(events) => events,
        Err(faults) if asks < ASKS_MAX => {
            vec![Event::RunOutputRefused { run_id: run.id, step, faults, asks: asks + 1 }]
        }
        Err(faults) => refuse(inputs, run, &faults, output),
    }
}

/// A role that was asked again for the last time has failed.
fn refuse(inputs: Inputs<'_>, run: &Run, faults: &[String], output: &Value) -> Vec<Event> {
    let error = failure::output_invalid(run.id, &run.node, faults);
    let failed = Outcome::of_failure(run, run.node.as_str(), &error);
    failed.and_then(|failed| outcome::step_on(inputs, run, &failed)).unwrap_or_else(|| {
        // What is nested too deeply could be written, and not be read back.
        let is_readable = !is_nested_deeper(output, OUTPUT_LEVELS_MAX);
        let output = is_readable.then(|| output.clone());
        vec![Event::RunFailed { run_id: run.id, error, output, outcome: None, seen: None }]
    })
}

/// The workflow may have an edge for it; otherwise the run waits for a person.
fn not_performed(
    inputs: Inputs<'_>,
    (run, working): (&Run, &Working),
    step: u64,
    error: &Failure,
) -> Vec<Event> {
    if step != run.step || !working.is_asked {
        return Vec::new();
    }
    match &working.hold {
        Some(Hold::Stopping { reason }) => vec![fail(run, failure::stopped(run.id, reason.as_deref()))],
        _ => {
            let came = Outcome::of_failure(run, run.node.as_str(), error);
            let followed = came.and_then(|outcome| outcome::step_on(inputs, run, &outcome));
            followed.unwrap_or_else(|| vec![Event::RunHeld { run_id: run.id, step, error: error.clone() }])
        }
    }
}

/// The definition is at fault, and the run has no other: to try again would come to the same.
fn unperformable(run: &Run, working: &Working, step: u64, error: &Failure) -> Vec<Event> {
    if step != run.step || !working.is_asked {
        return Vec::new();
    }
    match &working.hold {
        Some(Hold::Stopping { reason }) => vec![fail(run, failure::stopped(run.id, reason.as_deref()))],
        _ => vec![fail(run, error.clone())],
    }
}

fn put_off(run: &Run, step: u64) -> Vec<Event> {
    let is_wanted = step == run.step && run.may_be_put_off();
    if is_wanted { vec![Event::RunPutOff { run_id: run.id, step }] } else { Vec::new() }
}

fn stopped(run: &Run, working: &Working) -> Vec<Event> {
    match &working.hold {
        Some(Hold::Stopping { reason }) => vec![fail(run, failure::stopped(run.id, reason.as_deref()))],
        _ => Vec::new(),
    }
}

pub(super) fn fail(run: &Run, error: Failure) -> Event {
    Event::RunFailed { run_id: run.id, error, output: None, outcome: None, seen: None }
}

fn refusal(run: &Run, command: &'static str) -> Refusal {
    Refusal::RunInvalidTransition { run: run.id, status: run.status(), command }
}
