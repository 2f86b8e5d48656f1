//! Records the comparisons of an evaluation and finds which of them decided the result.
//!
//! It follows the evaluation node by node. When a node ends, the observations that decided *its* value follow from
//! those of its operands; what decided the root decided the result. Operands of a comparison may contain others, as
//! in `$count(tasks[done = true]) = 3`: they are listed, but the outer one decides. Only the last value of a block
//! counts, and the value of a variable decides where the variable is read.

use std::collections::HashMap;

use jlens_core::ast::BinaryOp;
use jlens_core::audit::{CaptureLimits, Outcome, ValueRef};
use jlens_core::{Node, NodeKind};
use serde_json::Value;

use crate::explanation::{Explanation, Observation};
use crate::facts::comparison_operator;
use crate::tail_calls::Insertions;

/// The most observations that are kept: more than anybody reads, and a bound for filters over long arrays.
const OBSERVATIONS_MAX: usize = 100;

/// How many of them may stand inside the operands of another comparison, which must find room after them.
const INNER_OBSERVATIONS_MAX: usize = 40;

/// How much of a value is kept: enough to recognise it.
const SHORTENED: CaptureLimits = CaptureLimits {
    max_items: 5,
    max_string: 80,
    max_depth: 2,
    max_rejected: 0,
    max_nodes: 0,
    max_source: 0,
};

#[derive(Debug)]
pub(crate) struct Account {
    /// The text as it was written.
    source: String,
    /// How nodes are found in it.
    insertions: Insertions,
    explanation: Explanation,
    open: Vec<Open>,
    /// What decided the values of the variables that were bound, by name; the last one bound counts.
    bound: HashMap<String, Vec<usize>>,
}

/// A node that has been entered and not left.
#[derive(Debug)]
struct Open {
    /// Whether it is an `and` or an `or`, whose operands are observed whatever they are.
    is_connective: bool,
    is_comparison: bool,
    sides: Option<[Option<Value>; 2]>,
    short_circuited: bool,
    /// For each operand that was evaluated, the observations that decided it.
    operands: Vec<Vec<usize>>,
}

impl Account {
    pub(crate) fn new(source: &str, insertions: Insertions) -> Account {
        Account {
            source: source.to_owned(),
            insertions,
            explanation: Explanation::default(),
            open: Vec::new(),
            bound: HashMap::new(),
        }
    }

    pub(crate) fn enter(&mut self, node: &Node) {
        self.open.push(Open {
            is_connective: connective(node).is_some(),
            is_comparison: comparison_operator(node).is_some(),
            sides: None,
            short_circuited: false,
            operands: Vec::new(),
        });
    }

    pub(crate) fn compare(&mut self, left: ValueRef<'_>, right: ValueRef<'_>) {
        if let Some(open) = self.open.last_mut() {
            open.sides = Some([left.capture(&SHORTENED), right.capture(&SHORTENED)]);
        }
    }

    pub(crate) fn short_circuit(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.short_circuited = true;
        }
    }

    pub(crate) fn exit(&mut self, node: &Node, outcome: Outcome<'_>) {
        let Some(open) = self.open.pop() else { return };
        let failed = matches!(outcome, Outcome::Error(_));
        if failed && open.sides.is_none() {
            // It never came to be compared or tested; what failed inside of it is known already.
            return;
        }
        let is_operand = self.open.last().is_none_or(|parent| parent.is_connective);
        let mut decided = if comparison_operator(node).is_some() {
            self.observe(node, open.sides, outcome)
        } else {
            self.follow_variable(node, deciders(node, open, outcome))
        };
        if decided.is_empty() && is_operand {
            decided = self.observe(node, None, outcome);
        }
        match self.open.last_mut() {
            Some(parent) => parent.operands.push(decided),
            None if failed => {}
            None => decided.into_iter().for_each(|index| self.explanation.observations[index].decided = true),
        }
    }

    /// Keeps what decided a variable where it is bound, and returns it where it is read.
    fn follow_variable(&mut self, node: &Node, decided: Vec<usize>) -> Vec<usize> {
        match &node.kind {
            NodeKind::Bind { lhs, .. } => {
                if let NodeKind::Variable { name } = &lhs.kind {
                    self.bound.insert(name.clone(), decided.clone());
                }
                decided
            }
            NodeKind::Variable { name } => self.bound.get(name).cloned().unwrap_or(decided),
            _ => decided,
        }
    }

    pub(crate) fn count_steps(&mut self, steps: u64) {
        self.explanation.steps = steps;
    }

    pub(crate) fn finish(self) -> Explanation {
        self.explanation
    }

    fn observe(
        &mut self,
        node: &Node,
        sides: Option<[Option<Value>; 2]>,
        outcome: Outcome<'_>,
    ) -> Vec<usize> {
        let is_inner = self.open.iter().any(|open| open.is_comparison);
        let observations_max = if is_inner { INNER_OBSERVATIONS_MAX } else { OBSERVATIONS_MAX };
        let observations = &mut self.explanation.observations;
        if observations.len() >= observations_max {
            self.explanation.omitted += 1;
            return Vec::new();
        }
        let at = self.insertions.map_back(node.span.into());
        let [left, right] = sides.unwrap_or_default();
        observations.push(Observation {
            text: self.source.get(at.range()).unwrap_or_default().to_owned(),
            at,
            operator: comparison_operator(node),
            left,
            right,
            result: match outcome {
                Outcome::Value(value) => value.capture(&SHORTENED),
                Outcome::Error(_) => None,
            },
            failed: matches!(outcome, Outcome::Error(_)),
            decided: false,
        });
        vec![observations.len() - 1]
    }
}

/// What decided a node that is no comparison, given what decided its operands.
fn deciders(node: &Node, open: Open, outcome: Outcome<'_>) -> Vec<usize> {
    let is_true = matches!(outcome, Outcome::Value(value) if value.as_bool() == Some(true));
    let last_decided = match connective(node) {
        Some(BinaryOp::And) => !is_true,
        Some(_) => is_true,
        None => false,
    };
    // The first operand that could decide alone ends the evaluation, so the last one evaluated is it.
    let mut operands = open.operands;
    let is_last_alone = matches!(node.kind, NodeKind::Block { .. } | NodeKind::Bind { .. });
    if open.short_circuited || last_decided || is_last_alone {
        return operands.pop().unwrap_or_default();
    }
    let mut all: Vec<usize> = operands.into_iter().flatten().collect();
    all.truncate(OBSERVATIONS_MAX);
    all
}

fn connective(node: &Node) -> Option<BinaryOp> {
    match &node.kind {
        NodeKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), .. } => Some(*op),
        _ => None,
    }
}
