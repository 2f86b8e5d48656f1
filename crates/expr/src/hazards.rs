//! What an evaluation has to watch for, read from the syntax tree once.
//!
//! The engine counts the nodes it evaluates, but not the work a built-in function does inside one call. So the
//! functions that an expression uses, and how it uses them, decide which limits it gets. A name that the expression
//! binds itself is not mistaken for the built-in function.

use std::collections::HashSet;

use jlens_core::ast::{BinaryOp, Stage};
use jlens_core::{Ast, Node, NodeKind};

use crate::facts::comparison_operator;
use crate::pattern::Cost;

/// What an expression may do out of sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Hazards {
    /// It names a function that builds values inside values in one go, such as `$match`.
    pub(crate) builds_nested: bool,
    /// It has a regular expression, whose backtracking counts a thousandfold.
    pub(crate) has_pattern: bool,
    /// What its regular expressions may cost, at most.
    pub(crate) pattern: Cost,
    /// It hands on a regular expression, so that the texts it is held against are not seen.
    pub(crate) matches_unseen: bool,
    /// It hands on a built-in function that makes much of little, such as `$pad(?, 1e6)`, so that a call of it is
    /// not seen.
    pub(crate) amplifies_unseen: bool,
    /// It can build nothing worth counting: it reads, compares and calculates, as edges do. What it takes is bounded by
    /// the engine's own limits, and it need not be followed.
    pub(crate) is_plain: bool,
    /// It looks from each of many items at something else, as `items[$ in $$.items]` does: what one step costs is then
    /// not bounded by what there is.
    pub(crate) looks_around: bool,
}

/// Functions that build values inside values in one go.
const NESTED_BUILDERS: &[&str] = &["clone", "match", "split", "spread", "zip"];

/// Functions whose result may be much longer than what they are given.
const AMPLIFIERS: &[&str] = &[
    "append",
    "clone",
    "formatInteger",
    "formatNumber",
    "fromMillis",
    "join",
    "match",
    "merge",
    "now",
    "pad",
    "replace",
    "split",
    "spread",
    "zip",
];

/// Functions that answer a number, a boolean, a word or a value that is there already.
const PLAIN: &[&str] = &[
    "abs", "average", "boolean", "ceil", "contains", "count", "exists", "floor", "length", "lookup", "max",
    "millis", "min", "not", "number", "power", "round", "sqrt", "sum", "type",
];

/// Functions that look at a value without reading what it holds: `$count(tasks)` costs the same for any number of tasks.
const GLANCING: &[&str] = &["count", "exists", "type"];

/// Functions that look for a pattern again and again, each time from the start of the text.
const SEARCHERS: &[&str] = &["match", "replace", "split"];

/// Functions that hold a text against a pattern, which comes after it.
const MATCHERS: &[&str] = &["contains", "match", "replace", "split"];

/// Functions that take a picture apart, piece by piece.
const PICTURED: &[&str] = &["formatInteger", "formatNumber", "fromMillis", "now", "parseInteger", "toMillis"];

impl Hazards {
    /// Whether what a step costs has to be counted. Otherwise no tracer is needed, and the engine takes its short cuts.
    pub(crate) fn is_followed(self) -> bool {
        !self.is_plain || self.looks_around
    }

    pub(crate) fn of(ast: &Ast, names: &Names) -> Hazards {
        let mut hazards = Hazards { is_plain: true, ..Hazards::default() };
        let (mut called, mut held) = (HashSet::new(), HashSet::new());
        visit(&ast.root, |node| {
            hazards.is_plain &= names.is_plain(node);
            hazards.looks_around |= names.looks_around(node);
            match &node.kind {
                NodeKind::Function { procedure, args } => {
                    called.insert(procedure.id);
                    if names.find_builtin(procedure).is_some_and(|name| MATCHERS.contains(&name)) {
                        held.extend(args.iter().skip(1).map(|pattern| pattern.id));
                    }
                }
                NodeKind::Regex { pattern, .. } => {
                    hazards.has_pattern = true;
                    hazards.pattern = hazards.pattern.or(Cost::of(pattern));
                }
                NodeKind::Transform(_) => hazards.builds_nested = true,
                _ => {}
            }
        });
        visit(&ast.root, |node| {
            hazards.matches_unseen |= matches!(node.kind, NodeKind::Regex { .. }) && !held.contains(&node.id);
            let Some(name) = names.find_builtin(node) else { return };
            hazards.builds_nested |= NESTED_BUILDERS.contains(&name);
            hazards.amplifies_unseen |= AMPLIFIERS.contains(&name) && !called.contains(&node.id);
            // The text of `$eval` is known only when it runs, and may do anything.
            if name == "eval" {
                hazards = Hazards {
                    builds_nested: true,
                    has_pattern: true,
                    amplifies_unseen: true,
                    is_plain: false,
                    looks_around: true,
                    ..hazards
                };
            }
        });
        hazards
    }
}

/// The names that an expression binds itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    bound: HashSet<String>,
}

