//! Counts what an evaluation builds, and stops it before it builds too much.
//!
//! The engine bounds each array and each string, but not their total, and it allocates a range before it checks the
//! bound. So an evaluation that may build something is traced: the ledger sees each value when its node ends, adds up
//! what was built, and checks the ends of a range before the range exists. The count never goes down. That is rough,
//! simple and the same on every machine.
//!
//! A tracer cannot return an error, and the engine checks for cancellation only before a node, which is too late for
//! a range. So the ledger stops by unwinding, with its own payload and without the panic hook; `guard.rs` catches it.

use std::panic::resume_unwind;

use jlens_core::ast::BinaryOp;
use jlens_core::audit::{Outcome, Tracer, ValueRef};
use jlens_core::{Node, NodeKind};
use serde_json::Value;

use crate::account::Account;
use crate::count::{Count, count, holds_more_than, text_bytes};
use crate::fault::{Fault, Span};
use crate::guard::Stop;
use crate::hazards::{self, Hazards, Toil};
use crate::limits::{Limit, Limits, VALUES_MAX};
use crate::pattern::Cost;
use crate::weight::{CONTAINER_BYTES, FIELD_BYTES, WHOLE, Weight};

/// How many values are looked at in the time of a step.
const VALUES_PER_STEP: usize = 32;

/// How many values are copied, to be counted, in the time of a step.
const COPIES_PER_STEP: usize = 8;

/// How many pairs of scalars are compared in the time of a step.
const PAIRS_PER_STEP: usize = 256;

/// How many values within other values are compared in the time of a step: a field has to be looked up first.
const NESTED_PER_STEP: usize = 64;

/// The most values that may stand on both sides of a comparison, or among which the same ones are looked for: it is one
/// step, in which no clock is read. A state of 1 MB has about as many.
const COMPARED_VALUES_MAX: usize = 40_000;

/// The most values that a built value may stand for. Whatever looks at a value may go through all of it in one step, even
/// to name it in an error. A result of 1 MB has about as many.
const BUILT_VALUES_MAX: usize = 100_000;

/// The longest texts, in bytes, that a built value may stand for in all: as with values, each look at it may go through
/// all of them. A result may have a quarter.
const BUILT_TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The share of them that an input may have before its parts are no longer taken for something built.
const GIVEN_TEXT_SHARE: usize = 2;

/// A text that is longer is looked for within what holds many values; shorter ones are part of what a value costs.
const LONG_TEXT_BYTES: usize = 4 * 1024;

/// How many bytes of texts are held against each other in the time of a step, where most differ early.
const COMPARED_BYTES_PER_STEP: usize = 16 * 1024;

/// The most names of fields that the objects of an array have, if they are too many to be counted.
const NAMES_MAX: usize = 256;

/// How many bytes of a string are looked at in the time of a step.
const BYTES_PER_STEP: usize = 512;

/// The longest text in which a pattern is looked for again and again: the time grows with its square.
const SEARCHED_BYTES_MAX: usize = 8 * 1024;

/// How much of the square of such a text's length is done in the time of a step.
const SEARCHED_SQUARE_PER_STEP: usize = 32 * 1024;

/// The longest text that is taken apart: it may come to a string for each character.
const SPLIT_BYTES_MAX: usize = 256 * 1024;

/// The share of the memory that a replacement may take before the engine looks at its length.
const REPLACED_SHARE: usize = 4;

/// The longest regular expression, in bytes: compiling one takes stack for each of its parts.
const PATTERN_BYTES_MAX: usize = 1_000;

/// The longest picture of a number or a date, in bytes: a piece of three bytes becomes some hundred, and the engine breaks
/// off inside at 65,536 digits.
const PICTURE_BYTES_MAX: usize = 1_000;

/// How many bytes of a picture are gone by in the time of a step.
const PICTURE_BYTES_PER_STEP: usize = 2;

/// The most values that all arguments of a call hold, in multiples of the items of an array: a call may go over all of
/// them side by side.
const ARGUMENTS_MAX: usize = 10;

/// Follows one evaluation.
pub(crate) struct Ledger<'a> {
    limits: &'a Limits,
    hazards: Hazards,
    input: Option<&'a Value>,
    /// How long the texts of the input are, once that matters.
    given_text_bytes: Option<usize>,
    /// Whether a long text was seen: it may be within anything from then on.
    has_long_text: bool,
    built_bytes: usize,
    toil_steps: u64,
    open: Vec<Open>,
    account: Option<Account>,
}

