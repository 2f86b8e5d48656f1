//! Which edge is taken after a node.
//!
//! Edges are tried in the order of the file, and only the first that holds counts: if its cap is reached, it takes
//! one of its routes, and the edges below are not tried.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::expression::Expression;
use crate::name::{EdgeId, NodeName};
use crate::outcome::OutcomeKind;
use crate::step::evaluate::{evaluate_scope, holds};
use crate::step::seen::find_seen;
use crate::step::{Look, StepFault, Tried, evaluate_text};
use crate::workflow::{Edge, NodeKind};

/// What follows a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "choice", rename_all = "camelCase")]
pub enum Choice {
    /// An edge holds and may be taken.
    Taken {
        /// The edge.
        edge: EdgeId,
        /// What its cap is counted for; empty for the run.
        scope: String,
        /// The node it leads to.
        to: NodeName,
        /// The key of the task to put up for approval before the edge is followed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        submit: Option<String>,
        /// The key of the task that is left to a person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fail: Option<String>,
        /// The key of the task that is cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drop: Option<String>,
        /// The edges that were looked at.
        tried: Vec<Tried>,
    },
    /// An edge holds and its cap is reached; one of its ways out is taken.
    Exhausted {
        /// The edge.
        edge: EdgeId,
        /// What its cap is counted for.
        scope: String,
        /// Which of its ways out, from 0.
        route: usize,
        /// The node it leads to.
        to: NodeName,
        /// The key of the task that is left to a person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fail: Option<String>,
        /// The key of the task that is cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drop: Option<String>,
        /// The edges that were looked at.
        tried: Vec<Tried>,
    },
    /// An edge holds, its cap is reached, and no way out holds.
    ExhaustedWithoutRoute {
        /// The edge.
        edge: EdgeId,
        /// What its cap is counted for.
        scope: String,
        /// The edges that were looked at.
        tried: Vec<Tried>,
    },
    /// No edge holds, and the node is no end.
    Stalled {
        /// The edges that were looked at.
        tried: Vec<Tried>,
    },
    /// The node is an end.
    End,
}

/// Chooses what follows a node with an outcome, or with a result. `used` says how often an edge was taken in a scope.
pub fn choose(
    look: &Look<'_>,
    level: u32,
    node: &str,
    on: Option<OutcomeKind>,
    used: &dyn Fn(&EdgeId, &str) -> u32,
) -> Result<Choice, StepFault> {
    let missing = || StepFault::Missing { kind: "node", name: node.to_owned() };
    if let NodeKind::End { .. } = look.workflow().find_node(node).ok_or_else(missing)?.kind {
        return Ok(Choice::End);
    }
    let mut tried = Vec::new();
    for edge in look.workflow().edges_on(node, level, on) {
        let held = holds(look, edge.when.as_ref())?;
        let saw = edge.when.as_ref().map(|when| find_seen(look, when)).unwrap_or_default();
        tried.push(Tried { edge: edge.id.clone(), held, saw });
        if held {
            return take(look, edge, tried, used);
        }
    }
    Ok(Choice::Stalled { tried })
}

fn take(
    look: &Look<'_>,
    edge: &Edge,
    tried: Vec<Tried>,
    used: &dyn Fn(&EdgeId, &str) -> u32,
) -> Result<Choice, StepFault> {
    let scope = evaluate_scope(look, edge.scope.as_ref())?;
    if edge.max_iterations.is_some_and(|max| used(&edge.id, &scope) >= max) {
        return take_route(look, edge, scope, tried);
    }
    Ok(Choice::Taken {
        edge: edge.id.clone(),
        scope,
        to: edge.to.name.clone(),
        submit: edge.submit.as_ref().map(|submit| get_text(look, submit)).transpose()?,
        fail: find_text(look, edge.fail.as_ref())?,
        drop: find_text(look, edge.drop.as_ref())?,
        tried,
    })
}

fn take_route(look: &Look<'_>, edge: &Edge, scope: String, tried: Vec<Tried>) -> Result<Choice, StepFault> {
    let id = edge.id.clone();
    for (number, route) in edge.exhausted.iter().enumerate() {
        if holds(look, route.when.as_ref())? {
            let fail = find_text(look, route.fail.as_ref())?;
            let drop = find_text(look, route.drop.as_ref())?;
            return Ok(Choice::Exhausted {
                edge: id,
                scope,
                route: number,
                to: route.to.name.clone(),
                fail,
                drop,
                tried,
            });
        }
    }
    Ok(Choice::ExhaustedWithoutRoute { edge: id, scope, tried })
}

fn find_text(look: &Look<'_>, expression: Option<&Expression>) -> Result<Option<String>, StepFault> {
    expression.map_or(Ok(None), |expression| evaluate_text(look, expression))
}

/// A task to submit must be named: without it, the run would continue without the approval.
fn get_text(look: &Look<'_>, expression: &Expression) -> Result<String, StepFault> {
    let nothing = || StepFault::unusable(expression, "a text", &Value::Null);
    evaluate_text(look, expression)?.ok_or_else(nothing)
}
