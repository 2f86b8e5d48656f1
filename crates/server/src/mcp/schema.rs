//! The arguments of a tool: the parts of the path, the parameters and the fields of the body of its route, side by side.

use crate::route::{Kind, Route};
use regatta_mcp::JsonObject;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Where the arguments of a route go.
pub(super) struct Places {
    pub(super) path: Vec<&'static str>,
    pub(super) query: BTreeSet<&'static str>,
}

impl Places {
    pub(super) fn of(route: &Route) -> Self {
        let path = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        Places { path: path.collect(), query: route.parameters.iter().map(|known| known.name).collect() }
    }
}

/// Returns the schema of the arguments of a route.
pub(super) fn schema_of(route: &Route) -> JsonObject {
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    let mut whole = Map::new();
    for name in Places::of(route).path {
        let schema = match name {
            "id" | "step" => json!({ "type": ["integer", "string"], "description": "The number" }),
            "slug" => json!({ "type": "string", "description": "The slug of the PRD" }),
            _ => json!({ "type": "string", "description": "The name" }),
        };
        properties.insert(name.to_owned(), schema);
        required.push(name.into());
    }
    for parameter in &route.parameters {
        let kind = match parameter.kind {
            Kind::Text => "string",
            Kind::Number | Kind::UpTo(_) => "integer",
            Kind::Flag => "boolean",
        };
        let schema = json!({ "type": kind, "description": parameter.about });
        properties.insert(parameter.name.to_owned(), schema);
    }
    if let Some(Value::Object(body)) = route.schema.clone().map(schemars::Schema::to_value) {
        for (key, value) in body {
            match (key.as_str(), value) {
                ("properties", Value::Object(fields)) => properties.extend(fields),
                ("required", Value::Array(names)) => required.extend(names),
                ("$defs", defs) => drop(whole.insert(key, defs)),
                _ => {}
            }
        }
    }
    whole.insert("type".to_owned(), "object".into());
    whole.insert("properties".to_owned(), properties.into());
    whole.insert("additionalProperties".to_owned(), false.into());
    if !required.is_empty() {
        whole.insert("required".to_owned(), required.into());
    }
    whole
}
