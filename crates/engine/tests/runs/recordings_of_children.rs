//! Recordings of runs with children: each answer is kept separately, and what children decide is compared.

use crate::support::{World, caller};
use regatta_engine::core::RunId;
use regatta_engine::core::run::{Phase, RecordingMode, Run, Status};
use regatta_engine::runs::{self, AgentRoles, NewRun, Recording, close_recording};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Goes through its items twice.
const OUTER: &str = r#"
name = "fan"
start = "each"

[nodes.each]
kind = "map"
workflow = "one"
items = "input.items"
key = "key"
max_parallel = 2
set = { results = "$append(results, [output])", rounds = "rounds + 1" }

[nodes.done]
kind = "end"

[[edges]]
id = "again"
from = "each"
to = "each"
when = "rounds < 2"
maxIterations = 3

[[edges.exhausted]]
to = "done"

[[edges]]
id = "all"
from = "each"
to = "done"
when = "rounds >= 2"
"#;

const INNER: &str = r#"
name = "one"
start = "parts"

[nodes.parts]
kind = "map"
workflow = "two"
items = "[{'key': 'x'}, {'key': 'y'}]"
key = "key"
max_parallel = 2
set = { results = "output" }

[nodes.done]
kind = "end"
result = "results"

[[edges]]
id = "all"
from = "parts"
to = "done"
"#;

const LEAF: &str = r#"
name = "two"
start = "work"

[nodes.work]
kind = "agent"
role = "coder"
input = { key = "input.key" }
set = { said = "output.said" }

[nodes.done]
kind = "end"
result = "said"

[nodes.other]
kind = "end"
result = "said"

[[edges]]
id = "on"
from = "work"
to = "done"
"#;

/// Asks a person, and ends as they say.
const ASKING: &str = r#"
name = "one"
start = "ask"

[nodes.ask]
kind = "approval"
question = "'Which ' & input.key & '?'"
set = { said = "output.text" }

[nodes.done]
kind = "end"
result = "said"

[[edges]]
id = "on"
from = "ask"
to = "done"
"#;

const STATE: &str = r#"{
  "type": "object",
  "properties": {
    "results": { "type": "array", "default": [] },
    "rounds": { "type": "integer", "default": 0 },
    "said": { "type": "string", "default": "" }
  }
}"#;

/// Each answer names the run that it was given in, so that no two are alike.
const CONFIG: &str = r#"
[project]
default_branch = "main"
approval = "auto"

[agents.worker]
kind = "command"
command = ["sh", "-c", "cat > /dev/null; printf '{\"said\":\"run %s\"}' \"$REGATTA_RUN_ID\""]

[roles]
coder = "worker"
"#;

async fn world(files: &[(&str, &str)]) -> World {
    let world = World::new("auto", &[], "", "").await.with_config(CONFIG).await;
    for (name, text) in files {
        world.repo.write(&format!(".regatta/workflows/fan/{name}"), text);
    }
    world
}

fn nested(leaf: &str) -> Vec<(&'static str, &str)> {
    vec![
        ("workflow.toml", OUTER),
        ("state.schema.json", STATE),
        ("children/one/workflow.toml", INNER),
        ("children/one/state.schema.json", STATE),
        ("children/one/children/two/workflow.toml", leaf),
        ("children/one/children/two/state.schema.json", STATE),
        ("children/one/children/two/roles/coder.md", "Work on {{ key }}."),
        (
            "children/one/children/two/roles/coder.output.json",
            r#"{"type": "object", "required": ["said"], "properties": {"said": {"type": "string"}}}"#,
        ),
    ]
}

async fn begin(world: &World, recording: RecordingMode, items: Value) -> RunId {
    let workflow = runs::find_workflow(Some(&world.project), "fan").unwrap();
    let (input, recording) = (json!({ "items": items }), Some(recording));
    world.create(NewRun { workflow, prd: None, level: None, input, board: true, recording }).await
}

fn new_recording(world: &World) -> String {
    let folder = world.repo.outside().join("tape");
    Recording::create(&folder).unwrap();
    folder.to_str().unwrap().to_owned()
}

