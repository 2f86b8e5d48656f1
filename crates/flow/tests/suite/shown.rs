//! Views within a step, what views and files depend on, and the paths of files.

use std::collections::BTreeSet;
use std::sync::Arc;

use regatta_flow::{FactName, Occasion, Sheet, Variables, Workflow, is_safe_path, step};
use serde_json::{Value, json};

use crate::folders::load;

const WORKFLOW: &str = r#"name = "shown"
start = "work"
[bind]
first = "items[0]"
[view]
slug = "input.slug"
many = "$count(items) > limit"
told = "$many ? $run.status : 'few'"
[nodes.work]
kind = "agent"
role = "worker"
input = { goal = "input.goal" }
set = { "items[+]" = "output.item", was = "$many" }
[nodes.done]
kind = "end"
[[edges]]
id = "again"
from = "work"
to = "work"
when = "$many = false"
maxIterations = 3
[[edges]]
id = "finish"
from = "work"
to = "done"
set = { is = "$told" }
[files.list]
path = "{slug}/list.json"
value = "{'told': $told, 'first': $first, 'steps': $steps}"
[files.items]
path = "items.log"
append = "items"
"#;

fn workflow() -> Workflow {
    let state = json!({ "type": "object", "properties": {
        "items": { "type": "array", "items": { "type": "string" }, "default": ["a"] },
        "limit": { "type": "integer", "default": 1 },
        "was": { "type": ["boolean", "null"], "default": null },
        "is": { "type": "string", "default": "" },
    } });
    load(WORKFLOW, &state)
}

fn facts() -> Variables {
    let mut variables = Variables::default();
    variables.set(FactName::Run, Arc::new(json!({ "status": "running" })));
    variables
}

/// A view is evaluated over the state as it is where it is read: before the `set` of a node, and behind it.
#[test]
fn a_view_follows_the_state_within_a_step() {
    let workflow = workflow();
    let sheet = Sheet::new(workflow.schema.initial(), json!({}), Value::Null);
    let mut occasion = Occasion { output: json!({ "item": "b" }), variables: facts(), ..Occasion::default() };
    let (told, read_fact) = sheet.try_out(&mut occasion, |mut trial| {
        let choice = step(&workflow, 1, "work", &mut trial, &|_, _| 0).unwrap();
        let told = serde_json::to_value(&choice).unwrap();
        let read_fact = trial.has_read_fact();
        let set: Vec<String> =
            trial.end().iter().map(|patch| serde_json::to_string(patch).unwrap()).collect();
        ((told, set), read_fact)
    });
    let (choice, set) = told;
    assert_eq!(choice["edge"], "finish");
    assert_eq!(choice["tried"][0], json!(["again", false, [["$many", true]]]));
    assert_eq!(set, [r#"[["items",1],null,["item"]]"#, r#"[["was"],false]"#, r#"[["is"],"running"]"#]);
    assert!(read_fact, "through a view");
    assert!(occasion.views.0.is_empty(), "what was evaluated over changes that are undone does not hold");
}

#[test]
fn what_is_shown_says_what_it_depends_on() {
    let workflow = workflow();
    assert_eq!(workflow.facts, BTreeSet::from([FactName::Run]), "no step reads `$steps`");
    let file = &workflow.files[0].reads;
    let fields: Vec<&str> = file.fields.iter().map(String::as_str).collect();
    assert_eq!(fields, ["items", "limit"]);
    assert_eq!(file.facts, BTreeSet::from([FactName::Run, FactName::Steps]));
    let views: Vec<&str> = file.views.iter().map(String::as_str).collect();
    assert_eq!(views, ["many", "told"]);
    assert!(workflow.find_view("slug").unwrap().reads.is_constant && !file.is_constant);
    assert!(workflow.files[1].reads.fields.contains("items"));
}

#[test]
fn a_path_is_made_of_names() {
    let workflow = workflow();
    let resolve = |slug: Value| {
        let sheet = Sheet::new(workflow.schema.initial(), json!({ "slug": slug }), Value::Null);
        sheet.look(&workflow, &facts(), 0, |look| match workflow.files[0].path.resolve(look) {
            Ok(path) => path,
            Err(fault) => format!("error: {fault}"),
        })
    };
    assert_eq!(resolve(json!("a b-ü.1")), "a b-ü.1/list.json");
    for (slug, why) in [
        (json!("a/b"), r#"is "a/b", and has to be a name"#),
        (json!(""), r#"is "", and has to be a name"#),
        (json!(7), "is 7, and has to be a name"),
        (Value::Null, "is null, and has to be a name"),
        (json!(".."), "is no path within the folder"),
        (json!(".git"), "is no path within the folder"),
        (json!("a\nb"), "is no path within the folder"),
    ] {
        assert!(resolve(slug.clone()).contains(why), "{slug} {}", resolve(slug.clone()));
    }
    assert!(is_safe_path("a/b.json"));
    for bad in ["", "/a", "a/", "a//b", "../a", "a/../b", "./a", "a\\b", &"x".repeat(201)] {
        assert!(!is_safe_path(bad), "{bad}");
    }
}
