//! Whether samples stand for every state that a condition can tell apart.
//!
//! Only then may a rule say that a condition never holds. They do where all that is read has few values (booleans,
//! `enum`, `const`), and where a value of a known type is compared with literals: there are samples equal to each
//! literal, between them and beyond them, and a text other than all. Anything computed, a text that is compared by its
//! order, what lies within a list and what no schema describes is not covered, and then nothing is concluded.

use regatta_expr::{Condition, Expression as Compiled, Operand};
use serde_json::Value;

use super::bounds::{names, touches};
use super::candidates::COUNT_MAX;
use super::condition::plain_path;
use super::ground::Ground;
use super::shape::Shape;
use crate::expression::{Expression, RESERVED};
use crate::place::Segment;
use crate::workflow::{Assignment, Workflow};

/// The longest path that samples are made for.
const NAMES_MAX: usize = 6;

/// The highest number beside which others can be told apart from it.
const NUMBER_MAX: f64 = 1e15;

/// What a condition asks of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ask<'c> {
    /// Anything at all: it must have few values.
    Anything,
    /// Whether it is there.
    Exists,
    /// Whether it is exactly `true`.
    IsTrue,
    /// Whether it equals a literal.
    Equals(&'c Value),
    /// Whether it is above or below a literal.
    Order(&'c Value),
    /// Whether there are so many, or more, or fewer.
    Count(&'c Value),
}

/// What the samples of a node are made from.
pub(super) struct Coverage<'c> {
    pub(super) ground: &'c Ground<'c>,
    pub(super) workflow: &'c Workflow,
    pub(super) level: u32,
    pub(super) node: usize,
    /// What is set before the edges look.
    pub(super) set: Vec<&'c Assignment>,
}

impl Coverage<'_> {
    /// Whether the samples are all there is to say about a condition.
    pub(super) fn covers(&self, condition: &Expression) -> bool {
        let compiled = condition.compiled();
        condition.is_known()
            && (compiled.is_constant()
                || self.has_few_values(compiled)
                || self.covers_root(&compiled.condition()))
    }

    fn has_few_values(&self, compiled: &Compiled) -> bool {
        let reads = compiled.reads();
        !reads.whole_input
            && !reads.any_variable
            && reads.variables.is_empty()
            && !compiled.is_fickle()
            && reads.paths.iter().all(|path| self.covers_path(path, Ask::Anything))
    }

    fn covers_root(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Truth(Operand::Path(path)) => self.covers_path(path, Ask::IsTrue),
            Condition::Truth(Operand::Count(_)) => true,
            _ => self.covers_part(condition),
        }
    }

    fn covers_part(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Joined(one, other) => self.covers_part(one) && self.covers_part(other),
            Condition::Not(one) => self.covers_part(one),
            Condition::Exists(path) => self.covers_path(path, Ask::Exists),
            Condition::Truth(Operand::Path(path)) => self.covers_path(path, Ask::Anything),
            Condition::Truth(Operand::Literal(_)) => true,
            Condition::Truth(Operand::Count(path)) => self.covers_path(path, Ask::Count(&Value::Null)),
            Condition::Compared(operator, left, right) => self.covers_comparison(operator, left, right),
            Condition::Truth(_) | Condition::Other => false,
        }
    }

    fn covers_comparison(&self, operator: &str, left: &Operand, right: &Operand) -> bool {
        if operator == "in" {
            return false;
        }
        match (left, right) {
            (Operand::Literal(_), Operand::Literal(_)) => true,
            (Operand::Path(path), Operand::Literal(literal))
            | (Operand::Literal(literal), Operand::Path(path)) => {
                let is_order = !["=", "!="].contains(&operator);
                self.covers_path(path, if is_order { Ask::Order(literal) } else { Ask::Equals(literal) })
            }
            (Operand::Count(path), Operand::Literal(literal))
            | (Operand::Literal(literal), Operand::Count(path)) => {
                self.covers_path(path, Ask::Count(literal))
            }
            (Operand::Other | Operand::Count(_), _) | (_, Operand::Other | Operand::Count(_)) => false,
            (left, right) => [left, right].into_iter().all(|side| match side {
                Operand::Path(path) => self.covers_path(path, Ask::Anything),
                Operand::Answer(condition) => self.covers_part(condition),
                _ => true,
            }),
        }
    }

    /// Whether no sample is missed that was left out because what is set did not fit: the others stand for it.
    pub(super) fn is_fair(&self) -> bool {
        self.set.iter().all(|assignment| {
            let compiled = assignment.value.compiled();
            compiled.is_constant()
                || self.has_few_sources(compiled)
                || find_stepped(compiled.text()).is_some_and(|(path, _)| path == names(&assignment.place))
        })
    }

    /// Whether samples have all values of a path that can be told apart, also where the node sets it before.
    fn covers_path(&self, path: &[String], ask: Ask<'_>) -> bool {
        let mut touching = self.set.iter().filter(|assignment| touches(&assignment.place, path));
        touching.all(|assignment| self.covers_source(assignment, path, ask)) && self.covers_given(path, ask)
    }

    /// Whether samples have all values of a path that can be told apart, before the node sets anything.
    fn covers_given(&self, path: &[String], ask: Ask<'_>) -> bool {
        let Some((shapes, rest)) = self.find_root(path) else { return false };
        let is_covered = |shape: &Shape<'_>| covers_shape(*shape, rest, ask);
        self.is_left_out(path)
            || (path.len() <= NAMES_MAX && !shapes.is_empty() && shapes.iter().all(is_covered))
    }

    /// Whether a field is not kept at the level, and so stays as it is at first.
    fn is_left_out(&self, path: &[String]) -> bool {
        let is_field = |name: &&String| !RESERVED.contains(&name.as_str()) && !name.starts_with('$');
        path.first().filter(is_field).is_some_and(|name| !self.workflow.keeps(self.level, name))
    }

    /// Whether what is put at a path is covered: a constant, a copy, a step by a number, or made of few values.
    fn covers_source(&self, assignment: &Assignment, path: &[String], ask: Ask<'_>) -> bool {
        let compiled = assignment.value.compiled();
        if !assignment.is_known() {
            return false;
        }
        if let Some(source) = plain_path(compiled.text()) {
            let behind = path.get(names(&assignment.place).len()..).unwrap_or_default();
            return self.covers_given(&[&source[..], behind].concat(), ask);
        }
        if let Some((source, step)) = find_stepped(compiled.text()) {
            return is_exact(step, ask) && self.covers_given(&source, ask);
        }
        compiled.is_constant() || self.has_few_sources(compiled)
    }

    fn has_few_sources(&self, compiled: &Compiled) -> bool {
        let reads = compiled.reads();
        !reads.whole_input
            && !reads.any_variable
            && reads.variables.is_empty()
            && !compiled.is_fickle()
            && reads.paths.iter().all(|path| self.covers_given(path, Ask::Anything))
    }

    /// Returns the shapes that a path begins at, with the names that are still to follow.
    fn find_root<'p>(&self, path: &'p [String]) -> Option<(Vec<Shape<'_>>, &'p [String])> {
        let (first, rest) = path.split_first()?;
        if let Some(name) = first.strip_prefix('$') {
            let bind = self.workflow.bind.iter().find(|bind| bind.name == name)?;
            let shapes = bind.place.segments().iter().fold(vec![self.ground.state()], follow);
            return Some((shapes, rest));
        }
        match first.as_str() {
            "input" => Some((vec![self.ground.input()?], rest)),
            "output" => Some((vec![self.ground.output_of(self.node)?], rest)),
            name if RESERVED.contains(&name) => Some((vec![self.ground.feedback()], rest)),
            _ => Some((vec![self.ground.state()], path)),
        }
    }
}

