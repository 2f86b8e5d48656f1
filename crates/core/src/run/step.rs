//! A step: what a node returned, what it changes, which edge it takes, and what comes next.

use super::board::{brings_items, find_item_faults};
use super::decide::fail;
use super::evolve::{answered, sent_back};
use super::items::find_items;
use super::mail::Sender;
use super::parallel::find_members;
use super::{Choice, Event, Inputs, Mail, Next, Outcome, Phase, Run, failure};
use crate::{CommitId, Failure, RunId, TaskId};
use regatta_flow::{
    self as flow, EndStatus, Limit, Local, Look, Node, NodeKind, NodeName, Occasion, OutcomeKind, Patch,
    StepFault, Trial, Workflow, board_items,
};
use serde_json::Value;

/// How many faults of an output a role gets to read; more do not help it.
const FAULTS_MAX: usize = 20;

/// How many children run at once when a workflow does not say.
const PARALLEL_DEFAULT: u32 = 4;

/// How many nodes that perform nothing may follow one another; the check finds loops of them.
const PASSES_MAX: usize = 100;

/// A step that was tried.
struct Tried {
    walked: Walked,
    set: Vec<Patch>,
    output: Value,
    /// What is wrong with the items that it brings, if that was asked.
    item_faults: Result<Vec<String>, StepFault>,
}

/// Where a step leads: itself, and the steps of the `pass` nodes behind it.
pub(super) struct Walked {
    hops: Vec<Hop>,
    /// Why the step of a node could not be made, which is then the last.
    fault: Option<(NodeName, StepFault)>,
    /// What the facts are as of, if one was read.
    seen: Option<u64>,
}

/// One of these steps.
struct Hop {
    node: NodeName,
    /// How many changes there were after it.
    changes: usize,
    led: Led,
}

/// Where a node leads.
struct Led {
    choice: flow::Choice,
    messages: Mail,
    next: Option<Next>,
    /// What an end says: its result, or why it failed.
    end: Option<Result<Value, Option<String>>>,
}

/// What a step follows: what a node returned, or what came of it instead.
pub(super) struct Came<'a> {
    /// What the node returned, perhaps before that came.
    pub(super) output: Value,
    /// What came instead.
    pub(super) outcome: Option<&'a Outcome>,
}

/// Makes the step that follows the current node.
pub(super) fn make_step(inputs: Inputs<'_>, run: &Run, output: Value, head: Option<&CommitId>) -> Vec<Event> {
    tell(run, try_step(inputs, run, Came { output, outcome: None }, false), head)
}

/// Makes the step along the first edge for what came of the current node; nothing if none holds.
pub(super) fn make_step_on(inputs: Inputs<'_>, run: &Run, came: Came<'_>) -> Option<Vec<Event>> {
    let outcome = came.outcome?;
    let variables = inputs.variables.with(Local::Outcome, outcome.details.clone());
    let tried = try_step(Inputs { variables: &variables, ..inputs }, run, came, false);
    if let [Hop { led: Led { choice: flow::Choice::Stalled { .. }, .. }, .. }] = &*tried.walked.hops {
        return None;
    }
    let (step, changes) = (run.step, 0);
    // What a submitted task's node returned is in the log already.
    let told = Told { output: Value::Null, head: None, outcome: Some(outcome) };
    Some(tell_walked(run, tried.walked, (step, changes), tried.set, told))
}

/// Makes the step that follows what a role returned, whose work is at `head`; or says what does not fit, so that the role
/// can be asked again.
pub(super) fn make_role_step(
    inputs: Inputs<'_>,
    run: &Run,
    output: &Value,
    head: Option<&CommitId>,
) -> Result<Vec<Event>, Vec<String>> {
    let faults = find_output_faults(inputs.workflow, &run.node, output);
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut tried = try_step(inputs, run, Came { output: output.clone(), outcome: None }, true);
    match std::mem::replace(&mut tried.item_faults, Ok(Vec::new())) {
        Ok(faults) if faults.is_empty() => Ok(tell(run, tried, head)),
        Ok(faults) => Err(faults.into_iter().take(FAULTS_MAX).collect()),
        Err(fault) => {
            let (error, output) = (failure::of_step(run, &run.node, &fault), Some(tried.output));
            let seen = tried.walked.seen;
            Ok(vec![Event::RunFailed { run_id: run.id, error, output, outcome: None, seen }])
        }
    }
}

