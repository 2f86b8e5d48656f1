//! `regatta run signal`, and the messages of runs.

use crate::support::{Transcript, with_shell};
use regatta_testkit::binary::TestProject;
use serde_json::json;

/// Keeps every prompt.
const AGENT: &str = r#"
cat >> "$REGATTA_PROJECT/.regatta/prompts.md"
echo '{"summary": "It works"}'
"#;

const MORE: &str = r#"
[roles]
worker = "shell"

[sandbox]
mode = "off"
"#;

const WORKFLOW: &str = r#"
name = "cycle"
start = "work"
nodes.work = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }

[[edges]]
id = "worked"
from = "work"
to = "done"
send = { to = "worker", kind = "DONE", subject = "'So far'", body = "output.summary" }

[signals.extend]
title = "Add work"
input = "extend.json"
when = "$count(pending) < 2"
to = "work"
set = { "pending[+]" = "$signal.text" }

[signals.note]
input = "extend.json"
"#;

const SCHEMA: &str = r#"{
  "type": "object",
  "required": ["text"],
  "properties": {
    "text": { "type": "string", "minLength": 2, "description": "What to do" },
    "max_visits": { "type": "integer", "description": "How often" }
  }
}"#;

fn project() -> TestProject {
    let project = with_shell(AGENT, MORE);
    let state = r#"{ "type": "object", "properties": { "pending": { "type": "array", "default": [] } } }"#;
    for (file, text) in [
        ("workflow.toml", WORKFLOW),
        ("state.schema.json", state),
        ("extend.json", SCHEMA),
        ("roles/worker.md", "Work.\n"),
        ("roles/worker.output.json", "{}"),
    ] {
        project.repo.write(&format!(".regatta/workflows/cycle/{file}"), text);
    }
    project
}

fn prompts(project: &TestProject) -> String {
    std::fs::read_to_string(project.path().join(".regatta/prompts.md")).unwrap_or_default()
}

#[test]
fn a_run_that_has_ended_is_continued_by_a_signal() {
    let project = project();
    let mut transcript = Transcript::new(&project);
    transcript.run(&["run", "cycle", "--no-board"]);
    transcript.run(&["run", "show", "1"]);
    transcript.run(&["run", "signal", "1", "extend", "--text", "A dark mode", "--max-visits", "3"]);
    transcript.run(&["run", "signal", "1", "extend", "--input", r#"{"text": "x"}"#]);
    transcript.run(&["run", "signal", "1", "extend", "--input", r#"{"text": "Light"}"#, "--no-wait"]);
    transcript.run(&["run", "signal", "1", "extend", "--text", "Too much"]);
    transcript.run(&["run", "--resume", "1"]);
    transcript.run(&["run", "signal", "1", "note", "--text", "Late"]);
    transcript.run(&["run", "signal", "1", "exten", "--text", "Late"]);
    transcript.run(&["run", "signal", "1", "pause"]);
    transcript.run(&["run", "signal", "1", "extend", "--max-visit", "3"]);
    transcript.run(&["run", "signal", "1", "extend", "--help"]);
    transcript.run(&["messages", "--run", "1", "--role", "worker", "--unread"]);
    transcript.check("run_signal");
    assert_eq!(project.json(&["messages"]).as_array().map(Vec::len), Some(3));
}

#[test]
fn a_message_survives_the_engine_that_delivered_it() {
    let project = project();
    project.run(&["run", "cycle", "--no-board"]);
    assert_eq!(project.json(&["messages", "--unread"])[0]["kind"], "DONE");
    let again = ["run", "signal", "1", "extend", "--text", "More"];
    let crashed = project.run_with("REGATTA_CRASH_AT", "perform_node.played", &again);
    assert_eq!(crashed.signal, Some(9), "{crashed:?}");
    assert!(prompts(&project).contains("> It works"), "it was in the prompt");
    let unread = project.json(&["messages", "--unread"]);
    assert_eq!(unread.as_array().map(Vec::len), Some(1), "and is not read: {unread}");
    let resumed = project.json(&["run", "--resume", "1"]);
    assert_eq!((&resumed["status"], &resumed["state"]["pending"]), (&json!("completed"), &json!(["More"])));
    assert_eq!(
        prompts(&project).matches("> It works").count(),
        2,
        "the step that was performed again had it too"
    );
    let messages = project.json(&["messages"]);
    assert_eq!((&messages[0]["read"], &messages[1]["read"]), (&json!(true), &json!(false)), "{messages}");
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}
