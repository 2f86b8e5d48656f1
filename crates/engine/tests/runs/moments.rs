//! Time in expressions: a decision uses the time of its event, so that it can be repeated.

use crate::support::{CODER, REVIEWER, World};
use regatta_engine::core::run::Status;
use regatta_engine::runs::{self, NewRun, Playing, RoleOutcome, RoleRequest, Roles};
use serde_json::json;
use std::sync::Arc;

const STAMPING: &str = r#"
name = "stamping"
start = "work"
nodes.work = { kind = "agent", role = "coder", set = { stamp = "$millis()", luck = "$random()", count = "count + 1" } }
nodes.done = { kind = "end" }
edges = [
    { id = "again", from = "work", to = "work", when = "count < 300" },
    { id = "over", from = "work", to = "done", when = "count >= 300" },
]
"#;

const STATE: &str = r#"{"type": "object", "properties": {
    "stamp": {"type": "number", "default": 0},
    "luck": {"type": "number", "default": 0},
    "count": {"type": "integer", "default": 0}
}}"#;

struct Quick;

impl Roles for Quick {
    fn play<'a>(&'a self, _: RoleRequest<'a>) -> Playing<'a> {
        Box::pin(async { Ok(RoleOutcome::Returned(json!({}))) })
    }
}

#[tokio::test]
async fn what_depends_on_the_time_is_decided_again_as_it_was() {
    let world = World::new("auto", &["T001"], CODER, REVIEWER).await;
    for (name, text) in [
        ("workflow.toml", STAMPING),
        ("state.schema.json", STATE),
        ("roles/coder.md", "Work.\n"),
        ("roles/coder.output.json", "{}"),
    ] {
        world.repo.write(&format!(".regatta/workflows/stamping/{name}"), text);
    }
    let workflow = runs::find_workflow(Some(&world.project), "stamping").unwrap();
    let new = NewRun { workflow, prd: None, level: None, input: json!({}), board: false, recording: None };
    let run = world.create(new).await;
    assert_eq!(world.rest_with(run, Arc::new(Quick)).await.status(), Status::Completed);
    let steps = runs::replay(&world.project, run, None).await.unwrap();
    assert_eq!(steps.len(), 300);
    let differs: Vec<_> = steps.iter().filter_map(|step| step.differs.as_ref()).collect();
    assert!(differs.is_empty(), "{} of 300: {:?}", differs.len(), differs.first());
}
