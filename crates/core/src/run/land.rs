//! What follows when a task that was put up for approval is merged, or sent back.

use super::decide::fail;
use super::step::{Walked, end, enter, get_node, tell_walked, walk};
use super::{Event, Inputs, Next, Phase, Run, evolve, failure};
use crate::TaskId;
use regatta_flow::{self as flow, Assignment, EdgeId, Expression, NodeName, Occasion, Patch, StepFault};
use serde_json::Value;

/// What is followed: the edge itself, or its route for a task that was sent back.
#[derive(Clone, Copy)]
struct Route<'w> {
    set: &'w [Assignment],
    fail: Option<&'w Expression>,
    to: &'w NodeName,
}

/// Where it leads.
struct Followed {
    fail: Option<String>,
    /// What was changed, also by the steps behind it.
    set: Vec<Patch>,
    /// How many of the changes are its own.
    changes: usize,
    next: Next,
    /// The steps of the `pass` nodes that it leads to.
    walked: Option<Walked>,
    /// What an end says: its result, or why it failed.
    end: Option<Result<Value, Option<String>>>,
}

/// Follows the edge.
pub(super) fn landed(inputs: Inputs<'_>, run: &Run, step: u64) -> Vec<Event> {
    let Some((edge_id, task_id)) = find_landing(run, step) else { return Vec::new() };
    let Some(edge) = inputs.workflow.find_edge(edge_id.as_str()) else { return Vec::new() };
    let run_id = run.id;
    let landed = |followed: Followed| {
        let Followed { set, next, .. } = followed;
        Event::RunLanded { run_id, step, task_id, set, next }
    };
    let route = Route { set: &edge.set, fail: None, to: &edge.to.name };
    go_on(inputs, run, Value::Null, route, landed)
}

/// Takes the route that the edge has for it.
pub(super) fn sent_back(inputs: Inputs<'_>, run: &Run, step: u64, feedback: &str) -> Vec<Event> {
    let Some((edge_id, task_id)) = find_landing(run, step) else { return Vec::new() };
    let run_id = run.id;
    let edge = inputs.workflow.find_edge(edge_id.as_str());
    let Some(route) = edge.and_then(|edge| edge.rejected.as_ref()) else {
        return vec![fail(run, failure::no_way_back(run, &edge_id))];
    };
    let said = evolve::sent_back(feedback, run.item.as_deref());
    let event = |followed: Followed| {
        let Followed { fail, set, next, .. } = followed;
        let feedback = feedback.to_owned();
        Event::RunSentBack { run_id, step, task_id, feedback, fail, set, next }
    };
    go_on(inputs, run, said, Route { set: &route.set, fail: route.fail.as_ref(), to: &route.to.name }, event)
}

fn find_landing(run: &Run, step: u64) -> Option<(EdgeId, TaskId)> {
    match run.phase() {
        Some(Phase::Landing { edge, task, .. }) if step == run.step => Some((edge.clone(), *task)),
        _ => None,
    }
}

fn go_on(
    inputs: Inputs<'_>,
    run: &Run,
    feedback: Value,
    route: Route<'_>,
    event: impl FnOnce(Followed) -> Event,
) -> Vec<Event> {
    let run_id = run.id;
    match follow(inputs, run, feedback, route) {
        Err(fault) => vec![fail(run, failure::of_step(run, &run.node, &fault))],
        Ok(mut followed) => {
            let ending = followed.end.take().map(|end| match end {
                Ok(result) => Event::RunCompleted { run_id, result },
                Err(reason) => fail(run, failure::ended(run_id, route.to, reason)),
            });
            let behind = followed.walked.take().map(|walked| {
                let from = (run.step + 1, followed.changes);
                tell_walked(run, walked, from, followed.set.clone(), Value::Null, None)
            });
            followed.set.truncate(followed.changes);
            let mut events = vec![event(followed)];
            events.extend(behind.into_iter().flatten());
            events.extend(ending);
            events
        }
    }
}

fn follow(inputs: Inputs<'_>, run: &Run, said: Value, route: Route<'_>) -> Result<Followed, StepFault> {
    let Inputs { workflow, now_millis } = inputs;
    let Run { sheet, level, parent, .. } = run;
    let output = match run.phase() {
        Some(Phase::Landing { output, .. }) => output.clone(),
        _ => Value::Null,
    };
    let mut occasion = Occasion { output, feedback: Some(said), now_millis };
    sheet.try_out(&mut occasion, |mut trial| {
        // Before its `set`, as on any other edge.
        let fail = route.fail.map(|fail| flow::evaluate_text(&trial.look(workflow), fail)).transpose()?;
        flow::follow(workflow, *level, route.set, &mut trial)?;
        let look = trial.look(workflow);
        let node = get_node(workflow, route.to)?;
        let end = end(&look, node, parent.is_some())?;
        let next = enter(&look, node)?;
        let changes = trial.count_changes();
        let walked = if let Next::Pass { node } = &next {
            trial.pass_on();
            Some(walk(workflow, run, node, &mut trial))
        } else {
            None
        };
        Ok(Followed { fail: fail.flatten(), next, end, changes, walked, set: trial.end() })
    })
}
