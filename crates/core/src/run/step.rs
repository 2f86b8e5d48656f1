//! A step: what a node returned, what it changes, which edge it takes, and what comes next.

use super::board::{brings_items, find_item_faults};
use super::decide::fail;
use super::evolve::answered;
use super::items::find_items;
use super::{Choice, Event, Inputs, Next, Phase, Run, failure};
use crate::{CommitId, TaskId};
use regatta_flow::{
    self as flow, EndStatus, Look, Node, NodeKind, NodeName, Occasion, Patch, StepFault, Trial, Workflow,
    board_items,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// How many faults of an output a role gets to read; more do not help it.
const FAULTS_MAX: usize = 20;

/// How many children run at once when a workflow does not say.
const PARALLEL_DEFAULT: u32 = 4;

/// A step that was tried.
struct Tried {
    led: Result<Led, StepFault>,
    set: Vec<Patch>,
    output: Value,
    /// What is wrong with the items that it brings, if that was asked.
    item_faults: Result<Vec<String>, StepFault>,
}

/// Where a step leads.
struct Led {
    choice: flow::Choice,
    next: Option<Next>,
    /// What an end says: its result, or why it failed.
    end: Option<Result<Value, Option<String>>>,
}

/// Makes the step that follows the current node.
pub(super) fn make_step(inputs: Inputs<'_>, run: &Run, output: Value, head: Option<&CommitId>) -> Vec<Event> {
    tell(run, try_step(inputs, run, output, false), head)
}

/// Makes the step that follows what a role returned, whose work is at `head`; or says what does not fit, so that the role
/// can be asked again.
pub(super) fn make_role_step(
    inputs: Inputs<'_>,
    run: &Run,
    output: &Value,
    head: Option<&CommitId>,
) -> Result<Vec<Event>, Vec<String>> {
    let faults = find_output_faults(inputs.workflow, run, output);
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut tried = try_step(inputs, run, output.clone(), true);
    match std::mem::replace(&mut tried.item_faults, Ok(Vec::new())) {
        Ok(faults) if faults.is_empty() => Ok(tell(run, tried, head)),
        Ok(faults) => Err(faults.into_iter().take(FAULTS_MAX).collect()),
        Err(fault) => {
            let (error, output) = (failure::of_step(run, &fault), Some(tried.output));
            Ok(vec![Event::RunFailed { run_id: run.id, error, output }])
        }
    }
}

/// Returns what is wrong with the output of the current node.
fn find_output_faults(workflow: &Workflow, run: &Run, output: &Value) -> Vec<String> {
    let node = workflow.find_node(run.node.as_str());
    let Some(NodeKind::Agent { role, .. }) = node.map(|node| &node.kind) else { return Vec::new() };
    let Some(role) = workflow.roles.get(&role.name) else { return Vec::new() };
    let faults = role.check_output(output).err().unwrap_or_default();
    faults.iter().take(FAULTS_MAX).map(ToString::to_string).collect()
}

/// Says what happens by a step that was tried.
fn tell(run: &Run, tried: Tried, head: Option<&CommitId>) -> Vec<Event> {
    let (run_id, step, node) = (run.id, run.step, run.node.clone());
    let Tried { led, set, output, .. } = tried;
    let failed = |error, output| vec![Event::RunFailed { run_id, error, output: Some(output) }];
    let Led { choice, next, end } = match led {
        Ok(led) => led,
        Err(fault) => return failed(failure::of_step(run, &fault), output),
    };
    let (choice, submitted) = match choice {
        flow::Choice::Taken { edge, scope, submit, fail, tried, .. } => {
            (Choice { edge, scope, exhausted: None, fail, tried }, submit)
        }
        flow::Choice::Exhausted { edge, scope, route, fail, tried, .. } => {
            (Choice { edge, scope, exhausted: Some(route), fail, tried }, None)
        }
        flow::Choice::ExhaustedWithoutRoute { edge, scope, .. } => {
            return failed(failure::exhausted(run_id, &edge, &scope, None), output);
        }
        flow::Choice::Stalled { tried } => {
            return failed(failure::stalled(run, &tried), output);
        }
        flow::Choice::End => return failed(failure::ended(run_id, &node, None), output),
    };
    let Some(next) = next else {
        return failed(failure::not_on_board(run, &submitted.unwrap_or_default()), output);
    };
    let ending = end.map(|end| match (end, &choice) {
        (Ok(result), _) => Event::RunCompleted { run_id, result },
        (Err(reason), Choice { exhausted: Some(_), edge, scope, .. }) => {
            fail(run, failure::exhausted(run_id, edge, scope, reason))
        }
        (Err(reason), _) => fail(run, failure::ended(run_id, next.node(), reason)),
    });
    let head = head.cloned();
    let mut events = vec![Event::RunStepped { run_id, step, node, output, head, set, choice, next }];
    events.extend(ending);
    events
}

/// Tries the step, with a look at the items that it brings if they are to be checked.
fn try_step(inputs: Inputs<'_>, run: &Run, output: Value, checks_items: bool) -> Tried {
    let Inputs { workflow, now_millis } = inputs;
    let Run { sheet, taken, level, node, item, tasks, board, parent, .. } = run;
    // The person who just answered spoke last.
    let is_answered = matches!(run.phase(), Some(Phase::Asking { .. }));
    let feedback = is_answered.then(|| answered(&output, item.as_deref()));
    let used = |edge: &flow::EdgeId, scope: &str| {
        taken.get(edge.as_str()).and_then(|scopes| scopes.get(scope)).copied().unwrap_or_default()
    };
    let tasks = if *board { Some(tasks) } else { None };
    let mut occasion = Occasion { output, feedback, now_millis };
    let (led, item_faults, set) = sheet.try_out(&mut occasion, |mut trial| {
        let led = lead(workflow, *level, node, tasks, parent.is_some(), &mut trial, &used);
        let next = led.as_ref().ok().and_then(|led| led.next.as_ref());
        let item_faults = match next.filter(|next| checks_items && brings_items(run, next)) {
            Some(_) => trial.look_after(workflow, board_items).map(|items| find_item_faults(&items, *board)),
            None => Ok(Vec::new()),
        };
        (led, item_faults, trial.end())
    });
    Tried { led, set, output: occasion.output, item_faults }
}

fn lead(
    workflow: &Workflow,
    level: u32,
    node: &NodeName,
    board: Option<&BTreeMap<String, TaskId>>,
    is_child: bool,
    trial: &mut Trial<'_>,
    used: &dyn Fn(&flow::EdgeId, &str) -> u32,
) -> Result<Led, StepFault> {
    let choice = flow::step(workflow, level, node.as_str(), trial, used)?;
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
                return Ok(Led { choice, next, end: None });
            }
            // Without a board there is nobody to wait for.
            None => {
                let edge = workflow.find_edge(edge.as_str());
                let assignments = edge.map(|edge| edge.set.as_slice()).unwrap_or_default();
                flow::follow(workflow, level, assignments, trial)?;
                to.clone()
            }
        },
        flow::Choice::Taken { to, .. } | flow::Choice::Exhausted { to, .. } => to.clone(),
        flow::Choice::ExhaustedWithoutRoute { .. } | flow::Choice::Stalled { .. } | flow::Choice::End => {
            return Ok(Led { choice, next: None, end: None });
        }
    };
    let look = trial.look(workflow);
    let target = get_node(workflow, &to)?;
    Ok(Led { choice, next: Some(enter(&look, target)?), end: end(&look, target, is_child)? })
}

/// Returns what a run does at a node.
pub(super) fn enter(look: &Look<'_>, node: &Node) -> Result<Next, StepFault> {
    let name = node.name.clone();
    let text = |expression| flow::evaluate_text(look, expression);
    Ok(match &node.kind {
        NodeKind::Agent { task, .. } | NodeKind::Check { task, .. } => {
            Next::Perform { node: name, item: task.as_ref().map(text).transpose()?.flatten() }
        }
        NodeKind::Approval { question } => {
            Next::Ask { node: name, question: text(question)?.unwrap_or_default() }
        }
        NodeKind::Map { workflow, max_parallel, .. } => Next::Map {
            node: name,
            workflow: workflow.name.clone(),
            items: find_items(look, node)?,
            max_parallel: max_parallel.unwrap_or(PARALLEL_DEFAULT).max(1),
        },
        NodeKind::End { .. } => Next::End { node: name },
    })
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
