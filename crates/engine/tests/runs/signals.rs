//! Signals to runs: in the middle of a step, after the end, on a recording, and more than once.

use crate::messages::{answer, begin, rest, told, world};
use crate::support::{World, caller};
use regatta_engine::Journal;
use regatta_engine::core::run::{RecordingMode, Run, Status};
use regatta_engine::core::{Code, RunId, Stage, TaskId, WorkPhase};
use regatta_engine::orders::{self, Caller};
use regatta_engine::runs::{self, AgentRoles, NewRun, Recording, close_recording};
use regatta_testkit::wait::until_async;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Works as long as something is pending, and is continued by more of it.
const CYCLE: &str = r#"
name = "cycle"
start = "work"

[nodes.work]
kind = "agent"
role = "worker"
set = { visits = "visits + 1" }

[nodes.again]
kind = "pass"
set = { told = "told & 'again '" }

[nodes.done]
kind = "end"

[[edges]]
id = "more"
from = "work"
to = "work"
when = "$count(pending) > visits"

[[edges]]
id = "enough"
from = "work"
to = "done"

[[edges]]
id = "begun"
from = "again"
to = "work"

[signals.extend]
title = "Add work"
input = "extend.json"
when = "$count(pending) < 4"
to = "again"
set = { "pending[+]" = "$signal.text" }
send = { to = "worker", kind = "MORE", body = "$signal.text" }

[signals.note]
input = "extend.json"
set = { told = "$signal.text" }
"#;

/// Leaves its task when it ends, and then submits it.
const TASKS: &str = r#"
name = "tasks"
start = "work"

[board]
items = "[{'key': 'T1'}]"
key = "key"

[nodes.work]
kind = "agent"
role = "worker"
task = "'T1'"
set = { visits = "visits + 1" }

[nodes.done]
kind = "end"

[[edges]]
id = "left"
from = "work"
to = "done"

[signals.extend]
input = "extend.json"
to = "work"
"#;

const STATE: &str = r#"{
  "type": "object",
  "properties": {
    "visits": { "type": "integer", "default": 0 },
    "pending": { "type": "array", "default": [] },
    "told": { "type": "string", "default": "" }
  }
}"#;

const EXTEND: &str =
    r#"{ "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } }"#;

async fn of(name: &str, text: &str) -> World {
    let world = world(name, &[("", text)], &["worker"]).await;
    world.repo.write(&format!(".regatta/workflows/{name}/state.schema.json"), STATE);
    world.repo.write(&format!(".regatta/workflows/{name}/extend.json"), EXTEND);
    world
}

async fn signal(world: &World, run: RunId, name: &str, text: &str) -> Result<(), regatta_engine::Error> {
    runs::signal(&world.project, &caller(), run, name, json!({ "text": text })).await
}

fn state(run: &Run) -> Value {
    run.sheet.state().clone()
}

async fn events(world: &World, kind: &str) -> Vec<Value> {
    let mut journal = Journal::after(&world.project, 0);
    let found = journal.read().await.unwrap();
    found.iter().map(regatta_engine::Entry::to_json).filter(|event| event["type"] == kind).collect()
}

async fn differences(world: &World, run: RunId) -> Vec<String> {
    let steps = runs::replay(&world.project, run, None).await.unwrap();
    steps.into_iter().filter_map(|step| step.differs).collect()
}

