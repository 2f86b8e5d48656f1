//! What a condition asks, read from the syntax tree: how its parts are joined, and what each compares.
//!
//! Checkers use it to learn which values a condition distinguishes, and what must be true whenever it holds.
//! Comments, quotes and regular expressions cannot mislead it, because it never looks at the text. Anything it does
//! not understand is [`Condition::Other`], from which nothing may be concluded.

use jlens_core::ast::BinaryOp;
use jlens_core::{Ast, Node, NodeKind};
use serde_json::Value;

use crate::facts::{Comparison, comparison_operator, read_comparison};
use crate::hazards::Names;

/// How deep a condition is read; what lies deeper is [`Condition::Other`]. People write a handful of levels.
const DEPTH_MAX: usize = 64;

/// What a condition asks.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Both, by `and`.
    And(Box<Condition>, Box<Condition>),
    /// At least one of two, by `or`.
    Or(Box<Condition>, Box<Condition>),
    /// The opposite of another, by `$not`.
    Not(Box<Condition>),
    /// A comparison: its operator, its left side and its right side.
    Compared(&'static str, Operand, Operand),
    /// Whether there is something at a path, by `$exists`.
    Exists(Vec<String>),
    /// Whether a value is true.
    Truth(Operand),
    /// Anything else.
    Other,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// The value at a path of names; the first may be a variable with its `$`.
    Path(Vec<String>),
    /// How many items there are at a path, by `$count`.
    Count(Vec<String>),
    /// A number, a text, a boolean or `null`.
    Literal(Value),
    /// The answer of another condition.
    Answer(Box<Condition>),
    /// Anything else.
    Other,
}

/// Reads what an expression asks.
pub(crate) fn read_condition(ast: &Ast, names: &Names) -> Condition {
    Reader { names }.condition(&ast.root, DEPTH_MAX)
}

/// Lists the comparisons that hold wherever the expression is true.
pub(crate) fn find_required(ast: &Ast) -> Vec<Comparison> {
    let mut found = Vec::new();
    let mut pending = vec![&ast.root];
    while let Some(node) = pending.pop().map(without_brackets) {
        match &node.kind {
            NodeKind::Binary { op: BinaryOp::And, lhs, rhs } => pending.extend([&**rhs, &**lhs]),
            _ => found.extend(read_comparison(ast, node)),
        }
    }
    found
}

struct Reader<'r> {
    names: &'r Names,
}

impl Reader<'_> {
    fn condition(&self, node: &Node, depth: usize) -> Condition {
        let node = without_brackets(node);
        let Some(depth) = depth.checked_sub(1) else { return Condition::Other };
        if let (Some(operator), NodeKind::Binary { lhs, rhs, .. }) = (comparison_operator(node), &node.kind) {
            return Condition::Compared(operator, self.operand(lhs, depth), self.operand(rhs, depth));
        }
        match &node.kind {
            NodeKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), lhs, rhs } => {
                let join = if *op == BinaryOp::And { Condition::And } else { Condition::Or };
                join(Box::new(self.condition(lhs, depth)), Box::new(self.condition(rhs, depth)))
            }
            NodeKind::Function { args, .. } if is_bare(node) => {
                match (self.names.find_builtin_called(node), &args[..]) {
                    (Some("not"), [one]) => Condition::Not(Box::new(self.condition(one, depth))),
                    (Some("exists"), [one]) => self.path(one).map_or(Condition::Other, Condition::Exists),
                    _ => Condition::Other,
                }
            }
            _ => match self.simple(node) {
                Operand::Other => Condition::Other,
                operand => Condition::Truth(operand),
            },
        }
    }

    fn operand(&self, node: &Node, depth: usize) -> Operand {
        let node = without_brackets(node);
        match self.simple(node) {
            Operand::Other => match self.condition(node, depth) {
                Condition::Other => Operand::Other,
                condition => Operand::Answer(Box::new(condition)),
            },
            operand => operand,
        }
    }

    fn simple(&self, node: &Node) -> Operand {
        if let Some(literal) = read_literal(node) {
            return Operand::Literal(literal);
        }
        if let NodeKind::Function { args, .. } = &node.kind
            && let (Some("count"), [one]) = (self.names.find_builtin_called(node), &args[..])
            && is_bare(node)
        {
            return self.path(one).map_or(Operand::Other, Operand::Count);
        }
        self.path(node).map_or(Operand::Other, Operand::Path)
    }

    /// Reads names with dots between them, with nothing in brackets.
    fn path(&self, node: &Node) -> Option<Vec<String>> {
        let node = without_brackets(node);
        let name = |(place, step): (usize, &Node)| match &step.kind {
            NodeKind::Name { name } if is_bare(step) => Some(name.clone()),
            NodeKind::Variable { name } if place == 0 && !name.is_empty() && name != "$" && is_bare(step) => {
                Some(format!("${name}"))
            }
            _ => None,
        };
        match &node.kind {
            NodeKind::Path { steps, keep_singleton_array: false } if is_bare(node) => {
                steps.iter().enumerate().map(name).collect()
            }
            _ => name((0, node)).map(|name| vec![name]),
        }
    }
}

