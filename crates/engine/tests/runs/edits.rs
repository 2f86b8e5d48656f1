//! Edits of the files of runs: taken in at once, merged, kept where they do not fit, and never lost.

use crate::messages::{answer, told, world as working};
use crate::support::{NOBODY, World, caller};
use regatta_engine::core::run::{RecordingMode, Run, Status};
use regatta_engine::core::{Code, RunId};
use regatta_engine::runs::{self, AgentRoles, NewRun, Recording, close_recording};
use regatta_engine::{Engine, Journal, Stop};
use regatta_testkit::wait::{WAIT_MAX, until_async};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

const TOML: &str = r#"
name = "edited"
start = "ask"
folder = "shelf"

[files.plan]
path = "plan.json"
place = "plan"

[files.note]
path = "note.md"
place = "note"
body = "text"

[files.log]
path = "log.jsonl"
append = "log"

[files.summary]
path = "summary.json"
value = "{ 'title': plan.title, 'items': $count(log) }"

[nodes.ask]
kind = "approval"
question = "'More?'"

[nodes.ask.set]
last = "output.text"
"plan.last" = "output.text"
"log[+]" = "{ 'text': output.text }"

[nodes.done]
kind = "end"

[[edges]]
id = "again"
from = "ask"
to = "ask"
when = "output.approved"
maxIterations = 100
overrides = ["enough"]

[[edges]]
id = "enough"
from = "ask"
to = "done"
"#;

/// A role whose result replaces the plan.
const WORKING: &str = r#"
name = "working"
start = "work"
folder = "shelf"

[files.plan]
path = "plan.json"
place = "plan"

[files.summary]
path = "summary.json"
value = "{ 'title': plan.title }"

[nodes.work]
kind = "agent"
role = "worker"
input = { title = "plan.title" }
set = { plan = "output.plan", last = "plan.title" }

[nodes.done]
kind = "end"

[[edges]]
id = "again"
from = "work"
to = "work"
when = "output.again"
maxIterations = 3
overrides = ["worked"]

[[edges]]
id = "worked"
from = "work"
to = "done"
"#;

const STATE: &str = r#"{
  "type": "object",
  "properties": {
    "plan": {
      "type": "object",
      "properties": {
        "title": { "type": "string" },
        "last": { "type": "string" },
        "tasks": { "type": "array", "items": { "type": "object", "required": ["id"] } }
      },
      "default": { "title": "a", "tasks": [{ "id": "T1" }, { "id": "T2" }] }
    },
    "note": { "type": "object", "default": { "v": 1, "text": "one\ntwo\nthree" } },
    "log": { "type": "array", "items": { "type": "object" }, "default": [] },
    "last": { "type": "string", "default": "" }
  }
}"#;

async fn world() -> World {
    let world = World::new("auto", &[], "", "").await.with_config(NOBODY).await;
    world.repo.write(".regatta/workflows/edited/workflow.toml", TOML);
    world.repo.write(".regatta/workflows/edited/state.schema.json", STATE);
    world
}

async fn start(world: &World, name: &str, recording: Option<RecordingMode>) -> RunId {
    let workflow = runs::find_workflow(Some(&world.project), name).unwrap();
    let input = json!({});
    world.create(NewRun { workflow, prd: None, level: None, input, board: false, recording }).await
}

/// A run that waits for an answer, with its files.
async fn begun() -> (World, RunId) {
    let world = world().await;
    let run = start(&world, "edited", None).await;
    world.rest(run).await;
    (world, run)
}

async fn reply(world: &World, run: RunId, approved: bool, text: &str) -> Run {
    world.answer(run, approved, text).await;
    world.rest(run).await
}

fn path(world: &World, name: &str) -> PathBuf {
    world.repo.path().join(".regatta/shelf").join(name)
}

fn read(world: &World, name: &str) -> String {
    std::fs::read_to_string(path(world, name)).unwrap_or_default()
}

fn read_json(world: &World, name: &str) -> Value {
    serde_json::from_str(&read(world, name)).unwrap_or_default()
}

fn write(world: &World, name: &str, text: impl AsRef<[u8]>) {
    std::fs::write(path(world, name), text).unwrap();
}

