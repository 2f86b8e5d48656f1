//! The files of a run: what the log says, valid at every time, and never over somebody's edit.

use crate::support::{NOBODY, World, caller};
use regatta_engine::core::run::Status;
use regatta_engine::core::{Code, RunId};
use regatta_engine::runs::{self, NewRun};
use regatta_engine::{Error, Journal, RunFileView, write_elsewhere};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Each answer of a person is an item, and the last one is shown in every form.
const KEPT: &str = r#"
name = "kept"
start = "ask"
folder = "shelf"

[view]
key = "input.key"
items = "$count(log)"

[files.plan]
path = "{key}/plan.json"
place = "plan"

[files.note]
path = "{key}/note.md"
place = "note"
body = "text"

[files.log]
path = "{key}/log.jsonl"
append = "log"

[files.timeline]
path = "{key}/timeline.md"
append = "log"
template = "files/entry.md"

[files.status]
path = "{key}/status.json"
schema = "files/status.json"
value = "{ 'items': $items, 'status': $run.status, 'odd': last = 'bad' ? 'odd' }"

[files.number]
path = "{key}/number.json"
value = "{ 'number': $number(last) }"

[files.summary]
path = "{key}/summary.md"
value = "{ 'items': $items, 'last': last }"
template = "files/summary.md"

[nodes.ask]
kind = "approval"
question = "'More?'"

[nodes.ask.set]
last = "output.text"
plan = "{ 'tasks': [{ 'id': 'T1', 'title': output.text }] }"
note = "{ 'version': $items + 1, 'text': '# ' & output.text & '\n' }"
"log[+]" = "output.text = 'long' ? [1..10].{ 'n': $, 'text': $pad('', 20000, 'x') } : { 'text': output.text }"

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

const STATE: &str = r#"{
  "type": "object",
  "properties": {
    "log": { "type": "array", "default": [], "items": { "type": "object", "properties": { "n": { "type": "integer" }, "text": { "type": "string" } } } },
    "plan": { "type": ["object", "null"], "default": null },
    "note": {
      "type": ["object", "null"], "default": null,
      "properties": { "version": { "type": "integer" }, "text": { "type": "string" } }
    },
    "last": { "type": "string", "default": "0" }
  }
}"#;

const INPUT: &str = r#"{
  "type": "object",
  "properties": { "key": { "type": "string", "default": "one" } }
}"#;

const STATUS: &str = r#"{
  "type": "object",
  "properties": { "items": { "type": "integer" }, "status": { "type": "string" } },
  "required": ["items", "status"],
  "additionalProperties": false
}"#;

async fn world() -> World {
    let world = World::new("auto", &[], "", "").await.with_config(NOBODY).await;
    write(
        &world,
        "kept",
        &[
            ("workflow.toml", KEPT),
            ("state.schema.json", STATE),
            ("input.schema.json", INPUT),
            ("files/entry.md", "- {{ text }}\n"),
            ("files/status.json", STATUS),
            ("files/summary.md", "{{ items }} items, the last is {{ last }}.\n"),
        ],
    );
    world
}

fn write(world: &World, name: &str, files: &[(&str, &str)]) {
    for (file, text) in files {
        world.repo.write(&format!(".regatta/workflows/{name}/{file}"), text);
    }
}

fn new_run(world: &World, name: &str, input: Value) -> NewRun {
    let workflow = runs::find_workflow(Some(&world.project), name).unwrap();
    NewRun { workflow, prd: None, level: None, input, board: false, recording: None }
}

async fn begin(world: &World) -> RunId {
    world.create(new_run(world, "kept", json!({}))).await
}

/// Answers the question, and lets an engine work until the run rests again.
async fn answer(world: &World, run: RunId, approved: bool, text: &str) {
    world.answer(run, approved, text).await;
    world.rest(run).await;
}

fn shelf(world: &World) -> PathBuf {
    world.repo.path().join(".regatta/shelf/one")
}

fn read(world: &World, name: &str) -> Option<String> {
    std::fs::read_to_string(shelf(world).join(name)).ok()
}

fn read_json(world: &World, name: &str) -> Value {
    serde_json::from_str(&read(world, name).unwrap()).unwrap()
}

/// Lists the files, also those that were kept beside them.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