fn read_literal(node: &Node) -> Option<Value> {
    if !is_bare(node) {
        return None;
    }
    match &node.kind {
        NodeKind::String { value } => Some(Value::from(value.as_str())),
        NodeKind::Number { value } => Some(Value::from(*value)),
        NodeKind::Bool { value } => Some(Value::from(*value)),
        NodeKind::Null => Some(Value::Null),
        NodeKind::Negate { expr } => match expr.kind {
            NodeKind::Number { value } => Some(Value::from(-value)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns what stands within brackets that hold one expression.
fn without_brackets(node: &Node) -> &Node {
    let mut node = node;
    while let NodeKind::Block { exprs, .. } = &node.kind
        && let [one] = &exprs[..]
        && is_bare(node)
    {
        node = one;
    }
    node
}

/// Whether nothing filters, groups or names what a node gives.
fn is_bare(node: &Node) -> bool {
    let attributes = &node.attrs;
    attributes.stages.is_empty()
        && attributes.predicate.is_empty()
        && attributes.group.is_none()
        && attributes.focus.is_none()
        && attributes.index.is_none()
        && attributes.ancestor.is_none()
        && !attributes.keep_array
        && !attributes.tuple
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Expression;

    fn required(text: &str) -> Vec<String> {
        Expression::compile(text)
            .unwrap()
            .required_comparisons()
            .into_iter()
            .map(|found| format!("{} {} {}", found.left, found.operator, found.right))
            .collect()
    }

    #[test]
    fn what_is_required_is_joined_by_and() {
        assert_eq!(required("a = 1 and b < 2"), ["a = 1", "b < 2"]);
        assert_eq!(required("a = ' and c < 1' and (b and c > 3)"), ["a = ' and c < 1'", "c > 3"]);
        for none in [
            "ok /* was: and i < 10 */",
            "$contains(t, /'/) or $contains(t, /'/) and i < 10",
            "ok /* it's */ or n /* it's */ and i < 10",
            "a < 1 or b < 2",
            "x ? a < 1 : b < 2",
            "$not(a < 1)",
            "(a < 1; b)",
            "xs[a < 1]",
            "[a < 1]",
        ] {
            assert_eq!(required(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn a_condition_is_read_by_its_parts() {
        let path = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let read = |text: &str| Expression::compile(text).unwrap().condition();
        let five = || Operand::Literal(json!(5.0));
        assert_eq!(read("(a.b) >= 5"), Condition::Compared(">=", Operand::Path(path(&["a", "b"])), five()));
        assert_eq!(read("$count(xs) = 5"), Condition::Compared("=", Operand::Count(path(&["xs"])), five()));
        assert_eq!(read("$task.done"), Condition::Truth(Operand::Path(path(&["$task", "done"]))));
        assert_eq!(
            read("$not($exists(a)) = true"),
            Condition::Compared(
                "=",
                Operand::Answer(Box::new(Condition::Not(Box::new(Condition::Exists(path(&["a"])))))),
                Operand::Literal(json!(true))
            )
        );
        for other in ["a + 1", "$length(t)", "xs[0]", "[true]", "$", "(a; b)"] {
            assert_eq!(read(other), Condition::Other, "{other}");
        }
        assert_eq!(read("a - 50 > 5"), Condition::Compared(">", Operand::Other, five()));
    }
}
