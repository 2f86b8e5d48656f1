//! What goes down a family of runs: the wish for a board, a pause, and what becomes of a child that is given up.

use crate::support::{CODER, REVIEWER, World};
use regatta_engine::core::RunId;
use regatta_engine::core::run::Status;
use regatta_engine::runs::{self, NewRun};
use serde_json::{Value, json};

/// One child per item, two at once; it has no board itself.
const PARENT: &str = r#"
name = "family"
start = "all"
nodes.all = { kind = "map", workflow = "part", items = "input.items", key = "key", max_parallel = 2, set = { results = "output" } }
nodes.done = { kind = "end" }
edges = [{ id = "finish", from = "all", to = "done" }]
"#;

/// Its item is a task that is merged after two steps.
const ON_BOARD: &str = r#"
name = "part"
start = "work"
board = { items = "[{'id': input.key, 'title': 'Part ' & input.key}]", key = "id", title = "title" }
nodes.work = { kind = "agent", role = "coder", task = "input.key" }
nodes.look = { kind = "agent", role = "reviewer", task = "input.key" }
nodes.done = { kind = "end", result = "input.key" }
edges = [
    { id = "worked", from = "work", to = "look" },
    { id = "seen", from = "look", to = "done", submit = "input.key" },
]
"#;

const STATE: &str = r#"{"type": "object", "properties": {"results": {"type": "array", "default": []}}}"#;

async fn begin(world: &World, child: &str, keys: &[&str], board: bool) -> RunId {
    for (name, text) in [
        ("workflow.toml", PARENT),
        ("state.schema.json", STATE),
        ("children/part/workflow.toml", child),
        ("children/part/state.schema.json", STATE),
        ("children/part/roles/coder.md", "Work.\n"),
        ("children/part/roles/coder.output.json", "{}"),
        ("children/part/roles/reviewer.md", "Look.\n"),
        ("children/part/roles/reviewer.output.json", "{}"),
    ] {
        world.repo.write(&format!(".regatta/workflows/family/{name}"), text);
    }
    let workflow = runs::find_workflow(Some(&world.project), "family").unwrap();
    let items: Vec<Value> = keys.iter().map(|key| json!({ "key": key })).collect();
    world.create(NewRun { workflow, level: None, input: json!({ "items": items }), board, tape: None }).await
}

fn completed(key: &str) -> Value {
    json!({ "key": key, "status": "completed", "result": key })
}

#[tokio::test]
async fn a_child_has_a_board_though_its_parent_has_none() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let run = begin(&world, ON_BOARD, &["a", "b"], true).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(found.state["results"], json!([completed("a"), completed("b")]));
    assert_eq!((world.shown("a.txt"), world.shown("b.txt")), ("draft".to_owned(), "draft".to_owned()));
}

#[tokio::test]
async fn without_a_board_no_child_has_one() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let run = begin(&world, ON_BOARD, &["a"], false).await;
    let found = world.rest(run).await;
    assert_eq!(found.state["results"], json!([completed("a")]));
    let views = runs::list_runs(&world.project, 10).await.unwrap();
    assert!(views.iter().all(|view| view.tasks.is_empty()), "{views:?}");
}