/// Returns what is wrong with the output of a node.
pub(super) fn find_output_faults(workflow: &Workflow, node: &NodeName, output: &Value) -> Vec<String> {
    let node = workflow.find_node(node.as_str());
    let Some(prompt) = node.and_then(|node| node.kind.prompt_name()) else { return Vec::new() };
    let Some(role) = workflow.roles.get(&prompt.name) else { return Vec::new() };
    let faults = role.check_output(output).err().unwrap_or_default();
    faults.iter().take(FAULTS_MAX).map(ToString::to_string).collect()
}

/// Says what happens by a step that was tried.
fn tell(run: &Run, tried: Tried, head: Option<&CommitId>) -> Vec<Event> {
    let Tried { walked, set, output, .. } = tried;
    tell_walked(run, walked, (run.step, 0), set, Told { output, head, outcome: None })
}

/// What the first of several steps says beside what it leads to.
#[derive(Default)]
pub(super) struct Told<'a> {
    pub(super) output: Value,
    pub(super) head: Option<&'a CommitId>,
    pub(super) outcome: Option<&'a Outcome>,
}

/// Says what happens by steps, of which the first has that number and comes after that many changes.
pub(super) fn tell_walked(
    run: &Run,
    walked: Walked,
    (mut step, mut changes): (u64, usize),
    mut set: Vec<Patch>,
    mut told: Told<'_>,
) -> Vec<Event> {
    let run_id = run.id;
    let mut events = Vec::new();
    set.drain(..changes);
    for Hop { node, changes: after, led } in walked.hops {
        let own = set.drain(..after - changes).collect();
        let told = std::mem::take(&mut told);
        events.extend(tell_hop(run, Stepped { step, node, told, set: own, seen: walked.seen }, led));
        changes = after;
        step += 1;
    }
    if let Some((node, fault)) = walked.fault {
        let error = failure::of_step(run, &node, &fault);
        events.push(told.into_failure(run_id, error, walked.seen));
    }
    events
}

impl Told<'_> {
    /// Returns the failure of the run, with what it came of.
    fn into_failure(self, run_id: RunId, error: Failure, seen: Option<u64>) -> Event {
        let outcome = self.outcome.cloned().map(Box::new);
        let output = outcome.is_none().then_some(self.output);
        Event::RunFailed { run_id, error, output, outcome, seen }
    }
}

/// What a step is, but for where it leads.
struct Stepped<'a> {
    step: u64,
    node: NodeName,
    told: Told<'a>,
    set: Vec<Patch>,
    seen: Option<u64>,
}

fn tell_hop(run: &Run, of_hop: Stepped<'_>, led: Led) -> Vec<Event> {
    let run_id = run.id;
    let Stepped { step, node, told, set, seen } = of_hop;
    let failed = |error, told: Told<'_>| vec![told.into_failure(run_id, error, seen)];
    let Led { choice, messages, next, end } = led;
    let (choice, submitted) = match choice {
        flow::Choice::Taken { edge, scope, submit, fail, drop, tried, .. } => {
            (Choice { edge, scope, exhausted: None, fail, drop, tried }, submit)
        }
        flow::Choice::Exhausted { edge, scope, route, fail, drop, tried, .. } => {
            (Choice { edge, scope, exhausted: Some(route), fail, drop, tried }, None)
        }
        flow::Choice::ExhaustedWithoutRoute { edge, scope, .. } => {
            return failed(failure::exhausted(run_id, &edge, &scope, None), told);
        }
        flow::Choice::Stalled { tried } => {
            return failed(failure::stalled(run, &node, &tried), told);
        }
        flow::Choice::End => return failed(failure::ended(run_id, &node, None), told),
    };
    let Some(next) = next else {
        return failed(failure::not_on_board(run, &submitted.unwrap_or_default()), told);
    };
    let ending = end.map(|end| match (end, &choice) {
        (Ok(result), _) => Event::RunCompleted { run_id, result },
        (Err(reason), Choice { exhausted: Some(_), edge, scope, .. }) => {
            fail(run, failure::exhausted(run_id, edge, scope, reason))
        }
        (Err(reason), _) => fail(run, failure::ended(run_id, next.node(), reason)),
    });
    let Told { output, head, outcome } = told;
    let (head, outcome) = (head.cloned(), outcome.cloned().map(Box::new));
    let stepped =
        Event::RunStepped { run_id, step, node, output, head, set, choice, messages, next, outcome, seen };
    let mut events = vec![stepped];
    events.extend(ending);
    events
}

