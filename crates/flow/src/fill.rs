//! What a file of another program leaves out although its schema requires it: an empty list or an empty text says the same.
//!
//! Only what means nothing is filled in. A time, a number or one of a few words would be made up.

use serde_json::{Map, Value};

use crate::path::{PathStep, ResolvedPath};

/// The most that is filled in one value; a list of a million items may lack as much.
const FILLED_MAX: usize = 10_000;
/// Schemas may refer to themselves.
const LEVELS_MAX: usize = 32;

/// Fills a value that belongs at a place of a state with this schema; returns the paths that were filled.
pub(crate) fn fill(schema: &Value, place: &ResolvedPath, value: &mut Value) -> Vec<ResolvedPath> {
    let mut filling = Filling { root: schema, filled: Vec::new() };
    let mut part = schema;
    for step in place.steps() {
        let below = match step {
            PathStep::Key(name) => {
                filling.resolve(part, &Value::Object(Map::new())).pointer_to("properties", name)
            }
            PathStep::Index(_) => filling.resolve(part, &Value::Array(Vec::new())).0.get("items"),
        };
        let Some(below) = below else { return Vec::new() };
        part = below;
    }
    filling.fill(part, value, &mut ResolvedPath::default(), 0);
    filling.filled
}

struct Filling<'s> {
    root: &'s Value,
    filled: Vec<ResolvedPath>,
}

/// A schema that refers to no other.
struct Resolved<'s>(&'s Value);

impl<'s> Resolved<'s> {
    fn pointer_to(&self, keyword: &str, name: &str) -> Option<&'s Value> {
        self.0.get(keyword)?.get(name)
    }
}

impl<'s> Filling<'s> {
    /// Follows references, and chooses the alternative for values of this type.
    fn resolve(&self, schema: &'s Value, value: &Value) -> Resolved<'s> {
        let mut schema = schema;
        for _ in 0..LEVELS_MAX {
            let alternatives = ["anyOf", "oneOf"].into_iter().find_map(|word| schema.get(word)?.as_array());
            let reference = schema.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix('#'));
            schema = match (reference.and_then(|at| self.root.pointer(at)), alternatives) {
                (Some(referred), _) => referred,
                (None, Some(all)) => {
                    let is_meant = |one: &&Value| type_of(self.resolve(one, value).0) == Some(name_of(value));
                    match all.iter().find(is_meant) {
                        Some(meant) => meant,
                        None => break,
                    }
                }
                (None, None) => break,
            };
        }
        Resolved(schema)
    }

    fn fill(&mut self, schema: &'s Value, value: &mut Value, path: &mut ResolvedPath, level: usize) {
        if level > LEVELS_MAX || self.filled.len() >= FILLED_MAX {
            return;
        }
        let schema = self.resolve(schema, value);
        match value {
            Value::Object(fields) => {
                let required = schema.0.get("required").and_then(Value::as_array).into_iter().flatten();
                for name in required.filter_map(Value::as_str) {
                    if fields.contains_key(name) {
                        continue;
                    }
                    let Some(part) = schema.pointer_to("properties", name) else { continue };
                    if let Some(nothing) = self.nothing(part) {
                        fields.insert(name.to_owned(), nothing);
                        let mut filled = path.clone();
                        filled.0.push(PathStep::Key(name.into()));
                        self.filled.push(filled);
                    }
                }
                for (name, value) in fields {
                    let Some(part) = schema.pointer_to("properties", name) else { continue };
                    path.0.push(PathStep::Key(name.as_str().into()));
                    self.fill(part, value, path, level + 1);
                    path.0.pop();
                }
            }
            Value::Array(items) => {
                let Some(part) = schema.0.get("items") else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    path.0.push(PathStep::Index(index));
                    self.fill(part, item, path, level + 1);
                    path.0.pop();
                }
            }
            _ => {}
        }
    }

    /// Returns the value that says nothing, if this schema allows one.
    fn nothing(&self, schema: &'s Value) -> Option<Value> {
        let list = Value::Array(Vec::new());
        if type_of(self.resolve(schema, &list).0) == Some("array") {
            return Some(list);
        }
        let text = Value::String(String::new());
        let found = self.resolve(schema, &text).0;
        let is_free =
            ["enum", "const", "pattern", "format", "minLength"].iter().all(|word| found.get(word).is_none());
        (type_of(found) == Some("string") && is_free).then_some(text)
    }
}

fn type_of(schema: &Value) -> Option<&str> {
    schema.get("type").and_then(Value::as_str)
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_means_nothing_is_filled_in() {
        let schema = json!({
            "properties": { "plan": { "anyOf": [{ "$ref": "#/$defs/Plan" }, { "type": "null" }] } },
            "$defs": {
                "Plan": {
                    "type": "object",
                    "required": ["tasks", "effort", "at"],
                    "properties": {
                        "tasks": { "type": "array", "items": { "$ref": "#/$defs/Task" } },
                        "effort": { "type": "string" },
                        "at": { "type": "string", "pattern": "^2" },
                    },
                },
                "Task": {
                    "type": "object",
                    "required": ["on", "size", "count"],
                    "properties": {
                        "on": { "type": "array" }, "size": { "enum": ["small"] }, "count": { "type": "integer" },
                    },
                },
            },
        });
        let place = ResolvedPath(vec![PathStep::Key("plan".into())]);
        let mut plan = json!({ "tasks": [{ "on": ["a"] }, { "size": "small" }] });
        let filled: Vec<String> = fill(&schema, &place, &mut plan).iter().map(ToString::to_string).collect();
        assert_eq!(filled, ["effort", "tasks[1].on"]);
        assert_eq!(plan, json!({ "tasks": [{ "on": ["a"] }, { "size": "small", "on": [] }], "effort": "" }));
        let mut other = json!("a plan");
        assert!(fill(&schema, &place, &mut other).is_empty());
        assert!(fill(&schema, &ResolvedPath(vec![PathStep::Key("x".into())]), &mut other).is_empty());
    }
}
