//! The OpenAPI document, made from the table of routes.

use crate::access::is_change;
use crate::app::Needs;
use crate::body::JSON;
use crate::route::{Kind, Parameter, Route};
use http::Method;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Statuses of errors that any address may answer with.
const ERRORS: &[(&str, &str)] = &[
    ("401", "There is no valid cookie or token"),
    ("403", "Another host or origin, or not allowed"),
    ("404", "There is no such thing"),
    ("409", "Not legal as things stand"),
    ("422", "A field or a parameter is wrong"),
    ("423", "Busy; try again"),
    ("429", "A limit is reached"),
    ("500", "A bug, or the disk or git failed"),
    ("503", "Too many connections, or no engine"),
];

/// Statuses of errors that only changes have.
const ERRORS_OF_CHANGES: &[(&str, &str)] = &[
    ("412", "It has changed since you read it"),
    ("413", "The body is too large"),
    ("415", "The body is not JSON"),
];

/// Makes the document.
pub(crate) fn describe(routes: &[Arc<Route>]) -> Value {
    let mut paths = Map::new();
    for route in routes.iter().filter(|route| route.path.starts_with("/api") || route.path == "/healthz") {
        let entry = paths.entry(route.path).or_insert_with(|| json!({}));
        entry[route.method.as_str().to_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Regatta",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The API of `regatta up`. Objects are those of `--json`; errors have codes with a page each."
        },
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Error": error_schema() }
        },
        "security": [{ "token": [] }]
    })
}

fn operation(route: &Route) -> Value {
    let mut parameters: Vec<Value> = path_parameters(route.path);
    parameters.extend(route.parameters.iter().map(query_parameter));
    let is_change = is_change(&route.method);
    if is_change {
        parameters.push(header_parameter("Idempotency-Key", "Makes a repetition harmless", 255));
        parameters.push(header_parameter("If-Match", "The ETag of the object that you saw", 1_000));
    }
    let mut operation = json!({
        "operationId": route.name,
        "summary": route.summary,
        "parameters": parameters,
        "responses": responses(route, is_change)
    });
    if let Some(schema) = &route.schema {
        let mut schema = schema.clone().to_value();
        if let Some(fields) = schema.as_object_mut() {
            fields.shift_remove("$schema");
        }
        let required = schema.get("required").is_some();
        operation["requestBody"] = json!({ "required": required, "content": { JSON: { "schema": schema } } });
    }
    if route.needs == Needs::Nothing {
        operation["security"] = json!([]);
    }
    operation
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names
        .map(|name| {
            let schema = match name {
                "id" | "step" => json!({ "type": "string", "examples": ["1"] }),
                _ => json!({ "type": "string" }),
            };
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        })
        .collect()
}

fn query_parameter(parameter: &Parameter) -> Value {
    let schema = match parameter.kind {
        Kind::Text => json!({ "type": "string", "maxLength": 2_000 }),
        Kind::Number => json!({ "type": "integer", "minimum": 0 }),
        Kind::Flag => json!({ "type": "boolean" }),
    };
    json!({ "name": parameter.name, "in": "query", "description": parameter.about, "schema": schema })
}

fn header_parameter(name: &str, about: &str, length_max: u32) -> Value {
    let schema = json!({ "type": "string", "maxLength": length_max });
    json!({ "name": name, "in": "header", "description": about, "schema": schema })
}

fn responses(route: &Route, is_change: bool) -> Value {
    let object = json!({ "application/json": { "schema": { "type": "object" } } });
    let content = match route.name {
        "showTaskFile" => json!({ "text/markdown": { "schema": { "type": "string" } } }),
        "followAll" | "followEvents" | "showOutput" => json!({
            "text/event-stream": { "schema": { "type": "string" } },
            "application/json": { "schema": { "type": "object" } }
        }),
        _ => object.clone(),
    };
    let mut responses = json!({ "200": { "description": "The object, as it is now", "content": content } });
    if is_change {
        responses["202"] = json!({ "description": "Something is still under way", "content": object });
        if route.method == Method::POST {
            responses["201"] = json!({ "description": "Created", "content": object });
        }
    } else {
        responses["304"] = json!({ "description": "What you have is still good" });
    }
    let error = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } });
    let errors = ERRORS.iter().chain(ERRORS_OF_CHANGES.iter().filter(|_| is_change));
    for (status, about) in errors {
        responses[*status] = json!({ "description": about, "content": error });
    }
    responses
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": { "error": {
            "type": "object",
            "required": ["code", "message", "hint", "details"],
            "properties": {
                "code": { "type": "string" },
                "message": { "type": "string" },
                "hint": { "type": "string" },
                "details": { "type": "object" }
            }
        } },
        "examples": [{ "error": {
            "code": "TASK_NOT_FOUND",
            "message": "there is no task #9: it was never added, or it was deleted",
            "hint": "see `regatta task list --all`",
            "details": { "taskId": 9 }
        } }]
    })
}
