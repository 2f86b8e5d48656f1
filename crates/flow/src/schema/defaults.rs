//! The defaults that a schema gives, read along `properties` and references within the schema.

use serde_json::{Map, Value};

/// The deepest nesting of defaults; a schema may refer to itself.
const DEPTH_MAX: usize = 16;

/// Returns the object that the defaults of a schema's properties make.
pub(crate) fn initial(document: &Value) -> Value {
    find_default(document, document, 0).filter(Value::is_object).unwrap_or_else(|| Map::new().into())
}

/// Adds the defaults of fields that a value does not have.
pub(crate) fn fill(document: &Value, value: &mut Value) {
    fill_from(document, document, value, 0);
}

/// Returns what a reference within the document points at.
pub(crate) fn find_referred<'d>(document: &'d Value, reference: &str) -> Option<&'d Value> {
    document.pointer(reference.strip_prefix('#')?)
}

fn find_default(document: &Value, schema: &Value, depth: usize) -> Option<Value> {
    if depth > DEPTH_MAX {
        return None;
    }
    if let Some(default) = schema.get("default") {
        return Some(default.clone());
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let default =
            |(name, schema)| Some((String::clone(name), find_default(document, schema, depth + 1)?));
        let fields: Map<String, Value> = properties.iter().filter_map(default).collect();
        return (!fields.is_empty()).then(|| fields.into());
    }
    let referred = find_referred(document, schema.get("$ref")?.as_str()?)?;
    find_default(document, referred, depth + 1)
}

fn fill_from(document: &Value, schema: &Value, value: &mut Value, depth: usize) {
    let Value::Object(fields) = value else { return };
    if depth > DEPTH_MAX {
        return;
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (name, schema) in properties {
            match fields.get_mut(name) {
                Some(field) => fill_from(document, schema, field, depth + 1),
                None => fields
                    .extend(find_default(document, schema, depth + 1).map(|value| (name.clone(), value))),
            }
        }
    }
    let referred = schema.get("$ref").and_then(Value::as_str).and_then(|name| find_referred(document, name));
    if let Some(referred) = referred {
        fill_from(document, referred, value, depth + 1);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_are_nested_and_follow_references() {
        let schema = json!({
            "properties": {
                "a": { "default": 1 },
                "b": { "properties": { "c": { "$ref": "#/$defs/two" }, "d": {} } },
                "e": { "properties": { "f": {} } },
                "g": { "$ref": "#" }
            },
            "$defs": { "two": { "default": 2 } }
        });
        let depth_of = |value: &Value| {
            let mut depth = 0;
            let mut value = value;
            while let Some(next) = value.get("g") {
                (depth, value) = (depth + 1, next);
            }
            depth
        };
        let found = initial(&schema);
        assert_eq!((&found["a"], &found["b"], found.get("e")), (&json!(1), &json!({ "c": 2 }), None));
        assert!(depth_of(&found) < DEPTH_MAX);
        assert_eq!(initial(&json!({ "default": 3 })), json!({}));
    }

    #[test]
    fn only_missing_fields_are_filled() {
        let schema = json!({ "properties": { "a": { "default": 1 }, "b": { "properties": { "c": { "default": 2 } } } } });
        let mut value = json!({ "a": null, "b": {} });
        fill(&schema, &mut value);
        assert_eq!(value, json!({ "a": null, "b": { "c": 2 } }));
    }
}
