//! A `map` node: runs of another workflow per item, with dependencies.

use crate::support::{CODER, REVIEWER, World};
use regatta_engine::core::run::Status;
use regatta_engine::runs::{self, NewRun};
use serde_json::json;

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
    let input = json!({ "items": [
        { "key": "a" }, { "key": "b", "after": ["a"] }, { "key": "c" }, { "key": "d", "after": ["b", "c"] },
    ] });
    let run = world.create(NewRun { workflow, level: None, input, board: true, tape: None }).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    let entry =
        |key: &str| json!({ "key": key, "status": "completed", "result": { "of": key, "approved": true } });
    assert_eq!(found.state["results"], json!([entry("a"), entry("b"), entry("c"), entry("d")]));
    let children = runs::list_runs(&world.project, 10).await.unwrap();
    assert_eq!(children.iter().filter(|child| child.parent == Some(run)).count(), 4);
}