/// A node that has been entered and not left.
struct Open {
    /// Where it stands.
    at: Span,
    /// Whether it may build a string, an array or an object.
    builds: bool,
    /// How hard it looks at its operands.
    toil: Option<Toil>,
    /// The items of its operands so far.
    operand_items: usize,
    /// The longest text among its operands so far, in bytes.
    operand_bytes: usize,
    /// Whether what its parts come to is held until all of them are known, as in a path of several steps.
    gathers: bool,
    /// How long the texts are that it gathered so far, in bytes.
    gathered_bytes: usize,
    /// The left end of a range, once it is known.
    range: Option<Option<f64>>,
}

impl<'a> Ledger<'a> {
    pub(crate) fn new(
        limits: &'a Limits,
        hazards: Hazards,
        input: Option<&'a Value>,
        account: Option<Account>,
    ) -> Ledger<'a> {
        Ledger {
            limits,
            hazards,
            input,
            given_text_bytes: None,
            has_long_text: false,
            built_bytes: 0,
            toil_steps: 0,
            open: Vec::new(),
            account,
        }
    }

    pub(crate) fn finish(self) -> Option<Account> {
        self.account
    }

    /// Returns the place of the node that is being evaluated.
    pub(crate) fn place(&self) -> Option<Span> {
        self.open.last().map(|open| open.at)
    }

    /// Adds what a node built.
    fn note_value(&mut self, node: &Node, value: ValueRef<'_>) {
        let bytes = match Weight::of(value) {
            Weight::Scalar => return,
            Weight::Text { bytes } => {
                self.has_long_text |= bytes > LONG_TEXT_BYTES;
                CONTAINER_BYTES + bytes
            }
            Weight::Container { values, .. } if values > self.limits.values => {
                stop(node, Limit::Values, self.limits.values as u64, "U1001")
            }
            Weight::Container { values, .. } if self.hazards.builds_nested => values * FIELD_BYTES,
            Weight::Container { own_bytes, .. } => own_bytes,
        };
        self.bound_built(node, value);
        self.built_bytes = self.built_bytes.saturating_add(bytes);
        if self.built_bytes > self.limits.memory_bytes {
            stop(node, Limit::Memory, self.limits.memory_bytes as u64, "U1001");
        }
    }

    /// Stops if a value stands for far more than was built: it holds others many times over. Parts of a large input are
    /// large without that, so there the weight has to do.
    fn bound_built(&mut self, node: &Node, value: ValueRef<'_>) {
        let is_container = matches!(value.type_name(), "array" | "object");
        if !is_container || self.limits.values > VALUES_MAX {
            return;
        }
        if reads_input(node) {
            if let Weight::Container { width, .. } = Weight::of(value) {
                self.charge(node, width / VALUES_PER_STEP);
            }
            return;
        }
        let found = count(value, BUILT_VALUES_MAX, BUILT_TEXT_BYTES_MAX);
        self.charge(node, found.copied / COPIES_PER_STEP);
        if found.bytes > BUILT_TEXT_BYTES_MAX {
            return self.bound_texts(node);
        }
        if !found.is_all && !self.input.is_some_and(|input| holds_more_than(input, BUILT_VALUES_MAX)) {
            stop(node, Limit::Values, BUILT_VALUES_MAX as u64, "U1001");
        }
    }

    /// Stops because texts are longer than those of the input, unless that has long ones itself.
    fn bound_texts(&mut self, node: &Node) {
        if self.given_text_bytes() <= BUILT_TEXT_BYTES_MAX / GIVEN_TEXT_SHARE {
            stop(node, Limit::Memory, BUILT_TEXT_BYTES_MAX as u64, "U1001");
        }
    }

    fn given_text_bytes(&mut self) -> usize {
        let input = self.input;
        *self.given_text_bytes.get_or_insert_with(|| input.map_or(0, text_bytes))
    }

    /// Stops a path that reads a text again and again: each time it is copied, and none is let go before the last.
    fn gather(&mut self, node: &Node, value: ValueRef<'_>) {
        let Some(Open { gathers: true, gathered_bytes, .. }) = self.open.last_mut() else { return };
        let Weight::Text { bytes } = Weight::of(value) else { return };
        *gathered_bytes += bytes;
        let gathered = *gathered_bytes;
        self.has_long_text |= bytes > LONG_TEXT_BYTES;
        if gathered > BUILT_TEXT_BYTES_MAX
            && gathered > self.given_text_bytes().saturating_mul(GIVEN_TEXT_SHARE)
        {
            stop(node, Limit::Memory, BUILT_TEXT_BYTES_MAX as u64, "U1001");
        }
    }

    /// Adds what it costs the open node to look at an operand.
    fn toil(&mut self, node: &Node, value: ValueRef<'_>) {
        let Some(toil) = self.open.last().and_then(|open| open.toil) else { return };
        if toil == Toil::Lookup && value.type_name() != "array" {
            return;
        }
        let steps = match Weight::of(value) {
            Weight::Scalar if toil == Toil::Pad => return self.bound_padding(node, value),
            Weight::Scalar => return,
            Weight::Text { bytes } if toil == Toil::Search => self.search(node, bytes),
            Weight::Text { bytes } if toil == Toil::Contains => self.contains(node, bytes),
            Weight::Text { bytes } if toil == Toil::Picture => self.picture(node, bytes),
            Weight::Text { bytes } => bytes / BYTES_PER_STEP,
            Weight::Container { values, width, .. } => {
                self.bound_operands(node, width);
                values / VALUES_PER_STEP
                    + match toil {
                        Toil::Distinct => self.distinct(node, value, width),
                        Toil::Keys => self.keys(node, value),
                        _ if self.has_long_text => self.count(node, value).bytes / BYTES_PER_STEP,
                        _ => 0,
                    }
            }
        };
        self.charge(node, steps);
    }

    /// Adds steps that the engine does not count.
    fn charge(&mut self, node: &Node, steps: usize) {
        self.toil_steps = self.toil_steps.saturating_add(steps as u64);
        if self.toil_steps > self.limits.steps {
            stop(node, Limit::Steps, self.limits.steps, "U1006");
        }
    }

    /// Counts what is compared as a whole, which costs steps of its own.
    fn count(&mut self, node: &Node, value: ValueRef<'_>) -> Count {
        let found = count(value, COMPARED_VALUES_MAX, BUILT_TEXT_BYTES_MAX);
        self.charge(node, found.copied / COPIES_PER_STEP);
        if found.bytes > BUILT_TEXT_BYTES_MAX {
            self.bound_texts(node);
        }
        found
    }

    /// Returns the steps of looking for the same ones among so many items: each may have to be compared with each other,
    /// to the last of what they hold.
    fn distinct(&mut self, node: &Node, value: ValueRef<'_>, width: usize) -> usize {
        let pairs = width.saturating_mul(width) / 2;
        let found = self.count(node, value);
        let nested = found.values.saturating_sub(width + 1);
        let steps = pairs / PAIRS_PER_STEP
            + width.saturating_mul(nested) / 2 / NESTED_PER_STEP
            + width.saturating_mul(found.bytes) / 2 / COMPARED_BYTES_PER_STEP;
        if !found.is_all {
            self.charge(node, steps);
            stop(node, Limit::Values, COMPARED_VALUES_MAX as u64, "U1001");
        }
        steps
    }

    /// Returns the steps of looking for each name of a field among those that were found before.
    fn keys(&mut self, node: &Node, value: ValueRef<'_>) -> usize {
        let found = self.count(node, value);
        if !found.is_all && found.names > NAMES_MAX {
            stop(node, Limit::Values, COMPARED_VALUES_MAX as u64, "U1001");
        }
        found.values.saturating_mul(found.names) / 2 / PAIRS_PER_STEP
    }

    /// Stops a comparison that would go through too much: as much as both of its sides hold.
    fn bound_comparison(&mut self, node: &Node, left: ValueRef<'_>, right: ValueRef<'_>) {
        let is_deep = matches!(&node.kind, NodeKind::Binary { op: BinaryOp::Eq | BinaryOp::Ne, .. });
        let is_container = matches!(left.type_name(), "array" | "object");
        if !is_deep || !is_container || left.type_name() != right.type_name() {
            return;
        }
        if !self.count(node, left).is_all && !self.count(node, right).is_all {
            stop(node, Limit::Values, COMPARED_VALUES_MAX as u64, "U1001");
        }
    }

    /// Adds what it costs to look for a name in all items of an array, and of the arrays in it.
    fn look_through(&mut self, node: &Node, input: ValueRef<'_>) {
        if goes_over(node) {
            self.go_over(node, input);
        } else if matches!(node.kind, NodeKind::Name { .. }) && input.type_name() == "array" {
            let found = self.count(node, input);
            self.charge(node, found.values / VALUES_PER_STEP);
        }
    }

    /// Adds what it costs to go over all fields or items in one go.
    fn go_over(&mut self, node: &Node, value: ValueRef<'_>) {
        if let Weight::Container { width, .. } = Weight::of(value) {
            self.charge(node, width / VALUES_PER_STEP);
        }
    }

    /// Stops if a pattern is too long, or one in the text of an `$eval` that costs more than those that were seen before.
    fn bound_pattern(&self, node: &Node, pattern: &str) {
        let cost = Cost::of(pattern);
        if pattern.len() > PATTERN_BYTES_MAX || cost.or(self.hazards.pattern) != self.hazards.pattern {
            stop(node, Limit::PatternSize, PATTERN_BYTES_MAX as u64, "U1001");
        }
    }

    /// Returns the steps of holding a text against a pattern once, and stops if it is too long for that.
    fn contains(&self, node: &Node, bytes: usize) -> usize {
        if let Some(bytes_max) = self.hazards.pattern.text_bytes_max().filter(|bytes_max| bytes > *bytes_max)
        {
            stop(node, Limit::StringSize, bytes_max as u64, "U1001");
        }
        bytes / BYTES_PER_STEP
    }

    /// Returns the steps of searching a text, and stops if it would be made into too much.
    fn search(&mut self, node: &Node, bytes: usize) -> usize {
        self.contains(node, bytes);
        let has_pattern = self.hazards.has_pattern;
        let bytes_max = if has_pattern { SEARCHED_BYTES_MAX } else { SPLIT_BYTES_MAX };
        if bytes > bytes_max {
            stop(node, Limit::StringSize, bytes_max as u64, "U1001");
        }
        let Some(open) = self.open.last_mut() else { return 0 };
        if open.operand_bytes.saturating_mul(bytes) > self.limits.memory_bytes / REPLACED_SHARE {
            stop(node, Limit::StringSize, self.limits.string_bytes as u64, "U1001");
        }
        open.operand_bytes = open.operand_bytes.max(bytes);
        if has_pattern { bytes * bytes / SEARCHED_SQUARE_PER_STEP } else { bytes / BYTES_PER_STEP }
    }

    /// Returns the steps of going by a picture, and stops if it is no picture that anybody would write.
    fn picture(&self, node: &Node, bytes: usize) -> usize {
        if bytes > PICTURE_BYTES_MAX {
            stop(node, Limit::StringSize, PICTURE_BYTES_MAX as u64, "U1001");
        }
        bytes / PICTURE_BYTES_PER_STEP
    }

    fn bound_padding(&self, node: &Node, value: ValueRef<'_>) {
        let width = value.capture(&WHOLE).as_ref().and_then(Value::as_f64);
        if width.is_some_and(|width| width.abs() > self.limits.string_bytes as f64) {
            stop(node, Limit::StringSize, self.limits.string_bytes as u64, "D2016");
        }
    }

    fn bound_operands(&mut self, node: &Node, width: usize) {
        let items_max = self.limits.items.saturating_mul(ARGUMENTS_MAX);
        let Some(open) = self.open.last_mut() else { return };
        open.operand_items += width;
        if open.operand_items > items_max {
            stop(node, Limit::Items, items_max as u64, "U1001");
        }
    }

    /// Looks at an end of a range; at the second one, stops if the range would be too long.
    fn bound_range(&mut self, node: &Node, value: ValueRef<'_>) {
        let Some(Open { range: Some(left), .. }) = self.open.last_mut() else { return };
        let end = value.capture(&WHOLE).as_ref().and_then(Value::as_f64);
        match (*left, end) {
            (None, _) => *left = Some(end.unwrap_or(f64::NAN)),
            (Some(left), Some(right)) if right - left + 1.0 > self.limits.items as f64 => {
                stop(node, Limit::Items, self.limits.items as u64, "D2014");
            }
            _ => {}
        }
    }
}

