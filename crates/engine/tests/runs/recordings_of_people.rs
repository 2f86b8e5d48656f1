//! What people do to a recorded run, beside approving its tasks, and how a replay comes by it.

use crate::support::{World, caller};
use regatta_engine::core::run::{Phase, RecordingMode, Run, Situation, Status};
use regatta_engine::core::{Code, RunId};
use regatta_engine::runs::{self, AgentRoles, NewRun, Recording, RecordingHead, close_recording};
use regatta_engine::{list_tasks, orders};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Makes a file, and says so.
const CONFIG: &str = r#"
[project]
default_branch = "main"
approval = "person"

[agents.worker]
kind = "command"
command = ["sh", "-c", "cat > /dev/null; echo made > made.txt; echo '{}'"]

[roles]
coder = "worker"

[sandbox]
mode = "off"
"#;

/// Asks a person, whose answer must be short.
const ASKING: &str = r#"
name = "asking"
start = "ask"
nodes.ask = { kind = "approval", question = "'Which?'", set = { said = "output.text" } }
nodes.done = { kind = "end" }
edges = [{ id = "on", from = "ask", to = "done" }]
"#;

/// Puts up a task that cannot be sent back.
const PUT_UP: &str = r#"
name = "put-up"
start = "work"
board = { items = "[{'id': 'T1', 'title': 'A task'}]", key = "id", title = "title" }
nodes.work = { kind = "agent", role = "coder", task = "'T1'" }
nodes.done = { kind = "end" }
edges = [{ id = "on", from = "work", to = "done", submit = "'T1'" }]
"#;

/// Has no board of its own, and children that may have one.
const OUTER: &str = r#"
name = "outer"
start = "each"
nodes.each = { kind = "map", workflow = "one", items = "input.items", key = "id", max_parallel = 1 }
nodes.done = { kind = "end" }
edges = [{ id = "all", from = "each", to = "done" }]
"#;

const STATE: &str = r#"{
  "type": "object",
  "properties": { "said": { "type": "string", "maxLength": 5, "default": "" } }
}"#;

/// A project with one workflow, whose children play another.
struct Stand {
    world: World,
    name: &'static str,
}

impl Stand {
    async fn new(name: &'static str, text: &str, child: Option<&str>) -> Self {
        let world = World::new("person", &[], "", "").await.with_config(CONFIG).await;
        let write = |below: &str, text: &str| {
            let folder = format!(".regatta/workflows/{name}/{below}");
            world.repo.write(&format!("{folder}workflow.toml"), text);
            world.repo.write(&format!("{folder}state.schema.json"), STATE);
            world.repo.write(&format!("{folder}roles/coder.md"), "Work.");
            world.repo.write(&format!("{folder}roles/coder.output.json"), "{}");
        };
        write("", text);
        if let Some(child) = child {
            write("children/one/", child);
        }
        Stand { world, name }
    }

    async fn begin(&self, recording: RecordingMode, board: bool) -> RunId {
        let workflow = runs::find_workflow(Some(&self.world.project), self.name).unwrap();
        let input = json!({ "items": [{ "id": "a" }, { "id": "b" }] });
        self.world
            .create(NewRun { workflow, prd: None, level: None, input, board, recording: Some(recording) })
            .await
    }

    /// Begins to record a run, and waits until it rests.
    async fn record(&self, board: bool) -> (String, Run) {
        let folder = self.world.repo.outside().join("tape");
        Recording::create(&folder).unwrap();
        let folder = folder.to_str().unwrap().to_owned();
        let run = self.begin(RecordingMode::Record(folder.clone()), board).await;
        (folder, self.world.rest(run).await)
    }

    async fn answer(&self, run: RunId, text: &str) {
        self.world.answer(run, true, text).await;
    }

    async fn stop(&self, run: RunId) {
        runs::stop(&self.world.project, &caller(), run, None).await.unwrap();
    }

    /// Returns what is on the recording when its run rests.
    async fn finish(&self, folder: &str, run: RunId) -> RecordingHead {
        self.world.rest(run).await;
        close_recording(&self.world.project, run).await.unwrap();
        Recording::open(Path::new(folder)).unwrap().head().unwrap()
    }

    /// Plays a recording, with people who do what they did; tells where that leads and what differs.
    async fn replay(&self, folder: &str, does_act: bool) -> (Run, Vec<String>) {
        let recording = Recording::open(Path::new(folder)).unwrap();
        let head = recording.head().unwrap();
        let run = self.begin(RecordingMode::Replay(folder.to_owned()), head.board).await;
        let roles = Arc::new(AgentRoles::default());
        let mut found = self.world.rest_with(run, Arc::clone(&roles) as Arc<_>).await;
        while does_act && head.act(&self.world.project, &caller(), &found).await.unwrap() {
            found = self.world.rest_with(run, Arc::clone(&roles) as Arc<_>).await;
        }
        let differs = recording.compare(&self.world.project, run, roles.differences()).await.unwrap();
        (found, differs.iter().map(ToString::to_string).collect())
    }
}

