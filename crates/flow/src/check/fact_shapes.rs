//! The shapes of the facts, so that the check finds a field that none of them has.
//!
//! They are written as schemas, like everything else that the check follows names through. Only what is always an object
//! of known fields is closed: keys of tasks and what a child was given are not known here.

use serde_json::{Map, Value, json};

use crate::variables::FactName;
use crate::workflow::{NodeKind, Workflow};

/// Returns the shape of a fact, for the expressions of a workflow.
pub(super) fn shape_of(workflow: &Workflow, fact: FactName) -> Value {
    match fact {
        FactName::Run => run(),
        FactName::Roles => roles(workflow),
        FactName::Children => children(workflow),
        FactName::Work => json!({ "type": "object", "additionalProperties": work() }),
        FactName::Messages => messages(),
        FactName::Steps => steps(),
    }
}

fn closed(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn list(item: Value) -> Value {
    json!({ "type": "array", "items": item })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn error() -> Value {
    closed(json!({ "code": text(), "message": text() }))
}

fn run() -> Value {
    closed(json!({
        "id": count(),
        "status": { "enum": ["created", "running", "paused", "completed", "failed"] },
        "asked": { "enum": ["pause", "stop"] },
        "node": text(),
        "createdAt": text(),
        "startedAt": text(),
        "updatedAt": text(),
        "endedAt": text(),
        "error": error(),
        "steps": count(),
        "sessions": count(),
        "more": closed(json!({ "steps": count(), "messages": count() })),
    }))
}

fn role() -> Value {
    closed(json!({
        "status": { "enum": ["idle", "waiting", "running", "completed", "failed"] },
        "visits": count(),
        "startedAt": text(),
        "endedAt": text(),
        "said": text(),
        "error": error(),
    }))
}

fn roles(workflow: &Workflow) -> Value {
    // A name that could not be read may be that of any role.
    if !workflow.gaps.nodes.is_empty() {
        return json!({ "type": "object", "additionalProperties": role() });
    }
    let names = workflow.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Agent { role, .. } => Some(role.name.clone()),
        _ => None,
    });
    closed(names.map(|name| (name, role())).collect::<Map<_, _>>().into())
}

fn children(workflow: &Workflow) -> Value {
    let run_children = workflow.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Map { workflow: child, .. } => workflow.children.get(&child.name),
        _ => None,
    });
    let of_child = |child: &Workflow| {
        let input = child.input.as_ref().map_or(json!({}), |input| input.document().clone());
        closed(json!({
            "key": text(),
            "input": input,
            "run": run(),
            "roles": roles(child),
            "view": views(child),
        }))
    };
    let shapes: Vec<Value> = run_children.map(of_child).collect();
    list(match shapes.is_empty() {
        // What is wrong with a child that is not there is an error of its own.
        true => json!({}),
        false => json!({ "anyOf": shapes }),
    })
}

/// A view may be anything, but only views of the child are there.
fn views(child: &Workflow) -> Value {
    if child.gaps.has_doubtful_values {
        return json!({});
    }
    closed(child.views.iter().map(|view| (view.name.clone(), json!({}))).collect::<Map<_, _>>().into())
}

fn work() -> Value {
    let files = list(closed(json!({
        "path": text(),
        "action": { "enum": ["added", "modified", "deleted", "renamed"] },
        "added": count(),
        "removed": count(),
    })));
    let commits = list(closed(json!({ "id": text(), "title": text(), "at": text() })));
    let more = closed(json!({ "commits": count(), "files": count() }));
    closed(json!({
        "task": count(),
        "column": text(),
        "branch": text(),
        "base": text(),
        "head": text(),
        "sessions": count(),
        "commits": commits,
        "files": files,
        "more": more,
        "last": closed(json!({
            "base": text(), "head": text(), "commits": commits, "files": files, "more": more,
        })),
        "checks": list(json!({})),
        "cost": {},
        "collisions": list(closed(json!({ "with": {}, "files": list(text()) }))),
    }))
}

fn messages() -> Value {
    list(closed(json!({
        "id": count(),
        "key": text(),
        "from": text(),
        "to": text(),
        "kind": text(),
        "subject": text(),
        "body": text(),
        "data": {},
        "at": text(),
        "read": { "type": "boolean" },
    })))
}

fn steps() -> Value {
    list(closed(json!({
        "n": count(),
        "key": text(),
        "at": text(),
        "from": text(),
        "edge": text(),
        "title": text(),
        "to": text(),
        "role": text(),
        "items": count(),
    })))
}