/// Tries the step, with a look at the items that it brings if they are to be checked.
fn try_step(inputs: Inputs<'_>, run: &Run, came: Came<'_>, checks_items: bool) -> Tried {
    let Came { output, outcome } = came;
    let Inputs { workflow, variables, now_millis, .. } = inputs;
    let Run { sheet, item, board, .. } = run;
    // The person who just answered, or sent the task back, spoke last.
    let is_answered = matches!(run.phase(), Some(Phase::Asking { .. }));
    let said = outcome.and_then(|outcome| outcome.feedback.as_deref());
    let feedback = said.map(|said| sent_back(said, item.as_deref()));
    let feedback = feedback.or_else(|| is_answered.then(|| answered(&output, item.as_deref())));
    let mut occasion =
        Occasion { output, feedback, variables: variables.clone(), now_millis, ..Occasion::default() };
    let (walked, item_faults, set) = sheet.try_out(&mut occasion, |mut trial| {
        let mut walked = walk(inputs, run, (&run.node, outcome.map(|outcome| outcome.on)), &mut trial);
        let next = walked.hops.last().and_then(|hop| hop.led.next.as_ref());
        let item_faults = match next.filter(|next| checks_items && brings_items(run, next)) {
            Some(_) => trial.look_after(workflow, board_items).map(|items| find_item_faults(&items, *board)),
            None => Ok(Vec::new()),
        };
        walked.seen = trial.has_read_fact().then_some(inputs.seen);
        (walked, item_faults, trial.end())
    });
    Tried { walked, set, output: occasion.output, item_faults }
}

/// Makes the step that follows a node, and those of the `pass` nodes that it leads to.
pub(super) fn walk(
    inputs: Inputs<'_>,
    run: &Run,
    (node, mut on): (&NodeName, Option<OutcomeKind>),
    trial: &mut Trial<'_>,
) -> Walked {
    let seen = |trial: &Trial<'_>| trial.has_read_fact().then_some(inputs.seen);
    let mut hops: Vec<Hop> = Vec::new();
    let mut node = node.clone();
    loop {
        let led = match lead(inputs.workflow, run, (&node, on.take()), &hops, trial) {
            Ok(led) => led,
            Err(fault) => return Walked { hops, fault: Some((node, fault)), seen: seen(trial) },
        };
        let passed = if let Some(Next::Pass { node }) = &led.next { Some(node.clone()) } else { None };
        hops.push(Hop { node, changes: trial.count_changes(), led });
        let Some(next) = passed else { return Walked { hops, fault: None, seen: seen(trial) } };
        if hops.len() > PASSES_MAX {
            let fault = StepFault::Endless { node: next.to_string(), most: PASSES_MAX };
            return Walked { hops, fault: Some((next, fault)), seen: seen(trial) };
        }
        trial.pass_on();
        node = next;
    }
}

