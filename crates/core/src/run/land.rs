//! What follows when a task that was put up for approval is merged, or sent back.

use super::decide::fail;
use super::mail::Sender;
use super::outcome::step_on;
use super::step::{Told, Walked, end, enter, get_node, tell_walked, walk};
use super::{Event, Inputs, Mail, Next, Outcome, Phase, Run, evolve, failure};
use crate::TaskId;
use regatta_flow::{
    self as flow, Assignment, EdgeId, Expression, NodeName, Occasion, Patch, Send, StepFault,
};
use serde_json::Value;

/// What is followed: the edge itself, or its route for a task that was sent back.
#[derive(Clone)]
struct Route<'w> {
    set: &'w [Assignment],
    send: &'w [Send],
    sender: Sender,
    fail: Option<&'w Expression>,
    drop: Option<&'w Expression>,
    to: &'w NodeName,
}

/// Where it leads.
struct Followed {
    fail: Option<String>,
    drop: Option<String>,
    /// What was changed, also by the steps behind it.
    set: Vec<Patch>,
    messages: Mail,
    /// How many of the changes are its own.
    changes: usize,
    next: Next,
    /// What the facts are as of, if one was read.
    seen: Option<u64>,
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
        let Followed { set, messages, next, seen, .. } = followed;
        Event::RunLanded { run_id, step, task_id, set, messages, next, seen }
    };
    let sender = Sender::of_node(inputs.workflow, run.node.as_str());
    let (set, send) = (&edge.set[..], &edge.send[..]);
    let route = Route { set, send, sender, fail: None, drop: None, to: &edge.to.name };
    go_on(inputs, run, Value::Null, route, landed)
}

/// Takes the route that the edge has for it, or an edge of the node for this outcome.
pub(super) fn sent_back(inputs: Inputs<'_>, run: &Run, step: u64, feedback: &str) -> Vec<Event> {
    let Some((edge_id, task_id)) = find_landing(run, step) else { return Vec::new() };
    let run_id = run.id;
    let edge = inputs.workflow.find_edge(edge_id.as_str());
    let Some(route) = edge.and_then(|edge| edge.rejected.as_ref()) else {
        let on_edge = step_on(inputs, run, &Outcome::rejected(&edge_id, feedback));
        return on_edge.unwrap_or_else(|| vec![fail(run, failure::no_way_back(run, &edge_id))]);
    };
    let said = evolve::sent_back(feedback, run.item.as_deref());
    let event = |followed: Followed| {
        let Followed { fail, drop, set, messages, next, seen, .. } = followed;
        let feedback = feedback.to_owned();
        Event::RunSentBack { run_id, step, task_id, feedback, fail, drop, set, messages, next, seen }
    };
    let (set, send) = (&route.set[..], &route.send[..]);
    let (fail, drop) = (route.fail.as_ref(), route.drop.as_ref());
    let route = Route { set, send, sender: Sender::Engine, fail, drop, to: &route.to.name };
    go_on(inputs, run, said, route, event)
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
    let (run_id, to) = (run.id, route.to);
    match follow(inputs, run, feedback, route) {
        Err(fault) => vec![fail(run, failure::of_step(run, &run.node, &fault))],
        Ok(mut followed) => {
            let ending = followed.end.take().map(|end| match end {
                Ok(result) => Event::RunCompleted { run_id, result },
                Err(reason) => fail(run, failure::ended(run_id, to, reason)),
            });
            let behind = followed.walked.take().map(|walked| {
                let from = (run.step + 1, followed.changes);
                tell_walked(run, walked, from, followed.set.clone(), Told::default())
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
    let Inputs { workflow, variables, now_millis, .. } = inputs;
    let Run { sheet, level, parent, .. } = run;
    let output = match run.phase() {
        Some(Phase::Landing { output, .. }) => output.clone(),
        _ => Value::Null,
    };
    let mut occasion = Occasion {
        output,
        feedback: Some(said),
        variables: variables.clone(),
        now_millis,
        ..Occasion::default()
    };
    sheet.try_out(&mut occasion, |mut trial| {
        // Before its `set`, as on any other edge.
        let text = |expression| flow::evaluate_text(&trial.look(workflow), expression);
        let (fail, drop) = (route.fail.map(text).transpose()?, route.drop.map(text).transpose()?);
        flow::say(workflow, route.send, &mut trial)?;
        flow::follow(workflow, *level, route.set, &mut trial)?;
        let messages = Mail::of(&route.sender, trial.take_said());
        let look = trial.look(workflow);
        let node = get_node(workflow, route.to)?;
        let end = end(&look, node, parent.is_some())?;
        let next = enter(&look, node)?;
        let changes = trial.count_changes();
        let walked = if let Next::Pass { node } = &next {
            trial.pass_on();
            Some(walk(inputs, run, (node, None), &mut trial))
        } else {
            None
        };
        let seen = trial.has_read_fact().then_some(inputs.seen);
        let (fail, drop, set) = (fail.flatten(), drop.flatten(), trial.end());
        Ok(Followed { fail, drop, next, end, messages, changes, walked, seen, set })
    })
}