/// Writes as editors do that make a new file and give it the name.
fn replace(world: &World, name: &str, text: &str) {
    let other = path(world, "4913~");
    std::fs::write(&other, text).unwrap();
    std::fs::rename(other, path(world, name)).unwrap();
}

/// Changes one field of the plan, in a text of another form.
fn change_plan(world: &World, change: impl Fn(&mut Value)) -> String {
    let mut plan = read_json(world, "plan.json");
    change(&mut plan);
    plan.to_string()
}

async fn state(world: &World, run: RunId) -> Value {
    runs::get_run(&world.project, run).await.unwrap().sheet.state().clone()
}

async fn events(world: &World, kind: &str) -> Vec<Value> {
    let mut journal = Journal::after(&world.project, 0);
    let found = journal.read().await.unwrap();
    found.iter().map(regatta_engine::Entry::to_json).filter(|event| event["type"] == kind).collect()
}

async fn until_count(world: &World, kind: &str, count: usize) {
    let store = async {
        let mut journal = Journal::after(&world.project, 0);
        let mut found = 0;
        while found < count {
            let entries = journal.read().await.unwrap();
            found += entries.iter().filter(|entry| entry.to_json()["type"] == kind).count();
            if found < count {
                tokio::task::yield_now().await;
            }
        }
    };
    tokio::time::timeout(WAIT_MAX, store).await.unwrap_or_else(|_| panic!("{count} of {kind}"));
}

fn kept(world: &World) -> Vec<String> {
    let entries = std::fs::read_dir(path(world, "")).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.contains(".edit-")).collect();
    names.sort();
    names
}

async fn codes(world: &World, run: RunId) -> Vec<Code> {
    let kept = runs::get_run(&world.project, run).await.unwrap().edits.kept;
    kept.into_iter().map(|kept| kept.error.code).collect()
}

