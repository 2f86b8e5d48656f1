//! The verbs of a session that performs a step of a run.

use crate::client::Client;
use crate::world::{World, caller};
use regatta_engine::core::run::Status;
use regatta_engine::runs::{self, NewRun};
use serde_json::{Value, json};

fn plan() -> Value {
    let task = json!({
        "id": "T001", "title": "Do it", "description": "All of it", "priority": 1, "complexity": "simple",
        "acceptanceCriteria": ["T001.txt is there"], "status": "pending"
    });
    let summary = json!({ "totalTasks": 1, "byPriority": { "1": 1 }, "estimatedComplexity": "hours" });
    json!({ "tasks": [task], "summary": summary })
}

#[tokio::test]
async fn a_roles_result_is_judged_at_once_and_wins_over_what_was_printed() {
    let mut world = World::new().await;
    let workflow = runs::find_workflow(Some(&world.project), "speckit").unwrap();
    let input = json!({ "prd": "Make it so.", "title": "So" });
    let new = NewRun { workflow, prd: None, level: None, input, board: true, recording: None };
    let run = runs::create(&world.project, &caller(), new).await.unwrap();
    let mut client = Client::begin(&world.folder().await).await.unwrap();
    assert_eq!(client.fail("read_task", json!({})).await["code"], "TASK_NOT_FOUND");
    assert_eq!(client.fail("approve", json!({})).await["code"], "FORBIDDEN");
    let refused = world.events("run:agent_refused").await;
    assert_eq!(refused[0]["what"], "the tool approve", "{refused:?}");
    let fault = client.fail("submit_result", json!({ "result": { "tasks": 7 } })).await;
    assert_eq!(fault["code"], "VALIDATION_ERROR");
    assert!(fault["details"]["faults"].as_array().is_some_and(|faults| !faults.is_empty()), "{fault}");
    let sent = json!({ "to": "role:coder", "kind": "PLAN_READY", "body": "begin with T001", "data": { "first": "T001" } });
    client.call("send_message", sent).await;
    let taken = client.call("submit_result", json!({ "result": plan() })).await;
    assert_eq!(taken, json!({ "isValid": true, "replaced": false }));
    runs::pause(&world.project, &caller(), run).await.unwrap();
    assert_eq!(client.call("check_signals", json!({})).await["signal"], "pause");
    runs::resume(&world.project, &caller(), run).await.unwrap();
    assert_eq!(client.call("check_signals", json!({})).await["signal"], "none");
    world.go();
    let found = world.supervisor.rest_run(run, &mut |_| {}).await.unwrap();
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(world.events("run:output_refused").await, Vec::<Value>::new(), "nobody was asked again");
    let message = &regatta_engine::messages::list(&world.project).await.unwrap()[0];
    assert_eq!((message.from.to_string(), message.run_id), ("role:spec".to_owned(), Some(run)));
    world.leave().await;
}

const TALKING: &str = r#"
name = "talking"
start = "plan"
nodes.plan = { kind = "agent", role = "spec" }
nodes.done = { kind = "end" }
edges = [{ id = "planned", from = "plan", to = "done" }]

[signals.note]
input = "note.json"
roles = ["spec"]
set = { note = "$signal.text" }
send = { to = "spec", kind = "NOTED", body = "$signal.text" }

[signals.decide]
input = "note.json"
"#;

#[tokio::test]
async fn a_role_sends_the_signals_that_list_it() {
    let mut world = World::new().await;
    let state = r#"{ "type": "object", "properties": { "note": { "type": "string", "default": "" } } }"#;
    for (file, text) in [
        ("workflow.toml", TALKING),
        ("state.schema.json", state),
        ("note.json", r#"{ "type": "object", "required": ["text"] }"#),
        ("roles/spec.md", "Plan."),
        ("roles/spec.output.json", "{}"),
    ] {
        world.write(&format!(".regatta/workflows/talking/{file}"), text);
    }
    let workflow = runs::find_workflow(Some(&world.project), "talking").unwrap();
    let new = NewRun { workflow, prd: None, level: None, input: json!({}), board: false, recording: None };
    let run = runs::create(&world.project, &caller(), new).await.unwrap();
    let mut client = Client::begin(&world.folder().await).await.unwrap();
    let given = |signal: &str| json!({ "signal": signal, "input": { "text": "mind the leap years" } });
    assert_eq!(client.fail("send_signal", given("decide")).await["code"], "FORBIDDEN");
    assert_eq!(client.fail("send_signal", given("nod")).await["code"], "SIGNAL_NOT_FOUND");
    assert_eq!(client.fail("send_signal", json!({ "signal": "note" })).await["code"], "VALIDATION_ERROR");
    assert_eq!(client.call("send_signal", given("note")).await, json!({ "runId": 1, "signal": "note" }));
    // What it says to the role itself is there to be read at once.
    let read = client.call("read_messages", json!({})).await;
    assert_eq!(
        (&read["messages"][0]["kind"], &read["messages"][0]["from"]),
        (&json!("NOTED"), &json!("role:spec"))
    );
    world.go();
    let found = world.supervisor.rest_run(run, &mut |_| {}).await.unwrap();
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(found.sheet.state()["note"], "mind the leap years");
    assert_eq!(world.events("run:signalled").await[0]["from"], "role:spec");
    world.leave().await;
}
