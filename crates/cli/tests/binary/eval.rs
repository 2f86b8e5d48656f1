//! `regatta eval`: values, what is undefined, explanations, and errors with JSONata's own codes.

use crate::run_support::{CODER, input, scripted};
use crate::support::{PROGRAM, Transcript};
use regatta_testkit::binary::TestProject;
use serde_json::json;

#[test]
fn without_a_project() {
    let project = TestProject::without_init(PROGRAM);
    project
        .repo
        .write("state.json", r#"{"tasks": [{"id": "T001", "done": true}, {"id": "T002"}], "limit": 3}"#);
    project.repo.write("broken.json", "{");
    let on_file = ["eval", "--input", "state.json"];
    let mut transcript = Transcript::new(&project);
    for arguments in [
        &["eval", "1 + 2"][..],
        &["eval", "-5 + 3"],
        &["eval", "{'a': [1, 'two']}"],
        &["eval", "'text'"],
        &["eval", "nothing"],
        &[&on_file[..], &["tasks[done].id"]].concat(),
        &[&on_file[..], &["--bindings", "{\"most\": 2}", "$count(tasks) <= $most and limit > 3"]].concat(),
        &[&on_file[..], &["--explain", "$count(tasks) = 2 and limit > 3"]].concat(),
        &[&on_file[..], &["--explain", "limit > 5 or tasks[0].done"]].concat(),
        &[&on_file[..], &["--explain", "limit"]].concat(),
        &["eval", "1 +"],
        &["eval", "'a' - 1"],
        &["eval", "$f()"],
        &["eval", "($f := function($n) { 1 + $f($n) }; $f(1))"],
        &["eval", "--input", "broken.json", "a"],
        &["eval", "--input", "lost.json", "a"],
        &["eval", "--bindings", "[]", "a"],
        &["eval", "--bindings", "{", "a"],
        &["eval", "--run", "1", "--input", "state.json", "a"],
        &["eval"],
        &["--json", "eval", "{'a': [1, 'two']}"],
        &["--json", "eval", "nothing"],
        &["--json", "eval", "'a' - 1"],
        &["--json", "eval", "$f("],
        &["--json", "eval", "--bindings", "{", "a"],
        &["--json", "eval", "--explain", "1 = 1 and 2 > 3"],
    ] {
        transcript.run(arguments);
    }
    transcript.check("eval");
}

/// Nested often enough, it would overflow the stack of its reader.
#[test]
fn json_within_json_is_refused() {
    let project = TestProject::without_init(PROGRAM);
    let mut text = "0".to_owned();
    for _ in 0..200 {
        // Escapes by number, so that a level adds a few characters and does not double what is inside.
        let inside = text.replace('\\', "\\u005c").replace('"', "\\u0022");
        let object = format!("{{\"$serde_json::private::RawValue\":\"{inside}\"}}");
        text = format!("{}{object}{}", "[".repeat(100), "]".repeat(100));
    }
    project.repo.write("deep.json", &text);
    project.repo.write("short.json", r#"{"\u0024serde_json::private::RawValue": "1"}"#);
    let mut transcript = Transcript::new(&project);
    for file in ["deep.json", "short.json"] {
        transcript.run(&["eval", "--input", file, "a"]);
    }
    transcript.check("eval-json-within-json");
}

#[test]
fn over_standard_input() {
    let project = TestProject::without_init(PROGRAM);
    project.repo.write("state.json", "{\"a\": [1, 2, 3]}");
    let file = std::fs::File::open(project.path().join("state.json")).expect("the file is there");
    let output = project.command(&["--json", "eval", "--input", "-", "$sum(a)"]).stdin(file).output();
    assert_eq!(output.expect("the binary can be run").stdout, b"6\n");
}

#[test]
fn over_the_state_of_a_run() {
    let project = scripted("auto", CODER);
    project.json(&["run", "speckit", "--input", &input(), "--no-board"]);
    assert_eq!(project.json(&["eval", "--run", "1", "metrics.totalAttempts"]), 4);
    assert_eq!(project.json(&["eval", "--run", "1", "$task.id"]), "T002", "places have their names");
    let said = ["eval", "--run", "1", "--bindings", "{\"task\": {\"id\": \"mine\"}}", "$task.id"];
    assert_eq!(project.json(&said), "mine", "what is said comes first");
    assert_eq!(project.json(&["eval", "--run", "1", "input.title & ': ' & $count(tasks)"]), "By hand: 2");
    assert_eq!(
        project.run(&["--json", "eval", "--run", "1", "output"]).stdout,
        "",
        "there is none between steps"
    );
    assert_eq!(project.refusal(&["eval", "--run", "2", "a"])["code"], "RUN_NOT_FOUND");
    let explained = project.json(&["eval", "--run", "1", "--explain", "$count(tasks) = 2"]);
    assert_eq!(
        (&explained["value"], &explained["explanation"]["observations"][0]["decided"]),
        (&json!(true), &json!(true))
    );
}