/// Follows one segment of a place; an item of a list is any of its items.
fn follow<'s>(shapes: Vec<Shape<'s>>, segment: &Segment) -> Vec<Shape<'s>> {
    let next = |shape: Shape<'s>| match segment {
        Segment::Name(name) => {
            let mut fields = shape.properties().into_iter();
            fields.find(|(field, ..)| *field == &**name).map(|(_, field, _)| field)
        }
        Segment::At(_) => shape.items(),
    };
    shapes.into_iter().flat_map(Shape::alternatives).filter_map(next).collect()
}

/// Returns the path and the number of a text that is a path with a number added or taken away.
fn find_stepped(text: &str) -> Option<(Vec<String>, f64)> {
    let (path, number) = text.rsplit_once(['+', '-'])?;
    Some((plain_path(path)?, number.trim().parse().ok()?))
}

/// Whether a step leads from a sample to just the literal that is asked for: fractions are rounded.
fn is_exact(step: f64, ask: Ask<'_>) -> bool {
    let is_whole = |literal: &Value| literal.as_f64().is_none_or(|number| number.fract() == 0.0);
    match ask {
        Ask::Equals(literal) => step.fract() == 0.0 && is_whole(literal),
        _ => true,
    }
}

fn covers_shape(shape: Shape<'_>, path: &[String], ask: Ask<'_>) -> bool {
    let alternatives = shape.alternatives();
    !alternatives.is_empty()
        && alternatives.len() < Shape::ALTERNATIVES_MAX
        && alternatives.into_iter().all(|one| covers_alternative(one, path, ask))
}

fn covers_alternative(shape: Shape<'_>, path: &[String], ask: Ask<'_>) -> bool {
    if shape.keyword("enum").is_some() || shape.keyword("const").is_some() {
        return true;
    }
    let types = shape.types();
    let Some((name, rest)) = path.split_first() else {
        return !types.is_empty() && types.into_iter().all(|name| covers_type(name, ask));
    };
    if types.is_empty() || types.contains(&"array") {
        return false;
    }
    if !types.contains(&"object") {
        return true;
    }
    match shape.properties().into_iter().find(|(field, ..)| field == name) {
        Some((_, field, _)) => covers_shape(field, rest, ask),
        None => shape.is_closed(),
    }
}

fn covers_type(name: &str, ask: Ask<'_>) -> bool {
    let is_near = |literal: &Value| literal.as_f64().is_none_or(|number| number.abs() < NUMBER_MAX);
    match (name, ask) {
        ("boolean" | "null", _) | (_, Ask::Exists) => true,
        (_, Ask::IsTrue) => name != "array",
        (_, Ask::Count(literal)) => literal.as_f64().is_none_or(|number| number < COUNT_MAX as f64),
        (_, Ask::Anything) => false,
        ("integer" | "number", Ask::Equals(literal) | Ask::Order(literal)) => is_near(literal),
        ("string", Ask::Equals(_)) => true,
        ("string", Ask::Order(literal)) => !literal.is_string(),
        ("object", Ask::Equals(literal)) => !literal.is_object(),
        _ => false,
    }
}