fn code_of(run: &Run) -> Option<Code> {
    match &run.situation {
        Situation::Failed { error } => Some(error.code),
        _ => None,
    }
}

fn first_child(run: &Run) -> RunId {
    run.children_under_way()[0]
}

#[tokio::test]
async fn a_recording_of_a_run_that_waits_is_refused_and_names_the_run() {
    let stand = Stand::new("asking", ASKING, None).await;
    let (folder, asked) = stand.record(true).await;
    assert_eq!(asked.status(), Status::Paused, "{asked:?}");
    close_recording(&stand.world.project, asked.id).await.unwrap();
    let text = std::fs::read_to_string(Path::new(&folder).join("run.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["status"], "paused");
    let refused = Recording::open(Path::new(&folder)).unwrap().head().unwrap_err().explain();
    assert!(refused.next.contains(&format!("regatta run --resume {}", asked.id)), "{refused:?}");
    stand.answer(asked.id, "blue").await;
    assert_eq!(stand.finish(&folder, asked.id).await.root.status, "completed");
}

#[tokio::test]
async fn a_recording_of_a_run_that_was_stopped_is_refused() {
    for (workflow, child, stops_child) in [(ASKING, None, false), (OUTER, Some(ASKING), true)] {
        let name = if stops_child { "outer" } else { "asking" };
        let stand = Stand::new(name, workflow, child).await;
        let (folder, asked) = stand.record(true).await;
        stand.stop(if stops_child { first_child(&asked) } else { asked.id }).await;
        let mut rests = stand.world.rest(asked.id).await;
        while let [child] = rests.children_under_way()[..] {
            stand.answer(child, "blue").await;
            rests = stand.world.rest(asked.id).await;
        }
        close_recording(&stand.world.project, asked.id).await.unwrap();
        let refused = Recording::open(Path::new(&folder)).unwrap().head().unwrap_err().explain();
        assert!(refused.why.join("").contains("was stopped"), "{refused:?}");
    }
}

#[tokio::test]
async fn an_answer_that_the_state_does_not_take_is_on_the_recording() {
    let stand = Stand::new("asking", ASKING, None).await;
    let (folder, asked) = stand.record(true).await;
    stand.answer(asked.id, "too long").await;
    let head = stand.finish(&folder, asked.id).await;
    assert_eq!(head.root.error.as_deref(), Some("STATE_INVALID"));
    let (found, differs) = stand.replay(&folder, true).await;
    assert_eq!((code_of(&found), differs), (Some(Code::StateInvalid), Vec::new()), "{found:?}");
}

#[tokio::test]
async fn a_rejection_that_the_run_cannot_take_is_on_the_recording() {
    let stand = Stand::new("put-up", PUT_UP, None).await;
    let (folder, waiting) = stand.record(true).await;
    let Some(&Phase::Landing { task, .. }) = waiting.phase() else { panic!("{waiting:?}") };
    let (reason, more) = ("It is empty.".to_owned(), Some("Fill it.".to_owned()));
    orders::reject(&stand.world.project, &caller(), task, reason, more).await.unwrap();
    let head = stand.finish(&folder, waiting.id).await;
    assert_eq!(head.root.error.as_deref(), Some("RUN_FAILED"));
    let decided: Vec<_> = head.root.decisions.iter().map(|one| (one.approved, one.reason.as_str())).collect();
    assert_eq!(decided, [(false, "It is empty.\n\nFill it.")]);
    let (found, differs) = stand.replay(&folder, true).await;
    assert_eq!((code_of(&found), differs), (Some(Code::RunFailed), Vec::new()), "{found:?}");
}

#[tokio::test]
async fn a_recording_says_whether_the_items_of_children_were_on_the_board() {
    let child = PUT_UP.replace("put-up", "one").replace(", submit = \"'T1'\"", "");
    for has_board in [true, false] {
        let stand = Stand::new("outer", OUTER, Some(&child)).await;
        let (folder, found) = stand.record(has_board).await;
        assert_eq!(found.status(), Status::Completed, "{found:?}");
        let tasks = list_tasks(&stand.world.project).await.unwrap().len();
        assert_eq!(stand.finish(&folder, found.id).await.board, has_board);
        let (found, differs) = stand.replay(&folder, true).await;
        assert_eq!((found.status(), differs), (Status::Completed, Vec::new()), "{found:?}");
        let all = list_tasks(&stand.world.project).await.unwrap().len();
        assert_eq!((tasks, all), if has_board { (2, 4) } else { (0, 0) });
    }
}
