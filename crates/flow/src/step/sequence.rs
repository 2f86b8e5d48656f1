//! A whole step in its order, so that callers do not have to know it.
//!
//! ```text
//!   set of the node ─▶ edges, judged on that ─▶ set of the edge ─▶ the new state against its schema
//! ```

use crate::expression::Part;
use crate::name::EdgeId;
use crate::step::{Choice, StepFault, assign, choose};
use crate::trial::Trial;
use crate::workflow::{Assignment, Edge, Workflow};

/// Makes the step that follows a performed node, whose output the trial was given, and returns what follows the node.
///
/// Changes stay applied until the trial ends and returns them. The `set` of an edge that submits is applied when the
/// task is merged.
pub fn step(
    workflow: &Workflow,
    level: u32,
    node: &str,
    trial: &mut Trial<'_>,
    used: &dyn Fn(&EdgeId, &str) -> u32,
) -> Result<Choice, StepFault> {
    let missing = || StepFault::Missing { kind: "node", name: node.to_owned() };
    let node = workflow.find_node(node).ok_or_else(missing)?;
    change(workflow, level, &node.set, trial)?;
    let choice = choose(&trial.look(workflow), level, node.name.as_str(), used)?;
    follow(workflow, level, find_set(workflow, &choice), trial)?;
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

fn change(
    workflow: &Workflow,
    level: u32,
    set: &[Assignment],
    trial: &mut Trial<'_>,
) -> Result<(), StepFault> {
    let patches = assign(&trial.look(workflow), level, set)?;
    let whose = || set.first().map_or(Part::Workflow, |assignment| assignment.value.part().clone());
    trial.apply(patches).map_err(|source| StepFault::Place { part: whose(), source })
}

/// Returns the `set` that follows a choice at once.
fn find_set<'w>(workflow: &'w Workflow, choice: &Choice) -> &'w [Assignment] {
    let find_edge = |id: &EdgeId| -> Option<&'w Edge> { workflow.find_edge(id.as_str()) };
    match choice {
        Choice::Taken { edge, submit: None, .. } => find_edge(edge).map(|edge| edge.set.as_slice()),
        Choice::Exhausted { edge, route, .. } => {
            find_edge(edge).and_then(|edge| edge.exhausted.get(*route)).map(|route| route.set.as_slice())
        }
        Choice::Taken { .. }
        | Choice::ExhaustedWithoutRoute { .. }
        | Choice::Stalled { .. }
        | Choice::End => None,
    }
    .unwrap_or_default()
}