async fn view(world: &World, run: RunId, name: &str) -> RunFileView {
    let view = runs::show_run_only(&world.project, run).await.unwrap();
    view.files.into_iter().find(|file| file.name == name).unwrap()
}

async fn error(world: &World, run: RunId, name: &str) -> Option<Code> {
    view(world, run, name).await.error.map(|error| error.code)
}

fn code(error: &Error) -> Code {
    error.explain().code
}

#[tokio::test]
async fn files_are_there_before_the_first_step_and_follow_the_log() {
    let world = world().await;
    let run = begin(&world).await;
    // No engine has worked on it yet.
    assert_eq!(
        names(&shelf(&world)),
        ["log.jsonl", "number.json", "status.json", "summary.md", "timeline.md"],
        "a value that is null has no file"
    );
    assert_eq!(read_json(&world, "status.json"), json!({ "items": 0, "status": "paused" }));
    assert_eq!(read(&world, "log.jsonl").unwrap(), "");
    world.rest(run).await;
    answer(&world, run, true, "1").await;
    answer(&world, run, true, "2").await;
    assert_eq!(read_json(&world, "plan.json"), json!({ "tasks": [{ "id": "T1", "title": "2" }] }));
    assert_eq!(read(&world, "note.md").unwrap(), "---\nversion: 2\n---\n\n# 2\n\n");
    assert_eq!(read(&world, "log.jsonl").unwrap(), "{\"text\":\"1\"}\n{\"text\":\"2\"}\n");
    assert_eq!(read(&world, "timeline.md").unwrap(), "- 1\n- 2\n");
    assert_eq!(read_json(&world, "number.json"), json!({ "number": 2 }));
    assert_eq!(read(&world, "summary.md").unwrap(), "2 items, the last is 2.\n");
    assert_eq!(read_json(&world, "status.json")["items"], 2);
    answer(&world, run, false, "3").await;
    assert_eq!(runs::get_run(&world.project, run).await.unwrap().status(), Status::Completed);
    assert_eq!(read_json(&world, "status.json"), json!({ "items": 3, "status": "completed" }));
    assert_eq!(names(&shelf(&world)).len(), 7, "nothing is left beside them: {:?}", names(&shelf(&world)));
    assert_eq!(view(&world, run, "plan").await.path, ".regatta/shelf/one/plan.json");
}

#[tokio::test]
async fn a_value_that_does_not_fit_leaves_the_last_valid_one_and_the_run_continues() {
    let world = world().await;
    let run = begin(&world).await;
    world.rest(run).await;
    answer(&world, run, true, "1").await;
    answer(&world, run, true, "bad").await;
    assert_eq!(read_json(&world, "number.json"), json!({ "number": 1 }));
    assert_eq!(read_json(&world, "status.json")["items"], 1);
    assert_eq!(error(&world, run, "number").await, Some(Code::FileValueFailed));
    assert_eq!(error(&world, run, "status").await, Some(Code::FileInvalid));
    assert_eq!(error(&world, run, "log").await, None);
    assert_eq!(read(&world, "timeline.md").unwrap(), "- 1\n- bad\n", "the others follow");
    let found = regatta_engine::examine(&world.project).await.unwrap();
    let told: Vec<&str> = found.iter().map(|finding| &*finding.what).collect();
    assert!(told.iter().any(|what| what.starts_with("FILE_INVALID: file `status` of run 1")), "{told:?}");
    answer(&world, run, true, "2").await;
    assert_eq!(read_json(&world, "number.json"), json!({ "number": 2 }));
    assert_eq!(read_json(&world, "status.json")["items"], 3);
    assert_eq!(error(&world, run, "number").await, None);
    assert_eq!(error(&world, run, "status").await, None);
}

