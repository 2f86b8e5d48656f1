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

use crate::path::{PathStep, ResolvedPath};
use crate::schema::defaults::find_referred;
use crate::schema::keywords::{are_local, children_max};

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
    /// The value at the first `depth` steps of the place, by the schema at a pointer such as `#/properties/tasks`.
    Whole { depth: usize, pointer: String },
    /// Too many children at that depth.
    TooMany { depth: usize, count: usize, max: u64 },
}

/// Returns what has to be judged of a state after a change.
pub(crate) fn find_judgements(document: &Value, state: &Value, changed: Changed<'_>) -> Vec<Judgement> {
    let steps = changed.place.steps();
    let mut walk = Walk { document, found: Vec::new() };
    let mut cursors = vec!["#".to_owned()];
    let mut value = Some(state);
    for (depth, step) in steps.iter().enumerate() {
        let parent = value;
        let added = changed.added && depth + 1 == steps.len();
        cursors = walk.descend(cursors, depth, step, parent.filter(|_| added));
        value = parent.and_then(|parent| crate::path::find_along(parent, std::slice::from_ref(step)));
    }
    let depth = steps.len();
    walk.found.extend(cursors.into_iter().map(|pointer| Judgement::Whole { depth, pointer }));
    walk.found
}

struct Walk<'a> {
    document: &'a Value,
    found: Vec<Judgement>,
}

impl Walk<'_> {
    /// Leads the schemas of a value to those of one child. `grown` is the value if the child was added to it.
    fn descend(
        &mut self,
        cursors: Vec<String>,
        depth: usize,
        step: &PathStep,
        grown: Option<&Value>,
    ) -> Vec<String> {
        let mut pending = cursors;
        let mut next = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        while let Some(pointer) = pending.pop() {
            if seen.contains(&pointer) {
                continue;
            }
            let Some(Value::Object(schema)) = find_referred(self.document, &pointer) else {
                // `true` allows whatever comes, and `false` nothing: both are judged like any other schema.
                self.found.push(Judgement::Whole { depth, pointer });
                continue;
            };
            let referred = schema.get("$ref").and_then(Value::as_str);
            let leads = referred
                .is_none_or(|name| !name.contains('%') && find_referred(self.document, name).is_some());
            if !are_local(schema, pointer == "#") || !leads || seen.len() >= CURSORS_MAX {
                self.found.push(Judgement::Whole { depth, pointer });
                continue;
            }
            if let Some((count, max)) = grown.and_then(|value| children_max(schema, value))
                && count as u64 > max
            {
                self.found.push(Judgement::TooMany { depth, count, max });
            }
            pending.extend(referred.map(str::to_owned));
            next.extend(find_child(schema, &pointer, step));
            seen.push(pointer);
        }
        next
    }
}

/// Returns the pointer to the schema of a child.
fn find_child(schema: &serde_json::Map<String, Value>, pointer: &str, step: &PathStep) -> Option<String> {
    match step {
        PathStep::Key(name) => {
            let is_property =
                schema.get("properties").is_some_and(|properties| properties.get(name).is_some());
            let rest = || {
                schema.contains_key("additionalProperties").then(|| format!("{pointer}/additionalProperties"))
            };
            if is_property { Some(format!("{pointer}/properties/{}", escape(name))) } else { rest() }
        }
        PathStep::Index(index) => {
            let has_own = schema.get("prefixItems").is_some_and(|items| items.get(index).is_some());
            let rest = || schema.contains_key("items").then(|| format!("{pointer}/items"));
            if has_own { Some(format!("{pointer}/prefixItems/{index}")) } else { rest() }
        }
    }
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
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
        let told = find_judgements(&schema, &after, changed);
        let told: Vec<String> = told
            .iter()
            .map(|judgement| match judgement {
                Judgement::Whole { depth, pointer } => format!("{depth} {pointer}"),
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
