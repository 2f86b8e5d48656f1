//! What expressions see of one step in `$steps`: how a run began, and each edge that it took.

use super::facts::time;
use crate::run::{Choice, Next};
use jiff::Timestamp;
use regatta_flow::{NodeKind, NodeName, Workflow};
use serde_json::{Map, Value};

/// Says what a run begins with: a step that comes from nowhere.
pub(super) fn tell_start(workflow: &Workflow, at: Timestamp, next: &Next) -> Map<String, Value> {
    let mut told = Map::new();
    told.insert("at".to_owned(), time(at).into());
    let node = workflow.find_node(next.node().as_str());
    if let Some(node) = node.filter(|node| !node.title.is_empty()) {
        told.insert("title".to_owned(), node.title.clone().into());
    }
    tell_target(workflow, &mut told, next.node(), next);
    told
}

/// Says where a step leads.
fn tell_target(workflow: &Workflow, told: &mut Map<String, Value>, to: &NodeName, next: &Next) {
    told.insert("to".to_owned(), to.to_string().into());
    let kind = workflow.find_node(to.as_str()).map(|node| &node.kind);
    if let Some(NodeKind::Agent { role, .. }) = kind {
        told.insert("role".to_owned(), role.name.clone().into());
    }
    if let Next::Map { items, .. } = next {
        told.insert("items".to_owned(), items.len().into());
    }
}

/// Says what a step was, but for whose it is.
pub(super) fn tell_step(
    workflow: &Workflow,
    at: Timestamp,
    node: &NodeName,
    choice: &Choice,
    next: &Next,
) -> Map<String, Value> {
    let edge = workflow.find_edge(choice.edge.as_str());
    let to = match (next, edge) {
        (Next::Land { .. }, Some(edge)) => edge.to.name.clone(),
        _ => next.node().clone(),
    };
    let mut told = Map::new();
    let mut put = |name: &str, value: Value| drop(told.insert(name.to_owned(), value));
    put("at", time(at).into());
    put("from", node.to_string().into());
    put("edge", choice.edge.to_string().into());
    if let Some(edge) = edge.filter(|edge| !edge.title.is_empty()) {
        put("title", edge.title.clone().into());
    }
    tell_target(workflow, &mut told, &to, next);
    told
}
