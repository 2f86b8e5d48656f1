//! The schemas of what is answered, made from examples.
//!
//! The examples in `examples/` are real answers; a test compares them with what the server sends, so a field that is added
//! to a view is missing there until the examples are written again. A schema allows what all examples of its object have in
//! common, and names every field that one of them has.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Fields with content of somebody else's: their own fields are not part of the API.
const OPEN: [&str; 8] = ["data", "details", "facts", "input", "metadata", "output", "state", "usageByModel"];

/// Objects of many kinds, each with fields of its own: the schema has only those that all of them have.
const OF_MANY_KINDS: [&str; 2] = ["Event", "OutputItem"];

/// The examples, by the name of their schema.
const EXAMPLES: &str = include_str!("../examples/objects.json");

/// Bodies that were accepted, by the name of their route.
const BODIES: &str = include_str!("../examples/bodies.json");

/// Returns the examples of every object.
pub(crate) fn examples() -> Map<String, Value> {
    serde_json::from_str(EXAMPLES).expect("the examples are JSON; a test reads them")
}

/// Returns an example of the body of every route that reads one.
pub(crate) fn bodies() -> Map<String, Value> {
    serde_json::from_str(BODIES).expect("the examples are JSON; a test reads them")
}

/// Returns the schema of every object.
pub(crate) fn schemas() -> Map<String, Value> {
    let describe = |(name, examples): (&String, &Value)| {
        let examples: Vec<&Value> = examples.as_array().into_iter().flatten().collect();
        let mut schema = infer(&examples);
        if OF_MANY_KINDS.contains(&name.as_str()) {
            leave_open(&mut schema);
        }
        schema["examples"] = json!(examples.iter().take(2).collect::<Vec<_>>());
        (name.clone(), schema)
    };
    examples().iter().map(describe).collect()
}

fn leave_open(schema: &mut Value) {
    let required: Vec<Value> = schema["required"].as_array().cloned().unwrap_or_default();
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|name, _| required.iter().any(|required| required == name));
    }
    schema["additionalProperties"] = json!(true);
}

/// Returns a schema that all these values satisfy.
fn infer(values: &[&Value]) -> Value {
    let mut types: BTreeSet<&str> = values.iter().map(|value| type_of(value)).collect();
    if types.contains("number") {
        types.remove("integer");
    }
    // Where nothing was ever seen, nothing is promised.
    if types.is_empty() || types.iter().all(|found| *found == "null") {
        return json!({});
    }
    let mut schema = match types.len() {
        1 => json!({ "type": types.first() }),
        _ => json!({ "type": types }),
    };
    let objects: Vec<&Map<String, Value>> = values.iter().filter_map(|value| value.as_object()).collect();
    if !objects.is_empty() {
        describe_fields(&mut schema, &objects);
    }
    let items: Vec<&Value> =
        values.iter().filter_map(|value| value.as_array()).flat_map(|list| list.iter()).collect();
    if types.contains("array") {
        schema["items"] = infer(&items);
    }
    schema
}

fn describe_fields(schema: &mut Value, objects: &[&Map<String, Value>]) {
    let names: BTreeSet<&String> = objects.iter().flat_map(|object| object.keys()).collect();
    let mut properties = Map::new();
    for name in &names {
        let values: Vec<&Value> = objects.iter().filter_map(|object| object.get(*name)).collect();
        let property = if OPEN.contains(&name.as_str()) { json!({}) } else { infer(&values) };
        properties.insert((*name).clone(), property);
    }
    // One example shows what may be there, and not what must.
    let always = |name: &&&String| objects.iter().all(|object| object.contains_key(name.as_str()));
    let required: Vec<&&String> = names.iter().filter(always).collect();
    schema["properties"] = Value::Object(properties);
    if objects.len() > 1 && !required.is_empty() {
        schema["required"] = json!(required);
    }
}

/// Returns the type of a value, as a JSON Schema names it.
pub fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_allows_what_its_examples_have_in_common() {
        let (one, two) =
            (json!({ "id": 1, "at": null, "tags": [] }), json!({ "id": 2, "at": "x", "tags": [1, 1.5] }));
        let expected = json!({
            "type": "object",
            "properties": {
                "at": { "type": ["null", "string"] },
                "id": { "type": "integer" },
                "tags": { "type": "array", "items": { "type": "number" } }
            },
            "required": ["at", "id", "tags"]
        });
        assert_eq!(infer(&[&one, &two]), expected);
        let (nothing, open) = (json!({ "x": null }), json!({ "input": { "a": 1 } }));
        assert_eq!(infer(&[&nothing])["properties"]["x"], json!({}));
        assert_eq!(infer(&[&open])["properties"]["input"], json!({}));
    }
}