impl Tracer for Ledger<'_> {
    fn enter(&mut self, node: &Node, input: ValueRef<'_>) {
        if let NodeKind::Regex { pattern, .. } = &node.kind {
            self.bound_pattern(node, pattern);
        }
        if self.hazards.is_followed() {
            self.look_through(node, input);
        }
        self.open.push(open(node, input));
        if let Some(account) = &mut self.account {
            account.enter(node);
        }
    }

    fn exit(&mut self, node: &Node, outcome: Outcome<'_>) {
        let left = self.open.pop();
        if let Some(account) = &mut self.account {
            account.exit(node, outcome);
        }
        let Outcome::Value(value) = outcome else { return };
        if !self.hazards.is_followed() {
            return;
        }
        if goes_over(node) {
            self.go_over(node, value);
        }
        self.gather(node, value);
        self.toil(node, value);
        let builds = left.is_some_and(|left| left.builds);
        if self.hazards.is_plain {
            // It builds nothing, but may read one thing many times over.
            if builds {
                self.bound_built(node, value);
            }
            return;
        }
        if builds {
            self.note_value(node, value);
        }
        self.bound_range(node, value);
    }

    fn operands(&mut self, node: &Node, left: ValueRef<'_>, right: ValueRef<'_>) {
        if self.hazards.is_followed() {
            self.bound_comparison(node, left, right);
        }
        if let Some(account) = &mut self.account {
            account.compare(left, right);
        }
    }

    fn short_circuit(&mut self, _: &Node) {
        if let Some(account) = &mut self.account {
            account.short_circuit();
        }
    }

    fn steps(&mut self, steps: u64) {
        if let Some(account) = &mut self.account {
            account.count_steps(steps);
        }
    }
}

