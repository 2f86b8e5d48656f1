//! The check of workflows and their drawings, as the author of a workflow sees them.
//!
//! Most cases are a small workflow in and the faults out, one line each; both directions of a rule stand side by
//! side. The workflows share one state and one role, below. `UPDATE_EXPECT=1` updates the expectations.

mod certain;
mod choices;
mod drawings;
mod fields;
mod folders;
mod gaps;
mod loops;
mod names;
mod outcomes;
mod parts;
mod reach;
mod scopes;
mod shown;
mod talk;
mod whole;

use expect_test::Expect;
use regatta_flow::{Fault, Folder, Workflow};

/// The state of the small workflows.
const STATE: &str = r##"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "index": { "type": "integer", "minimum": 0, "default": 0 },
    "tries": { "type": "integer", "minimum": 0, "default": 0 },
    "most": { "type": "integer", "default": 5 },
    "share": { "type": "number", "default": 0 },
    "mode": { "enum": ["fast", "slow"], "default": "fast" },
    "ok": { "type": "boolean", "default": false },
    "limit": { "type": ["integer", "null"], "default": null },
    "title": { "type": "string", "default": "" },
    "last": { "anyOf": [{ "$ref": "#/$defs/result" }, { "type": "null" }], "default": null },
    "counts": { "type": "object", "additionalProperties": { "type": "integer" }, "default": {} },
    "tasks": { "type": "array", "items": { "$ref": "#/$defs/task" }, "default": [] },
    "open": { "type": "object", "properties": { "known": {} }, "default": {} }
  },
  "$defs": {
    "result": {
      "type": "object",
      "additionalProperties": false,
      "required": ["ok"],
      "properties": { "ok": { "type": "boolean" }, "score": { "type": "integer" } }
    },
    "task": {
      "type": "object",
      "required": ["id", "status"],
      "properties": { "id": { "type": "string" }, "status": { "enum": ["pending", "complete"] } }
    }
  }
}"##;

/// What the role `worker` returns.
const OUTPUT: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["ok", "status"],
  "properties": {
    "ok": { "type": "boolean" },
    "status": { "enum": ["done", "blocked"] },
    "score": { "type": "integer" },
    "title": { "type": "string" },
    "tasks": { "type": "array", "items": {
      "type": "object",
      "required": ["id", "status"],
      "properties": { "id": { "type": "string" }, "status": { "const": "pending" } }
    } }
  }
}"#;

/// What stands before each small workflow; its lines are not counted.
const HEAD: &str = "name = \"small\"\nstart = \"work\"\nstate = \"state.schema.json\"\n";

/// The node that most small workflows have, and an end.
const WORK: &str = "nodes.work = { kind = \"agent\", role = \"worker\" }\nnodes.done = { kind = \"end\" }\n";

/// Makes the folder of a small workflow, with other files beside it.
fn folder(text: &str, others: &[(&str, &str)]) -> Folder {
    let files = [
        ("workflow.toml", format!("{HEAD}{text}")),
        ("state.schema.json", STATE.to_owned()),
        ("roles/worker.md", "Work.".to_owned()),
        ("roles/worker.output.json", OUTPUT.to_owned()),
    ];
    let others = others.iter().map(|(name, text)| (*name, (*text).to_owned()));
    files.into_iter().chain(others).map(|(name, text)| (name.to_owned(), text)).collect()
}

/// Checks a folder whose form is right.
fn faults_of(folder: &Folder) -> Vec<Fault> {
    match Workflow::load(folder) {
        Ok(workflow) => regatta_flow::check(&workflow),
        Err(faults) => {
            panic!("not even its form is right:\n{}", regatta_flow::render_faults(&faults, folder))
        }
    }
}

/// Checks a small workflow; lines of the expectation are counted from its own first line.
fn check(text: &str, expected: Expect) {
    check_with(text, &[], expected);
}

/// Checks a small workflow with other files beside it.
fn check_with(text: &str, others: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&tell(&faults_of(&folder(text, others))));
}

/// Checks a small workflow whose form need not be right.
fn check_all(text: &str, others: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&tell(&regatta_flow::check_folder(&folder(text, others))));
}

fn tell(faults: &[Fault]) -> String {
    let tell = |fault: &Fault| {
        let line = fault.line.saturating_sub(HEAD.lines().count());
        let hint = fault.hint.as_deref().map(|hint| format!("\n    {hint}")).unwrap_or_default();
        let (severity, rule, column, message) = (fault.severity, fault.rule, fault.column, &fault.message);
        let place =
            if fault.file == "workflow.toml" { format!("{line}:{column}") } else { fault.file.clone() };
        format!("{place} {severity}[{rule}]: {message}{hint}\n")
    };
    faults.iter().map(tell).collect()
}
