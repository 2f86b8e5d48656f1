//! What the expressions of a run know of it: facts that were true when it read them, today and in a replay.

use crate::support::{CODER, REVIEWER, World, caller};
use regatta_engine::Journal;
use regatta_engine::core::RunId;
use regatta_engine::core::run::{Run, Status};
use regatta_engine::runs::{self, NewRun};
use serde_json::{Value, json};

const ALONE: &str = r#"
name = "alone"
start = "work"

[view]
mine = "$lookup($work, 'T1')"

[board]
items = "[{'id': 'T1'}]"
key = "id"

[nodes.work]
kind = "agent"
role = "coder"
task = "'T1'"
input = { before = "$mine.files.path", told = "$steps.title", visits = "$roles.coder.visits" }
set = { "added[+]" = "$mine.last.files", visits = "$roles.coder.visits" }

[nodes.done]
kind = "end"

[[edges]]
id = "again"
title = "Once more"
from = "work"
to = "work"
when = "$roles.coder.visits < 2"
maxIterations = 3

[[edges]]
id = "finish"
from = "work"
to = "done"
fail = "'T1'"
set = { told = "{'edges': $steps.edge, 'titles': $mine.commits.title, 'files': $mine.files, 'run': $run, 'roles': $roles, 'branch': $mine.branch}" }
"#;

const STATE: &str = r#"{
  "type": "object",
  "properties": {
    "added": { "type": "array", "default": [] },
    "visits": { "type": "integer", "default": 0 },
    "told": { "default": null }
  }
}"#;

const PARENT: &str = r#"
name = "above"
start = "all"

[view]
ended = "[$children[run.status = 'completed'].key]"

[nodes.all]
kind = "map"
workflow = "below"
items = "input.items"
key = "key"
max_parallel = 1
set = { told = "$children.{'key': key, 'view': view, 'status': run.status, 'role': roles.reviewer.status}" }

[nodes.done]
kind = "end"

[[edges]]
id = "every"
from = "all"
to = "done"
when = "$count($ended) = $count(input.items)"
set = { visits = "$run.sessions" }
"#;

const BELOW: &str = r#"
name = "below"
start = "judge"

[view]
about = "input.key & ' ' & $run.status & ' ' & $string(visits)"

[nodes.judge]
kind = "agent"
role = "reviewer"
set = { visits = "$roles.reviewer.visits" }

[nodes.done]
kind = "end"

[[edges]]
id = "judged"
from = "judge"
to = "done"
"#;

fn write(world: &World, name: &str, files: &[(&str, &str)]) {
    for (file, text) in files {
        world.repo.write(&format!(".regatta/workflows/{name}/{file}"), text);
    }
}

async fn begin(world: &World, name: &str, input: Value) -> RunId {
    let workflow = runs::find_workflow(Some(&world.project), name).unwrap();
    let new = NewRun { workflow, prd: None, level: None, input, board: true, recording: None };
    world.create(new).await
}

async fn alone() -> (World, Run) {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let prompt = "Before: {{ before | tojson }}, {{ told | tojson }}, {{ visits }}";
    write(
        &world,
        "alone",
        &[
            ("workflow.toml", ALONE),
            ("state.schema.json", STATE),
            ("roles/coder.md", prompt),
            ("roles/coder.output.json", "{}"),
        ],
    );
    let run = begin(&world, "alone", json!({})).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    (world, found)
}

async fn replayed(world: &World, run: RunId) -> Vec<String> {
    let steps = runs::replay(&world.project, run, None).await.unwrap();
    let told = |step: &runs::Replayed| format!("{} {} {:?}", step.node, step.edge, step.differs);
    steps.iter().map(told).collect()
}

#[tokio::test]
async fn a_run_knows_its_steps_its_roles_and_its_work() {
    let (world, found) = alone().await;
    let state = found.sheet.state().clone();
    let file = |action: &str, removed: u64| json!({ "path": "T1.txt", "action": action, "added": 1, "removed": removed });
    assert_eq!(state["added"], json!([file("added", 0), file("modified", 1)]), "by each session");
    let told = &state["told"];
    // A sequence of one is its item, as everywhere in JSONata.
    assert_eq!(told["edges"], "again", "the step itself is not in the log yet");
    assert_eq!(told["titles"].as_array().unwrap().len(), 2, "{told}");
    assert_eq!(told["files"][0]["action"], "added", "over both sessions: {told}");
    assert_eq!(told["branch"], "task/1");
    assert_eq!((&told["run"]["status"], &told["run"]["node"]), (&json!("running"), &json!("work")));
    assert_eq!((&told["run"]["steps"], &told["run"]["sessions"]), (&json!(2), &json!(2)));
    assert_eq!(
        (&told["roles"]["coder"]["visits"], &told["roles"]["coder"]["status"]),
        (&json!(2), &json!("completed"))
    );
    assert_eq!(
        replayed(&world, found.id).await,
        ["work again None", "work finish None"],
        "the same facts, as of the same events"
    );
    // A step of the run records the event that it is as of.
    let mut journal = Journal::after(&world.project, 0);
    let entries = journal.read().await.unwrap();
    let steps: Vec<Value> = entries.iter().map(regatta_engine::Entry::to_json).collect();
    let seen: Vec<bool> = steps
        .iter()
        .filter(|entry| entry["type"] == "run:stepped")
        .map(|entry| entry["seen"].as_u64() < entry["seq"].as_u64())
        .collect();
    assert_eq!(seen, [true, true]);
    assert_eq!(entries.iter().filter(|entry| entry.event.kind() == "task:worked").count(), 2);
}

#[tokio::test]
async fn a_fork_sees_what_was_there_before_its_step() {
    let (world, found) = alone().await;
    let fork = runs::fork(&world.project, &caller(), found.id, Some(2), None).await.unwrap();
    let forked = world.rest(fork).await;
    assert_eq!(forked.status(), Status::Completed, "{forked:?}");
    let state = forked.sheet.state().clone();
    assert_eq!(state["visits"], 2, "one of them was the other run's: {state}");
    assert_eq!(state["told"]["edges"], "again", "{state}");
    assert_eq!(state["told"]["run"]["id"], forked.id.number());
    assert_eq!(replayed(&world, fork).await, ["work finish None"]);
}

#[tokio::test]
async fn a_run_knows_its_children_by_what_they_show() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    write(
        &world,
        "above",
        &[
            ("workflow.toml", PARENT),
            ("state.schema.json", STATE),
            ("children/below/workflow.toml", BELOW),
            ("children/below/state.schema.json", STATE),
            ("children/below/roles/reviewer.md", "Judge."),
            ("children/below/roles/reviewer.output.json", "{}"),
        ],
    );
    let run = begin(&world, "above", json!({ "items": [{ "key": "a" }, { "key": "b" }] })).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    let state = found.sheet.state().clone();
    let child = |key: &str| json!({ "key": key, "view": { "about": format!("{key} completed 1") }, "status": "completed", "role": "completed" });
    assert_eq!(state["told"], json!([child("a"), child("b")]));
    assert_eq!(state["visits"], 2, "the sessions of children count");
    let differences: Vec<String> = replayed(&world, run).await;
    assert!(differences.iter().all(|step| step.ends_with("None")), "{differences:?}");
}