fn stop(node: &Node, which: Limit, bound: u64, code: &str) -> ! {
    let at = Some(Span::from(node.span));
    resume_unwind(Box::new(Stop(Fault::Limit { which, bound, code: code.to_owned(), at })))
}

fn open(node: &Node, input: ValueRef<'_>) -> Open {
    let is_range = matches!(node.kind, NodeKind::Binary { op: BinaryOp::Range, .. });
    Open {
        at: node.span.into(),
        builds: is_range || may_build(node, input),
        toil: hazards::toil_of(node),
        operand_items: 0,
        operand_bytes: 0,
        gathers: matches!(&node.kind, NodeKind::Path { steps, .. } if steps.len() > 1),
        gathered_bytes: 0,
        range: is_range.then_some(None),
    }
}

/// Whether a node goes over all that a value holds in one step.
fn goes_over(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Wildcard | NodeKind::Descendant)
}

fn may_build(node: &Node, input: ValueRef<'_>) -> bool {
    match &node.kind {
        NodeKind::Path { steps, .. } => !reads_one_field(steps, input),
        NodeKind::Binary { op: BinaryOp::Concat, .. }
        | NodeKind::Array { .. }
        | NodeKind::Object { .. }
        | NodeKind::Wildcard
        | NodeKind::Descendant
        | NodeKind::Function { .. }
        | NodeKind::Apply { .. } => true,
        _ => node.attrs.group.is_some() || !node.attrs.predicate.is_empty(),
    }
}

/// Whether a path is fields of the input from its top, such as `$$.tasks`: each part is there once.
fn reads_input(node: &Node) -> bool {
    let NodeKind::Path { steps, .. } = &node.kind else { return false };
    let [first, fields @ ..] = steps.as_slice() else { return false };
    let is_plain = |step: &Node| {
        let attrs = &step.attrs;
        !attrs.tuple && attrs.stages.is_empty() && attrs.predicate.is_empty() && attrs.group.is_none()
    };
    matches!(&first.kind, NodeKind::Variable { name } if name == "$")
        && is_plain(first)
        && is_plain(node)
        && fields.iter().all(|step| matches!(step.kind, NodeKind::Name { .. }) && is_plain(step))
}

/// Whether a path is one field of one object, such as `tasks`: nothing is built, and the field need not be read.
fn reads_one_field(steps: &[Node], input: ValueRef<'_>) -> bool {
    let [step] = steps else { return false };
    matches!(step.kind, NodeKind::Name { .. })
        && step.attrs.stages.is_empty()
        && step.attrs.group.is_none()
        && input.type_name() != "array"
}