#[tokio::test]
async fn an_edit_without_an_engine_is_taken_in_by_the_next_one() {
    let (world, run) = begun().await;
    write(&world, "plan.json", change_plan(&world, |plan| plan["tasks"][1]["title"] = json!("mine")));
    replace(&world, "note.md", &read(&world, "note.md").replace("two", "TWO"));
    write(&world, "log.jsonl", "{\"text\": \"theirs\"}\n");
    reply(&world, run, true, "1").await;
    let now = state(&world, run).await;
    assert_eq!(
        now["plan"],
        json!({ "title": "a", "tasks": [{ "id": "T1" }, { "id": "T2", "title": "mine" }], "last": "1" })
    );
    assert_eq!(now["note"]["text"], "one\nTWO\nthree");
    let log = now["log"].as_array().unwrap();
    assert_eq!(log.len(), 2, "{log:?}");
    assert_eq!(read_json(&world, "plan.json"), now["plan"], "the file says both");
    assert_eq!(read_json(&world, "summary.json"), json!({ "title": "a", "items": 2 }));
    let lines: Vec<Value> =
        read(&world, "log.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(&lines, log, "no line is there twice");
    assert_eq!(events(&world, "run:edited").await.len(), 3);
    assert_eq!((kept(&world), codes(&world, run).await), (vec![], vec![]));
    let edited = &events(&world, "run:edited").await[0];
    assert_eq!((&edited["actor"], &edited["path"]), (&json!("somebody"), &json!(".regatta/shelf/plan.json")));
    // The next edit is made on that.
    write(&world, "plan.json", change_plan(&world, |plan| plan["title"] = json!("b")));
    reply(&world, run, true, "2").await;
    let now = state(&world, run).await;
    assert_eq!((&now["plan"]["title"], &now["plan"]["last"]), (&json!("b"), &json!("2")));
    assert_eq!((read(&world, "log.jsonl").lines().count(), kept(&world)), (3, vec![]));
}

#[tokio::test]
async fn an_engine_notices_edits_at_once_however_an_editor_writes() {
    let (world, run) = begun().await;
    let engine = Engine::start(Arc::clone(&world.project)).await.unwrap();
    write(&world, "plan.json", change_plan(&world, |plan| plan["title"] = json!("in place")));
    until_count(&world, "run:edited", 1).await;
    until_async("the file follows", || read(&world, "summary.json").contains("in place")).await;
    replace(&world, "plan.json", &change_plan(&world, |plan| plan["title"] = json!("like vim")));
    until_count(&world, "run:edited", 2).await;
    until_async("the file follows", || read(&world, "summary.json").contains("like vim")).await;
    // Two in a row.
    for title in ["first", "second"] {
        write(&world, "plan.json", change_plan(&world, |plan| plan["title"] = json!(title)));
    }
    until_async("the last one stays", || read(&world, "summary.json").contains("second")).await;
    std::fs::remove_file(path(&world, "plan.json")).unwrap();
    until_async("a file that is gone is written again", || read(&world, "plan.json").contains("second"))
        .await;
    engine.stop(Stop::WhenDone).await.unwrap();
    assert_eq!(state(&world, run).await["plan"]["title"], "second");
    assert_eq!(kept(&world), Vec::<String>::new());
}

#[tokio::test]
async fn what_both_sides_changed_stays_the_runs_and_the_edit_is_kept() {
    let (world, run) = begun().await;
    let text = change_plan(&world, |plan| {
        plan["last"] = json!("mine");
        plan["title"] = json!("mine too");
    });
    world.answer(run, true, "theirs").await;
    write(&world, "plan.json", &text);
    world.rest(run).await;
    let now = state(&world, run).await;
    assert_eq!((&now["plan"]["last"], &now["plan"]["title"]), (&json!("theirs"), &json!("mine too")));
    assert_eq!(read_json(&world, "plan.json"), now["plan"]);
    assert_eq!(codes(&world, run).await, [Code::EditConflict]);
    let [name] = &kept(&world)[..] else { panic!("{:?}", kept(&world)) };
    assert_eq!(read(&world, name), text, "word for word");
    assert_eq!(events(&world, "run:edit_kept").await[0]["kept"], format!(".regatta/shelf/{name}"));
}

#[tokio::test]
async fn what_is_no_edit_is_kept_and_the_file_is_written_again() {
    let (world, run) = begun().await;
    reply(&world, run, true, "1").await;
    let (plan, note, log) = (read(&world, "plan.json"), read(&world, "note.md"), read(&world, "log.jsonl"));
    write(&world, "plan.json", "{ \"title\": ");
    write(&world, "note.md", b"---\nv: 1\n---\n\n\xff\xfe\n");
    write(&world, "log.jsonl", "{\"text\":\"changed\"}\n");
    write(&world, "summary.json", "{}");
    reply(&world, run, true, "2").await;
    let codes_now = codes(&world, run).await;
    assert_eq!(codes_now, [Code::StateCorrupt, Code::StateCorrupt, Code::EditRefused, Code::EditRefused]);
    assert_eq!(kept(&world).len(), 4, "{:?}", kept(&world));
    assert_ne!(read(&world, "plan.json"), plan);
    assert_eq!(read(&world, "note.md"), note);
    assert_eq!(read(&world, "log.jsonl"), format!("{log}{{\"text\":\"2\"}}\n"));
    assert_eq!(read_json(&world, "summary.json"), json!({ "title": "a", "items": 2 }));
    // A text that fits no schema, a line that is no JSON behind one that is, and nesting.
    write(&world, "plan.json", change_plan(&world, |plan| plan["tasks"] = json!([{ "title": "no id" }])));
    write(&world, "log.jsonl", read(&world, "log.jsonl") + "{\"ok\": 1}\n{oops\n");
    write(&world, "note.md", format!("---\nv: {}1{}\n---\n", "[".repeat(200), "]".repeat(200)));
    reply(&world, run, true, "3").await;
    let codes_now = codes(&world, run).await;
    assert_eq!(codes_now[4..], [Code::EditRefused, Code::StateCorrupt, Code::StateCorrupt]);
    assert_eq!(read(&world, "log.jsonl").lines().count(), 3);
    let told: Vec<String> = runs::get_run(&world.project, run)
        .await
        .unwrap()
        .edits
        .kept
        .into_iter()
        .map(|kept| kept.error.message)
        .collect();
    assert!(told[0].contains("line 1"), "{told:?}");
    assert!(told[6].contains("line 4, column"), "{told:?}");
    // And one that has ended.
    reply(&world, run, false, "4").await;
    assert_eq!(runs::get_run(&world.project, run).await.unwrap().status(), Status::Completed);
    write(&world, "plan.json", "{}");
    let engine = Engine::start(Arc::clone(&world.project)).await.unwrap();
    until_count(&world, "run:edit_kept", 8).await;
    until_async("it is written again", || read(&world, "plan.json").contains("\"title\": \"a\"")).await;
    engine.stop(Stop::WhenDone).await.unwrap();
    assert_eq!(codes(&world, run).await[7], Code::EditRefused);
}

#[tokio::test]
async fn what_is_no_file_is_moved_beside_it_and_nothing_hangs() {
    use std::os::unix::fs::symlink;
    let (world, run) = begun().await;
    let outside = world.repo.path().join("outside.json");
    std::fs::write(&outside, "{}").unwrap();
    std::fs::remove_file(path(&world, "plan.json")).unwrap();
    symlink(&outside, path(&world, "plan.json")).unwrap();
    std::fs::remove_file(path(&world, "note.md")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(path(&world, "note.md")).status().unwrap();
    assert!(fifo.success());
    let large = std::fs::File::create(path(&world, "log.jsonl")).unwrap();
    large.set_len(100 * 1024 * 1024).unwrap();
    drop(large);
    std::fs::remove_file(path(&world, "summary.json")).unwrap();
    std::fs::create_dir(path(&world, "summary.json")).unwrap();
    reply(&world, run, true, "1").await;
    assert_eq!(codes(&world, run).await, [Code::StateCorrupt; 4]);
    assert_eq!(kept(&world).len(), 4, "{:?}", kept(&world));
    assert_eq!(read_json(&world, "plan.json")["last"], "1");
    assert_eq!(read(&world, "note.md"), "---\nv: 1\n---\n\none\ntwo\nthree\n");
    assert_eq!(read(&world, "log.jsonl"), "{\"text\":\"1\"}\n");
    assert_eq!(read_json(&world, "summary.json")["items"], 1);
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "{}", "no link is followed");
}

#[tokio::test]
async fn a_file_that_lost_its_end_is_no_edit() {
    let (world, run) = begun().await;
    let half = &read(&world, "note.md")[..20];
    write(&world, "note.md", half);
    write(&world, "plan.json", "");
    // Nobody has touched them for a while.
    for name in ["note.md", "plan.json"] {
        let file = std::fs::File::options().write(true).open(path(&world, name)).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(60)).unwrap();
    }
    reply(&world, run, true, "1").await;
    assert_eq!(codes(&world, run).await, [Code::StateCorrupt, Code::StateCorrupt]);
    assert_eq!(read(&world, "note.md"), "---\nv: 1\n---\n\none\ntwo\nthree\n");
    assert_eq!(read_json(&world, "plan.json")["title"], "a");
    assert_eq!(kept(&world).len(), 2);
}

