//! Where a changed place is judged: the walk from the top of a schema along the place.
//!
//! ```text
//!   tasks[3].status
//!   #  ─▶ #/properties/tasks ─▶ #/properties/tasks/items ─▶ #/$defs/task ─▶ #/$defs/task/properties/status
//! ```
//!
//! The walk stops where a schema has a word that is not local; the value there is judged whole. Otherwise only the
//! new value is judged. Several schemas may speak of one value, because a reference has words beside it.

use serde_json::Value;

use crate::path::{PathStep, ResolvedPath, find_along};
use crate::schema::chart::{Chart, PartId, Ways};

/// The most schemas that speak of one place; each reference adds one.
const CURSORS_MAX: usize = 64;

/// A place that was set.
#[derive(Debug, Clone, Copy)]
pub struct Changed<'a> {
    /// The place.
    pub place: &'a ResolvedPath,
    /// Whether nothing was there before.
    pub added: bool,
}

/// What has to be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// The value at the first `depth` steps of the place, by a part of the schema.
    Whole { depth: usize, part: PartId },
    /// Too many children at that depth.
    TooMany { depth: usize, count: usize, max: u64 },
}

/// Finds what has to be judged after changes, one after the other.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    chart: &'a Chart,
    found: Vec<Judgement>,
    /// The parts that speak of the value that the walk is at.
    at: Vec<PartId>,
    /// Those of the child that it goes to, and those that were looked at; both are lists to write on, used again.
    next: Vec<PartId>,
    seen: Vec<PartId>,
}

impl<'a> Walk<'a> {
    /// Makes a walk that is yet to go anywhere.
    pub(crate) fn new(chart: &'a Chart) -> Self {
        Walk { chart, found: Vec::new(), at: Vec::new(), next: Vec::new(), seen: Vec::new() }
    }

    /// Returns what has to be judged of a state after a change.
    pub(crate) fn find_judgements(&mut self, state: &Value, changed: Changed<'_>) -> &[Judgement] {
        let steps = changed.place.steps();
        self.found.clear();
        self.at.clear();
        self.at.push(Chart::ROOT);
        for (depth, step) in steps.iter().enumerate() {
            let added = changed.added && depth + 1 == steps.len();
            let grown = if added { find_along(state, &steps[..depth]) } else { None };
            self.descend(depth, step, grown);
        }
        let depth = steps.len();
        self.found.extend(self.at.iter().map(|part| Judgement::Whole { depth, part: *part }));
        &self.found
    }

    /// Goes from a value to one of its children. `grown` is the value if the child was added to it.
    fn descend(&mut self, depth: usize, step: &PathStep, grown: Option<&Value>) {
        self.next.clear();
        self.seen.clear();
        while let Some(part) = self.at.pop() {
            if self.seen.contains(&part) {
                continue;
            }
            let is_bounded = self.seen.len() < CURSORS_MAX;
            let Some(ways) = self.chart.part(part).ways.as_ref().filter(|_| is_bounded) else {
                self.found.push(Judgement::Whole { depth, part });
                continue;
            };
            if let Some((count, max)) = grown.and_then(|value| children_max(ways, value))
                && count as u64 > max
            {
                self.found.push(Judgement::TooMany { depth, count, max });
            }
            self.at.extend(ways.referred);
            self.next.extend(match step {
                PathStep::Key(name) => ways.find_field(name),
                PathStep::Index(index) => ways.find_item(*index),
            });
            self.seen.push(part);
        }
        std::mem::swap(&mut self.at, &mut self.next);
    }
}

/// Returns how many children a value has, and the most that a schema allows one of its kind.
fn children_max(ways: &Ways, value: &Value) -> Option<(usize, u64)> {
    match value {
        Value::Array(items) => Some((items.len(), ways.items_max?)),
        Value::Object(fields) => Some((fields.len(), ways.fields_max?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn check(schema: Value, state: Value, place: Value, expected: Expect) {
        let place: ResolvedPath = serde_json::from_value(place).unwrap();
        let mut after = state.clone();
        let before = crate::patch::set(&mut after, &place, json!(0)).unwrap();
        let changed = Changed { place: &place, added: before.is_none() };
        let chart = Chart::draw(&schema);
        let told: Vec<String> = Walk::new(&chart)
            .find_judgements(&after, changed)
            .iter()
            .map(|judgement| match judgement {
                Judgement::Whole { depth, part } => format!("{depth} {}", chart.part(*part).pointer),
                Judgement::TooMany { depth, count, max } => format!("{depth} {count} of {max}"),
            })
            .collect();
        expected.assert_eq(&told.join(", "));
    }

    #[test]
    fn local_words_lead_to_the_changed_place_alone() {
        let schema = json!({
            "type": "object",
            "properties": { "tasks": { "items": { "$ref": "#/$defs/task" }, "minItems": 1 } },
            "$defs": { "task": { "properties": { "a/b": {} }, "additionalProperties": false } }
        });
        let state = json!({ "tasks": [{ "a/b": 1 }] });
        check(
            schema.clone(),
            state.clone(),
            json!(["tasks", 0, "a/b"]),
            expect!["3 #/$defs/task/properties/a~1b"],
        );
        check(
            schema.clone(),
            state.clone(),
            json!(["tasks", 0, "c"]),
            expect!["3 #/$defs/task/additionalProperties"],
        );
        check(schema.clone(), state.clone(), json!(["tasks", 1]), expect!["2 #/properties/tasks/items"]);
        check(schema, state, json!(["free"]), expect![""]);
    }

    #[test]
    fn another_word_stops_the_walk() {
        let schema = json!({ "properties": { "a": { "properties": { "b": {} }, "anyOf": [true] }, "c": { "enum": [1] } } });
        check(schema.clone(), json!({ "a": { "b": 1 } }), json!(["a", "b"]), expect!["1 #/properties/a"]);
        check(schema, json!({ "c": 1 }), json!(["c"]), expect!["1 #/properties/c"]);
        check(json!({ "if": {} }), json!({}), json!(["c"]), expect!["0 #"]);
        check(json!({ "$ref": "#other" }), json!({}), json!(["c"]), expect!["0 #"]);
    }

    #[test]
    fn every_word_that_is_not_known_to_be_local_stops_the_walk() {
        let words = [
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "enum",
            "const",
            "uniqueItems",
            "contains",
            "minContains",
            "maxContains",
            "patternProperties",
            "propertyNames",
            "dependentRequired",
            "dependentSchemas",
            "unevaluatedProperties",
            "unevaluatedItems",
            "$dynamicRef",
            "$id",
            "$anchor",
            "unheard-of",
        ];
        for word in words {
            let schema = json!({ "properties": { "a": { "items": {}, word: true } } });
            check(schema, json!({ "a": [1] }), json!(["a", 0]), expect!["1 #/properties/a"]);
        }
    }

    #[test]
    fn children_are_counted_when_one_is_added() {
        let schema = json!({ "properties": { "a": { "maxItems": 1, "prefixItems": [true] } } });
        check(
            schema.clone(),
            json!({ "a": [5] }),
            json!(["a", 0]),
            expect!["2 #/properties/a/prefixItems/0"],
        );
        check(schema, json!({ "a": [5] }), json!(["a", 1]), expect!["1 2 of 1"]);
    }

    #[test]
    fn references_that_go_round_end() {
        let schema = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } });
        check(schema, json!({}), json!(["c"]), expect![""]);
    }
}
