//! The OpenAPI document, made from the table of routes.

use crate::access::is_change;
use crate::app::Needs;
use crate::body::JSON;
use crate::route::{Kind, Parameter, Route};
use crate::routes::answers::{self, Answers};
use crate::schema;
use crate::status::list_statuses;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Statuses of errors that only changes have.
const OF_CHANGES: [u16; 3] = [412, 413, 415];

/// What a request that is no HTTP gets before anything of ours reads it; it has no body.
const UNREADABLE: [(&str, &str); 2] =
    [("400", "It is not a request of HTTP/1.1"), ("431", "It has too many headers, or too long ones")];

/// Makes the document.
pub(crate) fn describe(routes: &[Arc<Route>]) -> Value {
    let (mut paths, bodies) = (Map::new(), schema::bodies());
    for route in routes.iter().filter(|route| is_described(route)) {
        let entry = paths.entry(route.path).or_insert_with(|| json!({}));
        entry[route.method.as_str().to_lowercase()] = operation(route, bodies.get(route.name));
    }
    let mut schemas = schema::schemas();
    schemas.insert("Error".to_owned(), error_schema());
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
            "schemas": schemas
        },
        "security": [{ "token": [] }]
    })
}

/// Pages, figures and other protocols are described elsewhere.
fn is_described(route: &Route) -> bool {
    answers::find(route.name).is_some()
}

fn operation(route: &Route, body: Option<&Value>) -> Value {
    let mut parameters: Vec<Value> = path_parameters(route.path);
    parameters.extend(route.parameters.iter().map(query_parameter));
    let is_change = is_change(&route.method);
    if is_change {
        parameters.push(header_parameter("Idempotency-Key", "Makes a repetition harmless", 255));
        if is_about_an_object(route) {
            parameters.push(header_parameter("If-Match", "The ETag of the object that you saw", 1_000));
        }
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
        let required = route.media != JSON || schema.get("required").is_some();
        let content = json!({ route.media: { "schema": schema, "example": body } });
        operation["requestBody"] = json!({ "required": required, "content": content });
    }
    if matches!(route.needs, Needs::Nothing | Needs::Local) {
        operation["security"] = json!([]);
    }
    operation
}

/// Tells whether a change is refused if the object has moved since it was read.
fn is_about_an_object(route: &Route) -> bool {
    const OBJECTS: [&str; 4] = ["/api/epics/{", "/api/prds/{", "/api/runs/{", "/api/tasks/{"];
    /// What they do does not depend on the task as it is.
    const BESIDE: [&str; 3] = ["markViewed", "noteTask", "openTask"];
    OBJECTS.iter().any(|object| route.path.starts_with(object)) && !BESIDE.contains(&route.name)
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
        Kind::UpTo(max) => json!({ "type": "integer", "minimum": 0, "maximum": max }),
        Kind::Flag => json!({ "type": "boolean" }),
    };
    json!({ "name": parameter.name, "in": "query", "description": parameter.about, "schema": schema })
}

fn header_parameter(name: &str, about: &str, length_max: u32) -> Value {
    let schema = json!({ "type": "string", "maxLength": length_max });
    json!({ "name": name, "in": "header", "description": about, "schema": schema })
}

fn responses(route: &Route, is_change: bool) -> Value {
    let content = content(answers::find(route.name).unwrap_or(Answers::Json));
    let (status, about) = if route.creates { ("201", "Created") } else { ("200", "As it is now") };
    let mut responses = json!({ status: { "description": about, "content": content } });
    if route.name == "health" {
        responses["503"] = json!({ "description": "No engine is alive", "content": content });
    }
    if is_change {
        let seq = json!({ "Regatta-Seq": {
            "description": "The number of the event from which to follow the log",
            "schema": { "type": "integer" }
        } });
        responses[status]["headers"] = seq.clone();
        if !route.creates && route.parameters.iter().any(|parameter| parameter.name == "wait") {
            responses["202"] =
                json!({ "description": "Something is still under way", "content": content, "headers": seq });
        }
    } else {
        responses["304"] = json!({ "description": "What you have is still good" });
    }
    for (status, about) in UNREADABLE {
        responses[status] = json!({ "description": about });
    }
    let error = json!({ JSON: { "schema": { "$ref": "#/components/schemas/Error" } } });
    for (status, codes) in list_statuses() {
        let name = status.to_string();
        if responses.get(&name).is_some() || (OF_CHANGES.contains(&status) && !is_change) {
            continue;
        }
        let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
        responses[name] = json!({ "description": codes.join(", "), "content": error });
    }
    responses
}

/// Describes what a route sends when all is well.
fn content(answers: Answers) -> Value {
    let object = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let page = |name: &str| {
        json!({
            "type": "object",
            "required": ["items", "next"],
            "properties": {
                "items": { "type": "array", "items": object(name) },
                "next": { "type": ["string", "null"], "description": "The cursor of the next page" }
            }
        })
    };
    match answers {
        Answers::Object(name) => json!({ JSON: { "schema": object(name) } }),
        Answers::List(name) => json!({ JSON: { "schema": page(name) } }),
        Answers::Stream(name) => json!({
            JSON: { "schema": page(name) },
            "text/event-stream": { "schema": { "type": "string" } }
        }),
        Answers::Json => json!({ JSON: { "schema": {} } }),
        Answers::Text(media) => json!({ media: { "schema": { "type": "string" } } }),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes;
    use std::collections::BTreeSet;

    #[test]
    fn every_address_of_the_api_is_described_and_every_name_is_its_own() {
        let routes = routes::all();
        let is_api =
            |route: &&Route| route.path.starts_with("/api/") && !route.path.starts_with("/api/reference");
        for route in routes.iter().filter(is_api) {
            assert!(is_described(route), "add {} ({}) to routes/answers.rs", route.name, route.path);
        }
        let names: BTreeSet<&str> = routes.iter().map(|route| route.name).collect();
        assert_eq!(names.len(), routes.len());
    }

    #[test]
    fn every_list_that_is_read_comes_in_pages() {
        for route in routes::all().iter().filter(|route| route.method == http::Method::GET) {
            let needed: &[&str] = match answers::find(route.name) {
                Some(Answers::List(_)) => &["limit", "after"],
                // A stream is also read as a page.
                Some(Answers::Stream(_)) => &["limit"],
                _ => &[],
            };
            for name in needed {
                let has = route.parameters.iter().any(|parameter| parameter.name == *name);
                assert!(has, "{} ({}) has no parameter {name}", route.name, route.path);
            }
        }
    }

    #[test]
    fn only_the_description_itself_is_described_as_any_json() {
        let routes = routes::all();
        let any = routes.iter().filter(|route| answers::find(route.name) == Some(Answers::Json));
        assert_eq!(any.map(|route| route.name).collect::<Vec<_>>(), ["describe"]);
    }

    #[test]
    fn every_body_and_every_schema_that_is_named_has_an_example() {
        let routes: Vec<Arc<Route>> = routes::all().into_iter().map(Arc::new).collect();
        let document = describe(&routes);
        for route in routes.iter().filter(|route| route.schema.is_some()) {
            let body = &document["paths"][route.path][route.method.as_str().to_lowercase()]["requestBody"];
            assert!(
                !body["content"][route.media]["example"].is_null(),
                "{} has no example in bodies.json",
                route.name
            );
        }
        let text = document.to_string();
        for part in text.split("#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap_or_default();
            assert!(
                !document["components"]["schemas"][name].is_null(),
                "{name} has no example in objects.json"
            );
        }
    }
}