#[tokio::test]
async fn one_run_under_way_owns_a_path_and_the_next_one_takes_it_over() {
    let world = world().await;
    let first = begin(&world).await;
    world.rest(first).await;
    answer(&world, first, true, "first").await;
    let second = async || runs::create(&world.project, &caller(), new_run(&world, "kept", json!({}))).await;
    let refused = second().await.unwrap_err();
    assert_eq!(code(&refused), Code::FileTaken);
    assert_eq!(refused.explain().details["runId"], 1);
    let forked = runs::fork(&world.project, &caller(), first, None, None).await.unwrap_err();
    assert_eq!(code(&forked), Code::FileTaken);
    // Another path is free.
    world.create(new_run(&world, "kept", json!({ "key": "two" }))).await;
    let both =
        vec![new_run(&world, "kept", json!({ "key": "3" })), new_run(&world, "kept", json!({ "key": "3" }))];
    let refused = runs::create_many(&world.project, &caller(), both).await.unwrap_err();
    assert_eq!(code(&refused), Code::FileTaken, "also in one command");
    runs::stop(&world.project, &caller(), first, None).await.unwrap();
    world.rest(first).await;
    assert_eq!(read_json(&world, "status.json")["status"], "failed");
    let second = second().await.unwrap();
    world.rest(second).await;
    answer(&world, second, true, "second").await;
    assert_eq!(read(&world, "log.jsonl").unwrap(), "{\"text\":\"second\"}\n");
    assert_eq!(
        names(&shelf(&world)).len(),
        7,
        "what the first wrote is no edit: {:?}",
        names(&shelf(&world))
    );
}

#[tokio::test]
async fn what_somebody_wrote_is_kept_beside_the_file() {
    let world = world().await;
    let run = begin(&world).await;
    world.rest(run).await;
    answer(&world, run, true, "1").await;
    std::fs::write(shelf(&world).join("status.json"), "{ \"items\": 100 }").unwrap();
    std::fs::remove_file(shelf(&world).join("plan.json")).unwrap();
    let outside = world.repo.path().join("outside.txt");
    std::fs::write(&outside, "mine").unwrap();
    std::fs::remove_file(shelf(&world).join("number.json")).unwrap();
    std::os::unix::fs::symlink(&outside, shelf(&world).join("number.json")).unwrap();
    answer(&world, run, true, "2").await;
    assert_eq!(read_json(&world, "status.json")["items"], 2);
    assert_eq!(read_json(&world, "plan.json")["tasks"][0]["title"], "2");
    assert_eq!(read_json(&world, "number.json"), json!({ "number": 2 }));
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine", "the link is not followed");
    let kept: Vec<String> =
        names(&shelf(&world)).into_iter().filter(|name| name.contains(".edit-")).collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert_eq!(
        read(&world, kept.iter().find(|name| name.starts_with("status")).unwrap()).unwrap(),
        "{ \"items\": 100 }"
    );
}

#[tokio::test]
async fn lines_that_others_added_stay_and_ours_follow() {
    let world = world().await;
    let run = begin(&world).await;
    world.rest(run).await;
    answer(&world, run, true, "1").await;
    std::fs::write(shelf(&world).join("timeline.md"), "- 1\n- theirs\n").unwrap();
    answer(&world, run, true, "2").await;
    assert_eq!(read(&world, "timeline.md").unwrap(), "- 1\n- theirs\n- 2\n");
}

#[tokio::test]
async fn a_long_list_is_extended_in_place() {
    let world = world().await;
    let run = begin(&world).await;
    world.rest(run).await;
    let mut inode = 0;
    for count in 1..=8 {
        answer(&world, run, true, "long").await;
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(shelf(&world).join("log.jsonl")).unwrap();
        if found.len() > 1_300_000 {
            assert!(inode == 0 || inode == found.ino(), "it is not replaced");
            inode = found.ino();
        }
        let text = read(&world, "log.jsonl").unwrap();
        assert_eq!(text.lines().count(), 10 * count);
        assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }
    assert_ne!(inode, 0);
    // Somebody adds a line, and an engine that was killed had written a part of the next.
    let path = shelf(&world).join("log.jsonl");
    let text = read(&world, "log.jsonl").unwrap() + "{\"text\":\"theirs\"}\n";
    std::fs::write(&path, &text).unwrap();
    answer(&world, run, true, "last").await;
    assert_eq!(read(&world, "log.jsonl").unwrap(), text + "{\"text\":\"last\"}\n");
}

