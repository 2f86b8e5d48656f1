//! The rules about `on`: a node can come to the outcome, and an edge for it can be tried.

use serde_json::{Value, json};

use super::report::Report;
use super::subject::Subject;
use crate::fault::Fault;
use crate::outcome::OutcomeKind;
use crate::workflow::{Edge, Node, NodeKind, On, Target, Workflow};

/// Checks the edges that are for an outcome.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    for (place, edge) in workflow.edges.iter().enumerate() {
        let Some(on) = &edge.on else { continue };
        edge.from
            .iter()
            .filter_map(|from| find_misfit(workflow, on, from))
            .for_each(|fault| report.add(fault));
        check_submit(edge, on, report);
        check_order(subject, place, edge, report);
    }
}

/// Finds why a node never comes to an outcome.
fn find_misfit(workflow: &Workflow, on: &On, from: &Target) -> Option<Fault> {
    let node = workflow.find_node(from.name.as_str())?;
    let gaps = &workflow.gaps;
    if gaps.kinds.contains(node.name.as_str()) || gaps.nodes.contains(node.name.as_str()) {
        return None;
    }
    let is_submitted = || gaps.has_lost_edges || submits(workflow, node);
    let (why, hint) = match on.outcome {
        OutcomeKind::Failed if !has(workflow, node, is_session) => {
            ("it has no session", "use it for nodes of kind `agent`, or `parallel` with one")
        }
        OutcomeKind::Cancelled
            if !has(workflow, node, |node| node.kind.task().is_some()) && !is_submitted() =>
        {
            ("it works on no task and submits none", "give the node a `task`, or remove the edge")
        }
        outcome if outcome.needs_submit() && !is_submitted() => (
            "no edge that leaves it submits a task",
            "add `submit` to an edge of the node, or remove this edge",
        ),
        _ => return None,
    };
    let message = format!("`{}` never comes to the outcome `{}`: {why}", node.name, on.outcome);
    let at = if from.at == on.at { &on.at } else { &from.at };
    Some(Fault::error("outcome-never-comes", at, message).with_hint(hint))
}

fn is_session(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Agent { .. })
}

/// Whether a node, or one that it performs at the same time as others, is such.
fn has(workflow: &Workflow, node: &Node, is_such: impl Fn(&Node) -> bool) -> bool {
    let members = node.kind.members().iter().filter_map(|member| workflow.find_node(member.name.as_str()));
    is_such(node) || members.into_iter().any(is_such)
}

/// Whether an edge submits when it leaves a node. One that cannot be read may.
fn submits(workflow: &Workflow, node: &Node) -> bool {
    let may = |edge: &Edge| edge.submit.is_some() || workflow.gaps.edges.contains(edge.id.as_str());
    workflow.edges.iter().any(|edge| may(edge) && edge.leaves(node.name.as_str()))
}

/// The same work would come to the same outcome.
fn check_submit(edge: &Edge, on: &On, report: &mut Report) {
    if let Some(submit) = edge.submit.as_ref().filter(|_| on.outcome != OutcomeKind::Failed) {
        let message =
            format!("`{}` would submit the same work again, which came to `{}`", edge.id, on.outcome);
        let hint = "lead the edge to a node that works on the task, or use `fail` or `drop`";
        report.add(Fault::error("submit-again", submit.at(), message).with_hint(hint));
    }
}

/// Below an edge that always holds no other is tried for the same outcome.
fn check_order(subject: &Subject<'_>, place: usize, edge: &Edge, report: &mut Report) {
    let workflow = subject.workflow;
    for view in subject.levels.iter().filter(|view| edge.is_at(view.level)) {
        let comes_first = |other: &&Edge| {
            other.outcome() == edge.outcome()
                && other.when.is_none()
                && other.is_at(view.level)
                && !workflow.gaps.edges.contains(other.id.as_str())
        };
        let before = || workflow.edges[..place].iter().filter(comes_first);
        let find = |from: &Target| before().find(|other| other.leaves(from.name.as_str()));
        let found: Vec<&Edge> = edge.from.iter().filter_map(find).collect();
        if let (Some(first), true) = (found.first(), found.len() == edge.from.len()) {
            let message = format!(
                "`{}` is never tried: `{}` comes first and has no `when`, so it always holds",
                edge.id, first.id
            );
            let fault = Fault::error("edge-never-tried", &edge.at, message);
            let fault = fault.with_hint(format!("move it before `{}`", first.id));
            report.add_at(view.level, edge.id.to_string(), fault);
        }
    }
}

/// Returns the shape of `$outcome`.
pub(super) fn shape_of(outcome: OutcomeKind) -> Value {
    let text = || json!({ "type": "string" });
    let properties = match outcome {
        OutcomeKind::Failed => json!({ "code": text(), "class": text(), "message": text(), "node": text() }),
        OutcomeKind::Conflict => {
            json!({ "files": { "type": "array", "items": text() }, "target": text(), "head": text() })
        }
        OutcomeKind::Rejected => json!({ "edge": text() }),
        OutcomeKind::Unchanged | OutcomeKind::Cancelled => json!({}),
    };
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}