fn lead(
    workflow: &Workflow,
    run: &Run,
    (node, on): (&NodeName, Option<OutcomeKind>),
    hops: &[Hop],
    trial: &mut Trial<'_>,
) -> Result<Led, StepFault> {
    let level = run.level;
    let before = |hop: &&Hop, edge: &flow::EdgeId, scope: &str| match &hop.led.choice {
        flow::Choice::Taken { edge: taken, scope: of, .. } => taken == edge && of == scope,
        _ => false,
    };
    let used = |edge: &flow::EdgeId, scope: &str| {
        let in_hops = hops.iter().filter(|hop| before(hop, edge, scope)).count();
        run.count_taken(edge, scope).saturating_add(u32::try_from(in_hops).unwrap_or(u32::MAX))
    };
    let board = run.board.then_some(&run.tasks);
    let (choice, sender) = match on {
        None => {
            let choice = flow::step(workflow, level, node.as_str(), trial, &used)?;
            (choice, Sender::of_node(workflow, node.as_str()))
        }
        Some(on) => (flow::step_on(workflow, level, (node.as_str(), on), trial, &used)?, Sender::Engine),
    };
    let to = match &choice {
        flow::Choice::Taken { edge, submit: Some(item), to, .. } => match board {
            Some(tasks) => {
                let land = |task_id: &TaskId| Next::Land {
                    node: node.clone(),
                    edge: edge.clone(),
                    item: item.clone(),
                    task_id: *task_id,
                };
                let next = tasks.get(item).map(land);
                return Ok(Led { choice, messages: Mail::default(), next, end: None });
            }
            // Without a board there is nobody to wait for.
            None => {
                if let Some(edge) = workflow.find_edge(edge.as_str()) {
                    flow::say(workflow, &edge.send, trial)?;
                    flow::follow(workflow, level, &edge.set, trial)?;
                }
                to.clone()
            }
        },
        flow::Choice::Taken { to, .. } | flow::Choice::Exhausted { to, .. } => to.clone(),
        flow::Choice::ExhaustedWithoutRoute { .. } | flow::Choice::Stalled { .. } | flow::Choice::End => {
            return Ok(Led { choice, messages: Mail::default(), next: None, end: None });
        }
    };
    let messages = Mail::of(&sender, trial.take_said());
    let look = trial.look(workflow);
    let target = get_node(workflow, &to)?;
    let next = Some(enter(&look, target)?);
    Ok(Led { choice, messages, next, end: end(&look, target, run.parent.is_some())? })
}

/// Returns what a run does at a node.
pub(super) fn enter(look: &Look<'_>, node: &Node) -> Result<Next, StepFault> {
    let name = node.name.clone();
    let text = |expression| flow::evaluate_text(look, expression);
    Ok(match &node.kind {
        NodeKind::Agent { task, .. } | NodeKind::Check { task, .. } => {
            Next::Perform { node: name, item: task.as_ref().map(text).transpose()?.flatten() }
        }
        NodeKind::Parallel { .. } => Next::Parallel { node: name, members: find_members(look, node)? },
        NodeKind::Approval { question } => {
            Next::Ask { node: name, question: text(question)?.unwrap_or_default() }
        }
        NodeKind::Map { workflow, max_parallel, .. } => Next::Map {
            node: name,
            workflow: workflow.name.clone(),
            items: find_items(look, node)?,
            max_parallel: match max_parallel {
                None => PARALLEL_DEFAULT,
                Some(Limit::Count(count)) => (*count).max(1),
                Some(Limit::Of(limit)) => flow::evaluate_count(look, limit)?,
            },
            publishes: publishes(look.workflow(), &workflow.name),
        },
        NodeKind::Pass => Next::Pass { node: name },
        NodeKind::End { .. } => Next::End { node: name },
    })
}

/// Tells whether the items of a `map` node are tasks of this run, because their runs have no board of their own.
fn publishes(workflow: &Workflow, child: &str) -> bool {
    workflow.board.is_some() && workflow.children.get(child).is_some_and(|child| child.board.is_none())
}

/// Returns what an end says. A run that nobody waits for leaves its state as it is, and so needs no copy of it.
pub(super) fn end(
    look: &Look<'_>,
    node: &Node,
    is_child: bool,
) -> Result<Option<Result<Value, Option<String>>>, StepFault> {
    let NodeKind::End { status, reason, result } = &node.kind else { return Ok(None) };
    if *status == EndStatus::Failed {
        let reason = reason.as_ref().map(|reason| flow::evaluate_text(look, reason)).transpose()?.flatten();
        return Ok(Some(Err(reason)));
    }
    if result.is_none() && !is_child {
        return Ok(Some(Ok(Value::Null)));
    }
    Ok(Some(Ok(flow::find_result(look, result.as_ref())?)))
}

pub(super) fn get_node<'w>(workflow: &'w Workflow, name: &NodeName) -> Result<&'w Node, StepFault> {
    let missing = || StepFault::Missing { kind: "node", name: name.to_string() };
    workflow.find_node(name.as_str()).ok_or_else(missing)
}