#[tokio::test]
async fn an_engine_finds_what_a_killed_one_did_not_write() {
    let world = world().await;
    let run = begin(&world).await;
    world.rest(run).await;
    answer(&world, run, true, "1").await;
    // The log has it, and nobody wrote it.
    world.answer(run, true, "2").await;
    assert_eq!(read_json(&world, "status.json")["items"], 1);
    std::fs::remove_file(shelf(&world).join("note.md")).unwrap();
    let engine = regatta_engine::Engine::start(std::sync::Arc::clone(&world.project)).await.unwrap();
    regatta_testkit::wait::until_async("the files say what the log says", || {
        read(&world, "status.json").is_some_and(|text| text.contains("\"items\": 2"))
            && read(&world, "note.md").is_some_and(|text| text.contains("# 2"))
    })
    .await;
    engine.stop(regatta_engine::Stop::WhenDone).await.unwrap();
    assert_eq!(names(&shelf(&world)).len(), 7, "{:?}", names(&shelf(&world)));
}

#[tokio::test]
async fn the_files_of_any_run_can_be_written_anywhere() {
    let world = world().await;
    let run = begin(&world).await;
    world.rest(run).await;
    answer(&world, run, false, "1").await;
    let folder = world.repo.path().join("copy");
    let written = write_elsewhere(&world.project, run, &folder).await.unwrap();
    assert!(written.iter().all(|file| file.error.is_none()), "{written:?}");
    for name in names(&shelf(&world)) {
        let copy = std::fs::read(folder.join("one").join(&name)).unwrap();
        assert_eq!(copy, std::fs::read(shelf(&world).join(&name)).unwrap(), "{name}");
    }
    std::fs::write(folder.join("one/log.jsonl"), "mine\n").unwrap();
    let written = write_elsewhere(&world.project, run, &folder).await.unwrap();
    let refused: Vec<&str> =
        written.iter().filter(|file| file.error.is_some()).map(|file| &*file.name).collect();
    assert_eq!(refused, ["log"], "what is there and differs stays");
    assert_eq!(std::fs::read_to_string(folder.join("one/log.jsonl")).unwrap(), "mine\n");
}

const ABOVE: &str = r#"
name = "above"
start = "all"
folder = "shelf"

[files.groups]
path = "one/groups.json"
value = "[$children.{ 'key': key, 'said': view.said }]"

[nodes.all]
kind = "map"
workflow = "below"
items = "input.items"
key = "key"
max_parallel = 2

[nodes.done]
kind = "end"

[[edges]]
id = "every"
from = "all"
to = "done"
"#;

const BELOW: &str = r#"
name = "below"
start = "ask"

[view]
said = "last"
place = "input.key"

[files.own]
path = "one/{place}.json"
value = "{ 'last': last }"

[nodes.ask]
kind = "approval"
question = "'More?'"
set = { last = "output.text" }

[nodes.done]
kind = "end"

[[edges]]
id = "again"
from = "ask"
to = "ask"
when = "output.approved"
maxIterations = 9
overrides = ["enough"]

[[edges]]
id = "enough"
from = "ask"
to = "done"
"#;

#[tokio::test]
async fn a_step_of_a_child_changes_the_file_of_its_parent_and_nothing_else_of_it() {
    let world = World::new("auto", &[], "", "").await.with_config(NOBODY).await;
    write(
        &world,
        "above",
        &[
            ("workflow.toml", ABOVE),
            ("state.schema.json", STATE),
            ("children/below/workflow.toml", BELOW),
            ("children/below/state.schema.json", STATE),
        ],
    );
    let run =
        world.create(new_run(&world, "above", json!({ "items": [{ "key": "a" }, { "key": "b" }] }))).await;
    world.rest(run).await;
    let found = runs::get_run(&world.project, run).await.unwrap();
    let children = found.children_under_way();
    assert_eq!(children.len(), 2);
    let said = |a: &str, b: &str| json!([{ "key": "a", "said": a }, { "key": "b", "said": b }]);
    assert_eq!(read_json(&world, "groups.json"), said("0", "0"));
    let of_parent = async || {
        let entries = Journal::after(&world.project, 0).read().await.unwrap();
        entries.iter().filter(|entry| entry.to_json()["runId"] == 1).count()
    };
    let before = (of_parent().await, found.sheet.state().clone());
    answer(&world, children[0], true, "hello").await;
    assert_eq!(read_json(&world, "groups.json"), said("hello", "0"));
    assert_eq!(read_json(&world, "a.json"), json!({ "last": "hello" }), "in the folder of its parent");
    let after = runs::get_run(&world.project, run).await.unwrap();
    assert_eq!(
        (of_parent().await, after.sheet.state().clone()),
        before,
        "no event, and nothing in its state"
    );
}