async fn compared(world: &World, folder: &str, run: RunId, roles: &AgentRoles) -> Vec<String> {
    let recording = Recording::open(Path::new(folder)).unwrap();
    let found = recording.compare(&world.project, run, roles.differences()).await.unwrap();
    found.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn every_answer_of_a_family_is_kept_and_what_children_decide_is_compared() {
    let items = json!([{ "key": "p q" }, { "key": "p_q" }]);
    let first = world(&nested(LEAF)).await;
    let folder = new_recording(&first);
    let run = begin(&first, RecordingMode::Record(folder.clone()), items.clone()).await;
    let recorded = first.rest(run).await;
    assert_eq!(recorded.status(), Status::Completed, "{recorded:?}");
    let takes = std::fs::read_dir(&folder).unwrap().filter_map(Result::ok);
    let takes = takes.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "md"));
    assert_eq!(takes.count(), 8, "two rounds of two items with two parts");

    let other = LEAF.replace("to = \"done\"", "to = \"other\"");
    let fixed = nested(&other);
    let replayed = runs::replay(&first.project, run, None).await.unwrap();
    assert_eq!(replayed.len(), 14, "eight leaves, four children and two rounds: {replayed:?}");
    assert!(replayed.iter().all(|step| step.differs.is_none()), "{replayed:?}");
    for (name, text) in &fixed {
        first.repo.write(&format!(".regatta/workflows/fan/{name}"), text);
    }
    let listed = runs::find_workflow(Some(&first.project), "fan").unwrap();
    let replayed = runs::replay(&first.project, run, Some(&listed)).await.unwrap();
    let differs: Vec<_> = replayed.iter().filter(|step| step.differs.is_some()).collect();
    assert_eq!(differs.len(), 8, "{replayed:?}");
    assert_eq!((differs[0].way.len(), differs[0].way[1].item.as_str()), (2, "x"));

    let second = world(&nested(LEAF)).await;
    let run = begin(&second, RecordingMode::Replay(folder.clone()), items.clone()).await;
    let roles = Arc::new(AgentRoles::default());
    let played = second.rest_with(run, Arc::clone(&roles) as Arc<_>).await;
    assert_eq!(*played.sheet.state(), *recorded.sheet.state());
    assert_eq!(compared(&second, &folder, run, &roles).await, [""; 0]);

    let third = world(&fixed).await;
    let run = begin(&third, RecordingMode::Replay(folder.clone()), items).await;
    let roles = Arc::new(AgentRoles::default());
    third.rest_with(run, Arc::clone(&roles) as Arc<_>).await;
    let found = compared(&third, &folder, run, &roles).await;
    assert_eq!(found.len(), 8, "{found:?}");
    assert_eq!(
        found[0],
        "step 1 for p q, step 1 for x, step 1: recorded `work` -on-> `done`, now `work` -on-> `other`"
    );
}

async fn find_asking(world: &World, run: &Run) -> Option<Run> {
    let Some(Phase::Mapping(mapping)) = run.phase() else { return None };
    for child in mapping.children().iter().filter_map(|child| child.run) {
        let found = runs::get_run(&world.project, child).await.unwrap();
        if matches!(found.phase(), Some(Phase::Asking { .. })) {
            return Some(found);
        }
    }
    None
}

#[tokio::test]
async fn what_children_were_answered_is_on_the_recording_of_the_family() {
    let files = [
        ("workflow.toml", OUTER),
        ("state.schema.json", STATE),
        ("children/one/workflow.toml", ASKING),
        ("children/one/state.schema.json", STATE),
    ];
    let items = json!([{ "key": "a" }, { "key": "b" }]);
    let first = world(&files).await;
    let folder = new_recording(&first);
    let run = begin(&first, RecordingMode::Record(folder.clone()), items.clone()).await;
    let unfinished = Recording::open(Path::new(&folder)).unwrap().head().unwrap_err().explain();
    assert!(unfinished.next.contains(&format!("regatta run --resume {run}")), "{unfinished:?}");
    let mut recorded = first.rest(run).await;
    let mut asked = 0;
    while let Some(child) = find_asking(&first, &recorded).await {
        asked += 1;
        assert!(asked <= 4, "two rounds of two items");
        first.answer(child.id, true, &format!("answer {asked}")).await;
        close_recording(&first.project, child.id).await.unwrap();
        let text = std::fs::read_to_string(Path::new(&folder).join("run.json")).unwrap();
        let head: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(head["workflow"], "fan", "a child does not write over its family");
        recorded = first.rest(run).await;
    }
    assert_eq!(recorded.status(), Status::Completed, "{recorded:?}");
    let head = Recording::open(Path::new(&folder)).unwrap().head().unwrap();
    assert_eq!((head.workflow.as_str(), head.root.steps.len(), head.children.len()), ("fan", 2, 4));

    let second = world(&files).await;
    let run = begin(&second, RecordingMode::Replay(folder.clone()), items).await;
    let mut played = second.rest(run).await;
    while head.act(&second.project, &caller(), &played).await.unwrap() {
        played = second.rest(run).await;
    }
    assert_eq!(*played.sheet.state(), *recorded.sheet.state());
    assert_eq!(compared(&second, &folder, run, &AgentRoles::default()).await, [""; 0]);
}