async fn at_work() -> (World, RunId) {
    let world = working("working", &[("", WORKING)], &["worker"]).await;
    world.repo.write(".regatta/workflows/working/state.schema.json", STATE);
    world.repo.write(".regatta/workflows/working/roles/worker.md", "The title is {{ title }}.");
    let fifo = std::process::Command::new("mkfifo").arg(path_of_gate(&world)).status().unwrap();
    assert!(fifo.success());
    let run = start(&world, "working", None).await;
    (world, run)
}

fn path_of_gate(world: &World) -> PathBuf {
    world.repo.path().join(".regatta/gate")
}

/// A role that waits until somebody opens the gate, and then says this.
fn gated(world: &World, output: &Value) {
    answer(world, "worker", &format!("cat \"$REGATTA_PROJECT/.regatta/gate\" > /dev/null\necho '{output}'"));
}

/// Edits the plan while the role works, and lets it go on once the edit is in the log.
async fn edit_meanwhile(world: &World, run: RunId, title: &str) -> Run {
    let engine = Engine::start(Arc::clone(&world.project)).await.unwrap();
    until_count(world, "session:opened", 1).await;
    write(world, "plan.json", change_plan(world, |plan| plan["title"] = json!(title)));
    until_count(world, "run:edited", 1).await;
    let gate = path_of_gate(world);
    tokio::task::spawn_blocking(move || std::fs::write(gate, "go")).await.unwrap().unwrap();
    until_count(world, "run:completed", 1).await;
    engine.stop(Stop::WhenDone).await.unwrap();
    runs::get_run(&world.project, run).await.unwrap()
}