#[tokio::test]
async fn one_in_the_middle_of_a_step_is_seen_by_its_edges() {
    let world = of("cycle", CYCLE).await;
    answer(
        &world,
        "worker",
        r#"
touch "$REGATTA_PROJECT/.regatta/at-work"
while [ ! -e "$REGATTA_PROJECT/.regatta/go" ]; do sleep 0.02; done
echo '{}'
"#,
    );
    let run = begin(&world, "cycle", json!({})).await;
    let at_work = world.repo.path().join(".regatta/at-work");
    let give = async {
        until_async("the worker works", || at_work.exists()).await;
        signal(&world, run, "extend", "one").await.unwrap();
        signal(&world, run, "extend", "two").await.unwrap();
        world.repo.write(".regatta/go", "");
    };
    let (found, ()) = tokio::join!(rest(&world, run), give);
    assert_eq!(state(&found)["visits"], 2, "{found:?}");
    assert!(!told(&world, 1, 1).contains("one"), "the session was not interrupted");
    let prompt = told(&world, 1, 2);
    assert!(prompt.contains("From person:local (MORE)") && prompt.contains("> two"), "{prompt}");
    assert_eq!(events(&world, "session:opened").await.len(), 2);
    assert_eq!(differences(&world, run).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_run_that_has_ended_continues_and_can_be_forked_there() {
    let world = of("cycle", CYCLE).await;
    let run = begin(&world, "cycle", json!({})).await;
    rest(&world, run).await;
    let refused = signal(&world, run, "note", "late").await.unwrap_err().explain();
    assert_eq!(refused.code, Code::SignalRefused, "{refused:?}");
    let shown = runs::show_run_only(&world.project, run).await.unwrap();
    let names: Vec<&str> = shown.signals.iter().map(|signal| signal.name.as_str()).collect();
    assert_eq!((names, shown.signals[0].to.as_deref()), (vec!["extend"], Some("again")));

    signal(&world, run, "extend", "more").await.unwrap();
    let continued = runs::get_run(&world.project, run).await.unwrap();
    assert_eq!(continued.status(), Status::Running, "{continued:?}");
    let found = rest(&world, run).await;
    assert_eq!((&state(&found)["visits"], &state(&found)["told"]), (&json!(2), &json!("again ")));
    assert!(told(&world, 1, continued.step).contains("> more"));
    assert_eq!(differences(&world, run).await, Vec::<String>::new());

    let fork = runs::fork(&world.project, &caller(), run, Some(continued.step), None).await.unwrap();
    let forked = rest(&world, fork).await;
    assert_eq!(state(&forked)["visits"], 2, "{forked:?}");
    assert_eq!(forked.sheet.state()["pending"], json!(["more"]), "a fork sees the signals before it");
}

#[tokio::test]
async fn the_same_command_is_one_signal() {
    let world = of("cycle", CYCLE).await;
    let run = begin(&world, "cycle", json!({})).await;
    let caller = Caller { command_id: Some(uuid::Uuid::now_v7()), ..caller() };
    for _ in 0..2 {
        runs::signal(&world.project, &caller, run, "extend", json!({ "text": "once" })).await.unwrap();
    }
    let found = rest(&world, run).await;
    assert_eq!(state(&found)["pending"], json!(["once"]));
    let signalled = events(&world, "run:signalled").await;
    assert_eq!(signalled.len(), 1);
    assert_eq!((&signalled[0]["from"], &signalled[0]["messages"]), (&json!("person:local"), &json!([1])));
}

async fn ended_with_a_task() -> (World, RunId) {
    let world = of("tasks", TASKS).await;
    answer(&world, "worker", "echo work >> work.txt; echo '{}'");
    let workflow = runs::find_workflow(Some(&world.project), "tasks").unwrap();
    let input = json!({});
    let run =
        world.create(NewRun { workflow, prd: None, level: None, input, board: true, recording: None }).await;
    rest(&world, run).await;
    let task = world.rest_task(TaskId::FIRST).await;
    let Stage::InProgress(work) = &task.stage else { panic!("{task:?}") };
    assert_eq!((&work.phase, task.run), (&WorkPhase::Halted, None), "the run released it: {task:?}");
    (world, run)
}

#[tokio::test]
async fn it_has_its_tasks_again_that_it_had_released() {
    let (world, run) = ended_with_a_task().await;
    signal(&world, run, "extend", "x").await.unwrap();
    let task = orders::get_task(&world.project, TaskId::FIRST).await.unwrap();
    assert_eq!((task.run, task.error), (Some(run), None));
    let found = rest(&world, run).await;
    assert_eq!((found.tasks.len(), found.tasks["T1"]), (1, TaskId::FIRST));
    let task = world.rest_task(TaskId::FIRST).await;
    assert_eq!(task.sessions, 2, "it worked on the same task again: {task:?}");
    let text = world.repo.git(&["show", "task/1:work.txt"]);
    assert_eq!(text.lines().count(), 2, "from where it was: {text}");
    assert_eq!(differences(&world, run).await, Vec::<String>::new());
}

#[tokio::test]
async fn what_was_cancelled_since_gets_a_new_task() {
    let (world, run) = ended_with_a_task().await;
    orders::cancel(&world.project, &caller(), TaskId::FIRST, None).await.unwrap();
    world.rest_task(TaskId::FIRST).await;
    signal(&world, run, "extend", "x").await.unwrap();
    let found = rest(&world, run).await;
    assert_eq!(found.tasks["T1"].number(), 2, "{:?}", found.tasks);
    assert_eq!(world.rest_task(found.tasks["T1"]).await.sessions, 1);
    assert_eq!(events(&world, "run:signalled").await[0]["restarted"], json!(["T1"]));
}

#[tokio::test]
async fn a_recording_keeps_them() {
    let world = of("cycle", CYCLE).await;
    let folder = world.repo.outside().join("tape");
    Recording::create(&folder).unwrap();
    let folder = folder.to_str().unwrap().to_owned();
    let start = async |recording| {
        let workflow = runs::find_workflow(Some(&world.project), "cycle").unwrap();
        let (input, recording) = (json!({}), Some(recording));
        world.create(NewRun { workflow, prd: None, level: None, input, board: false, recording }).await
    };
    let run = start(RecordingMode::Record(folder.clone())).await;
    signal(&world, run, "extend", "at once").await.unwrap();
    rest(&world, run).await;
    for text in ["and more", "and again"] {
        signal(&world, run, "extend", text).await.unwrap();
        rest(&world, run).await;
    }
    close_recording(&world.project, run).await.unwrap();

    let recording = Recording::open(Path::new(&folder)).unwrap();
    let head = recording.head().unwrap();
    assert_eq!(head.root.signals.len(), 3);
    let replay = start(RecordingMode::Replay(folder.clone())).await;
    let roles = Arc::new(AgentRoles::default());
    let mut found = world.rest_with(replay, Arc::clone(&roles) as _).await;
    while head.act(&world.project, &caller(), &found).await.unwrap() {
        found = world.rest_with(replay, Arc::clone(&roles) as _).await;
    }
    assert_eq!(state(&found)["pending"], json!(["at once", "and more", "and again"]), "{found:?}");
    let differs = recording.compare(&world.project, replay, roles.differences()).await.unwrap();
    let differs: Vec<String> = differs.iter().map(ToString::to_string).collect();
    assert_eq!(differs, Vec::<String>::new());
}
