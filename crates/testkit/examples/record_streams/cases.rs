//! The scripts of the cases, alike for all agents.

use regatta_testkit::model::prompt;
use serde_json::{Value, json};

/// What the agent says at the end of the first case: text with a block of JSON, as a role's result.
const RESULT: &str = "The greeting is there.\n\n```json\n{\"status\": \"completed\", \"files\": [\"src/greeting.txt\"]}\n```\n";

/// Writes a file, runs a command, and says a result.
pub(crate) fn edit() -> String {
    edit_with(false)
}

/// The same, asking to leave a sandbox for the write: Codex asks nobody otherwise.
pub(crate) fn edit_asking() -> String {
    edit_with(true)
}

fn edit_with(escalates: bool) -> String {
    let write =
        json!({"write": {"path": "src/greeting.txt", "content": "hello\nworld\n"}, "escalate": escalates});
    let shell = json!({"shell": "cat src/greeting.txt && git status --short"});
    with(&json!([write, shell, {"say": RESULT, "usage": {"input": 1200, "output": 80, "cached": 1000}}]))
}

/// The second turn of the same session.
pub(crate) fn resume() -> String {
    let write = json!({"write": {"path": "src/second.txt", "content": "again\n"}});
    prompt("Once more.", &json!([write, {"say": "The second file is there."}]))
}

/// Calls the tool of an MCP server.
pub(crate) fn mcp() -> String {
    with(&json!([{"tool": {"name": "tick", "args": {"criterion": 2}}}, {"say": "Ticked."}]))
}

/// Edits by a patch that is given to the shell, which Codex takes for a change of files.
pub(crate) fn patch() -> String {
    let patch = "apply_patch <<'PATCH'\n*** Begin Patch\n*** Add File: src/greeting.txt\n+hello\n*** End Patch\nPATCH\n";
    with(&json!([{"shell": patch}, {"say": "The greeting is there."}]))
}

/// The cases that need nothing but a script.
pub(crate) fn simple() -> [(&'static str, String); 7] {
    let thinking = [
        json!({"think": "**Planning**\n\nA greeting is wanted. A text file will do."}),
        json!({"shell": "pwd >/dev/null"}),
    ];
    let spoken =
        [json!({"think": "It is there."}), json!({"say": "Done.", "usage": {"output": 60, "reasoning": 40}})];
    [
        ("thinking", with(&json!([thinking, spoken]))),
        ("failed-command", with(&json!([{"shell": "ls no-such-file"}, {"say": "It failed."}]))),
        ("rate-limit", with(&json!([{"rate_limit": {"seconds": 2}}]))),
        ("usage-limit", with(&json!([{"rate_limit": {"seconds": 7200, "of": "usage"}}]))),
        ("api-error", with(&json!([{"error": 400}]))),
        ("unauthorized", with(&json!([{"error": 401}]))),
        (
            "dropped-stream",
            with(&json!([[{"drop": true}, {"say": "one two three four five six seven eight"}]])),
        ),
    ]
}

/// A request that is never answered.
pub(crate) fn hang() -> String {
    with(&json!([{"hang": true}]))
}

/// An error of the service.
pub(crate) fn error() -> String {
    with(&json!([{"error": 400}]))
}

fn with(steps: &Value) -> String {
    prompt("Add a greeting.", steps)
}