#[tokio::test]
async fn the_set_of_a_step_sees_what_was_edited_while_its_role_worked() {
    let (world, run) = at_work().await;
    gated(&world, &json!({ "said": "done" }));
    let found = edit_meanwhile(&world, run, "mine").await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(found.sheet.state()["last"], "mine");
    assert_eq!(found.visits["work"][""], 1, "the session was not interrupted");
    assert!(kept(&world).is_empty());
    let prompt = world.repo.path().join(".regatta/prompt-1-1.md");
    assert!(
        std::fs::read_to_string(prompt).unwrap().contains("The title is a."),
        "its prompt was made before"
    );
    let _ = told(&world, 1, 1);
}

#[tokio::test]
async fn a_result_that_replaces_an_edit_wins_and_the_edit_is_kept() {
    let (world, run) = at_work().await;
    gated(&world, &json!({ "plan": { "title": "from the role" } }));
    let found = edit_meanwhile(&world, run, "mine").await;
    assert_eq!(found.sheet.state()["plan"], json!({ "title": "from the role" }));
    assert_eq!(codes(&world, run).await, [Code::EditConflict]);
    assert_eq!(read_json(&world, "plan.json"), json!({ "title": "from the role" }));
    let [name] = &kept(&world)[..] else { panic!("{:?}", kept(&world)) };
    assert_eq!(read_json(&world, name)["title"], "mine");
}

#[tokio::test]
async fn a_prompt_says_what_was_edited_before_it_and_nothing_is_in_conflict() {
    let (world, run) = at_work().await;
    answer(&world, "worker", "echo '{\"plan\": {\"title\": \"from the role\"}}'");
    // The files are there before the first step.
    write(&world, "plan.json", change_plan(&world, |plan| plan["title"] = json!("mine")));
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    let prompt = std::fs::read_to_string(world.repo.path().join(".regatta/prompt-1-1.md")).unwrap();
    assert!(prompt.contains("The title is mine."), "{prompt}");
    assert_eq!((codes(&world, run).await, kept(&world)), (vec![], vec![]));
    assert_eq!(found.sheet.state()["plan"]["title"], "from the role");
}

#[tokio::test]
async fn a_fork_has_the_edits_before_its_step_and_a_recording_keeps_them() {
    let world = working("working", &[("", WORKING)], &["worker"]).await;
    world.repo.write(".regatta/workflows/working/state.schema.json", STATE);
    answer(
        &world,
        "worker",
        "[ \"$REGATTA_STEP\" = 1 ] && again=true || again=false\necho \"{\\\"again\\\": $again}\"",
    );
    let folder = world.repo.outside().join("tape");
    Recording::create(&folder).unwrap();
    let folder = folder.to_str().unwrap().to_owned();
    let run = start(&world, "working", Some(RecordingMode::Record(folder.clone()))).await;
    write(&world, "plan.json", change_plan(&world, |plan| plan["title"] = json!("mine")));
    world.rest(run).await;
    close_recording(&world.project, run).await.unwrap();
    assert_eq!(state(&world, run).await["last"], "mine");

    let recording = Recording::open(std::path::Path::new(&folder)).unwrap();
    assert_eq!(recording.head().unwrap().root.edits.len(), 1);
    let replay = start(&world, "working", Some(RecordingMode::Replay(folder))).await;
    let roles = Arc::new(AgentRoles::default());
    world.rest_with(replay, Arc::clone(&roles) as _).await;
    assert_eq!(state(&world, replay).await["last"], "mine");
    let differs = recording.compare(&world.project, replay, roles.differences()).await.unwrap();
    assert!(differs.is_empty(), "{:?}", differs.iter().map(ToString::to_string).collect::<Vec<_>>());
    let replayed = runs::replay(&world.project, run, None).await.unwrap();
    assert!(replayed.iter().all(|step| step.differs.is_none()));

    let forked = runs::fork(&world.project, &caller(), run, Some(2), None).await.unwrap();
    assert_eq!(state(&world, forked).await["plan"]["title"], "mine");
}