impl Names {
    pub(crate) fn of(ast: &Ast) -> Names {
        let mut bound = HashSet::new();
        visit(&ast.root, |node| {
            match &node.kind {
                NodeKind::Bind { lhs, .. } => bound.extend(variable(lhs).map(str::to_owned)),
                NodeKind::Lambda(def) => bound.extend(def.params.iter().cloned()),
                _ => {}
            }
            bound.extend([&node.attrs.focus, &node.attrs.index].into_iter().flatten().cloned());
        });
        Names { bound }
    }

    /// Returns the name of the built-in function that a call calls, if it surely calls one.
    pub(crate) fn find_builtin_called<'n>(&self, call: &'n Node) -> Option<&'n str> {
        let NodeKind::Function { procedure, .. } = &call.kind else { return None };
        self.find_builtin(procedure)
    }

    /// Whether a node by itself builds nothing but a number, a boolean or a list of values that are there already.
    fn is_plain(&self, node: &Node) -> bool {
        let attributes = &node.attrs;
        let is_plain_step = !attributes.tuple
            && attributes.group.is_none()
            && attributes.focus.is_none()
            && attributes.index.is_none()
            && attributes.ancestor.is_none();
        is_plain_step
            && match &node.kind {
                NodeKind::Path { .. }
                | NodeKind::Negate { .. }
                | NodeKind::Name { .. }
                | NodeKind::Variable { .. }
                | NodeKind::String { .. }
                | NodeKind::Number { .. }
                | NodeKind::Bool { .. }
                | NodeKind::Null
                | NodeKind::Wildcard
                | NodeKind::Descendant
                | NodeKind::Condition { .. }
                | NodeKind::Fallback { .. }
                | NodeKind::Block { .. } => true,
                NodeKind::Binary { op, .. } => !matches!(op, BinaryOp::Range | BinaryOp::Concat),
                NodeKind::Function { .. } => {
                    self.find_builtin_called(node).is_some_and(|name| PLAIN.contains(&name))
                }
                _ => false,
            }
    }

    /// Whether a node evaluates something for each of many items that reads a variable, or the input from its top.
    fn looks_around(&self, node: &Node) -> bool {
        let mut reads = false;
        let mut look = |part: &Node| {
            visit(part, |inner| {
                let is_read = variable(inner).is_some_and(|name| !name.is_empty());
                reads |= is_read && self.find_builtin(inner).is_none();
            });
        };
        if let NodeKind::Path { steps, .. } = &node.kind {
            steps.iter().skip(1).for_each(&mut look);
        }
        for stage in node.attrs.stages.iter().chain(&node.attrs.predicate) {
            if let Stage::Filter { expr, .. } = stage {
                look(expr);
            }
        }
        reads
    }

    /// Returns the name of the built-in function that a node names, if it surely names one.
    fn find_builtin<'n>(&self, node: &'n Node) -> Option<&'n str> {
        let name = variable(node).filter(|name| !self.bound.contains(*name))?;
        jlens_core::function_catalog().iter().any(|known| known.name == name).then_some(name)
    }
}

/// How hard the arguments of a call, or the operands of an operator, are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Toil {
    /// Once each.
    Linear,
    /// Each item with each other, as deep as they are.
    Distinct,
    /// Each name of a field with each other.
    Keys,
    /// A text again and again, making many of it.
    Search,
    /// A text until something is found.
    Contains,
    /// At each item of an array, and at one field of an object.
    Lookup,
    /// A text piece by piece, each with a cost of its own.
    Picture,
    /// Not at all; its number says how long the result will be.
    Pad,
}

/// Returns how hard a node looks at its operands, if it looks at all they hold.
///
/// A function under another name than its own is taken for one that looks once: such an expression gets shorter strings
/// instead, see [`Hazards::amplifies_unseen`].
pub(crate) fn toil_of(node: &Node) -> Option<Toil> {
    match &node.kind {
        NodeKind::Function { procedure, .. } => Some(match variable(procedure) {
            Some(name) if GLANCING.contains(&name) => return None,
            Some("lookup") => Toil::Lookup,
            Some("distinct") => Toil::Distinct,
            Some("keys") => Toil::Keys,
            Some("contains") => Toil::Contains,
            Some("pad") => Toil::Pad,
            Some(name) if PICTURED.contains(&name) => Toil::Picture,
            Some(name) if SEARCHERS.contains(&name) => Toil::Search,
            _ => Toil::Linear,
        }),
        NodeKind::Apply { .. } => Some(Toil::Linear),
        NodeKind::Binary { op: BinaryOp::Concat, .. } => Some(Toil::Linear),
        _ => comparison_operator(node).map(|_| Toil::Linear),
    }
}

fn variable(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Variable { name } => Some(name),
        NodeKind::Path { steps, .. } => match steps.as_slice() {
            [step] => variable(step),
            _ => None,
        },
        _ => None,
    }
}

/// Visits every node. It keeps its own stack, because a tree may be as deep as the engine allows.
pub(crate) fn visit<'a>(root: &'a Node, mut f: impl FnMut(&'a Node)) {
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        f(node);
        node.for_each_child(|child| pending.push(child));
    }
}
