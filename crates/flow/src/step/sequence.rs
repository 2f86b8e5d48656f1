//! A whole step in its order, so that callers do not have to know it.
//!
//! ```text
//!   set of the node ─▶ edges, judged on that ─▶ messages and set of the edge ─▶ the new state against its schema
//! ```

use crate::expression::Part;
use crate::name::EdgeId;
use crate::outcome::OutcomeKind;
use crate::patch::{Assigned, Patch};
use crate::path::PathStep;
use crate::step::{Choice, StepFault, assign, choose, say};
use crate::trial::Trial;
use crate::workflow::{Assignment, Edge, Send, Workflow};

/// Makes the step that follows a performed node, whose output the trial was given, and returns what follows the node.
///
/// Changes stay applied until the trial ends and returns them, and messages are taken from it. The `set` of an edge that
/// submits is applied when the task is merged, and its messages are sent then.
pub fn step(
    workflow: &Workflow,
    level: u32,
    node: &str,
    trial: &mut Trial<'_>,
    used: &dyn Fn(&EdgeId, &str) -> u32,
) -> Result<Choice, StepFault> {
    let missing = || StepFault::Missing { kind: "node", name: node.to_owned() };
    let node = workflow.find_node(node).ok_or_else(missing)?;
    for member in node.kind.members() {
        change_as_member(workflow, level, member.name.as_str(), trial)?;
    }
    change(workflow, level, &node.set, trial)?;
    go(workflow, level, (node.name.as_str(), None), trial, used)
}

/// Makes the step that follows an outcome of a node, which does not make its own `set`: it returned nothing.
pub fn step_on(
    workflow: &Workflow,
    level: u32,
    (node, outcome): (&str, OutcomeKind),
    trial: &mut Trial<'_>,
    used: &dyn Fn(&EdgeId, &str) -> u32,
) -> Result<Choice, StepFault> {
    go(workflow, level, (node, Some(outcome)), trial, used)
}

fn go(
    workflow: &Workflow,
    level: u32,
    (node, on): (&str, Option<OutcomeKind>),
    trial: &mut Trial<'_>,
    used: &dyn Fn(&EdgeId, &str) -> u32,
) -> Result<Choice, StepFault> {
    let choice = choose(&trial.look(workflow), level, node, on, used)?;
    let taken = find_taken(workflow, &choice);
    say(workflow, taken.send, trial)?;
    follow(workflow, level, taken.set, trial)?;
    Ok(choice)
}

/// Makes the changes of a `set` and judges everything that the trial changed.
///
/// This is also how an edge is followed whose task was merged, and its `rejected` route when it was sent back; the
/// trial is then given the output of the node that the edge leaves once more.
pub fn follow(
    workflow: &Workflow,
    level: u32,
    set: &[Assignment],
    trial: &mut Trial<'_>,
) -> Result<(), StepFault> {
    change(workflow, level, set, trial)?;
    trial.check(&workflow.schema).map_err(|faults| StepFault::Schema { faults })
}

/// Makes the changes of a member of a `parallel` node: to them, `output` is what the member returned.
fn change_as_member(
    workflow: &Workflow,
    level: u32,
    name: &str,
    trial: &mut Trial<'_>,
) -> Result<(), StepFault> {
    let set = workflow.find_node(name).map(|node| node.set.as_slice()).unwrap_or_default();
    let mut patches = trial.look_at_part(workflow, name, |look| assign(look, level, set))?;
    for patch in &mut patches {
        // In the event it is a part of what all of them returned.
        if let Assigned::Output(part) = &mut patch.assigned {
            part.0.insert(0, PathStep::Key(name.into()));
        }
    }
    apply(set, patches, trial)
}

fn change(
    workflow: &Workflow,
    level: u32,
    set: &[Assignment],
    trial: &mut Trial<'_>,
) -> Result<(), StepFault> {
    let patches = assign(&trial.look(workflow), level, set)?;
    apply(set, patches, trial)
}

fn apply(set: &[Assignment], patches: Vec<Patch>, trial: &mut Trial<'_>) -> Result<(), StepFault> {
    let whose = || set.first().map_or(Part::Workflow, |assignment| assignment.value.part().clone());
    trial.apply(patches).map_err(|source| StepFault::Place { part: whose(), source })
}

/// What follows a choice at once.
#[derive(Clone, Copy, Default)]
struct Taken<'w> {
    set: &'w [Assignment],
    send: &'w [Send],
}

fn find_taken<'w>(workflow: &'w Workflow, choice: &Choice) -> Taken<'w> {
    let find_edge = |id: &EdgeId| -> Option<&'w Edge> { workflow.find_edge(id.as_str()) };
    match choice {
        Choice::Taken { edge, submit: None, .. } => {
            find_edge(edge).map(|edge| Taken { set: &edge.set, send: &edge.send })
        }
        Choice::Exhausted { edge, route, .. } => find_edge(edge)
            .and_then(|edge| edge.exhausted.get(*route))
            .map(|route| Taken { set: &route.set, send: &route.send }),
        Choice::Taken { .. }
        | Choice::ExhaustedWithoutRoute { .. }
        | Choice::Stalled { .. }
        | Choice::End => None,
    }
    .unwrap_or_default()
}
