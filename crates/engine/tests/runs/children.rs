//! A `map` node: runs of another workflow per item, with dependencies.

use crate::support::{CODER, REVIEWER, World, giver};
use regatta_engine::core::RunId;
use regatta_engine::core::run::{Hold, Status};
use regatta_engine::runs::{self, NewRun};
use serde_json::{Value, json};

const PARENT: &str = r#"
name = "fan"
start = "plan"
state = "state.schema.json"

[nodes.plan]
kind = "map"
workflow = "one"
items = "input.items"
key = "key"
depends = "after"
max_parallel = 2
set = { results = "output" }

[nodes.done]
kind = "end"

[[edges]]
id = "all"
from = "plan"
to = "done"
"#;

const CHILD: &str = r#"
name = "one"
start = "judge"
state = "state.schema.json"

[nodes.judge]
kind = "agent"
role = "reviewer"
input = { key = "input.key" }
set = { approved = "output.approved" }

[nodes.done]
kind = "end"
result = "{'of': input.key, 'approved': approved}"

[[edges]]
id = "judged"
from = "judge"
to = "done"
"#;

const STATE: &str = r#"{
  "type": "object",
  "properties": { "results": { "type": "array", "default": [] }, "approved": { "type": "boolean", "default": false } }
}"#;

#[tokio::test]
async fn each_item_has_a_run_of_its_own() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let input = json!({ "items": [
        { "key": "a" }, { "key": "b", "after": ["a"] }, { "key": "c" }, { "key": "d", "after": ["b", "c"] },
    ] });
    let run = begin(&world, input).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    let entry =
        |key: &str| json!({ "key": key, "status": "completed", "result": { "of": key, "approved": true } });
    assert_eq!(found.state["results"], json!([entry("a"), entry("b"), entry("c"), entry("d")]));
    let children = runs::list_runs(&world.project, 10).await.unwrap();
    assert_eq!(children.iter().filter(|child| child.parent == Some(run)).count(), 4);
}

#[tokio::test]
async fn a_child_that_is_held_by_an_error_goes_on_with_its_parent() {
    let crashing = "[[session]]\nstep = [{ fault = \"crash\" }]\n";
    let world = World::new("auto", &[], CODER, crashing).await;
    let world = world.configured("\n[limits]\nretries = 0\n").await;
    let run = begin(&world, json!({ "items": [{ "key": "a" }, { "key": "b" }] })).await;
    let found = world.rest(run).await;
    assert_eq!(found.hold, None, "it is its children that are held: {found:?}");
    for child in found.children_under_way() {
        let child = runs::get_run(&world.project, child).await.unwrap();
        assert!(matches!(child.hold, Some(Hold::Error { .. })), "{child:?}");
    }
    world.repo.write("scripts/reviewer.toml", REVIEWER);
    runs::resume(&world.project, &giver(), run).await.unwrap();
    assert_eq!(world.rest(run).await.status(), Status::Completed);
}

/// Begins a run with a child for each item.
async fn begin(world: &World, input: Value) -> RunId {
    for (name, text) in [
        ("workflow.toml", PARENT),
        ("state.schema.json", STATE),
        ("children/one/workflow.toml", CHILD),
        ("children/one/state.schema.json", STATE),
        ("children/one/roles/reviewer.md", "Judge {{ key }}."),
        ("children/one/roles/reviewer.output.json", r#"{"type": "object", "required": ["approved"]}"#),
    ] {
        world.repo.write(&format!(".regatta/workflows/fan/{name}"), text);
    }
    let workflow = runs::find_workflow(Some(&world.project), "fan").unwrap();
    world.create(NewRun { workflow, level: None, input, board: true, tape: None }).await
}
