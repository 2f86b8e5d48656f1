//! The workflow `cycle` as it is shipped, played without agents: what its design prints, and every way through it.

mod ends;
mod imports;
mod seed;
mod talk;
mod turns;

use super::stage::Stage;
use super::workflows::{cycle_files, load};
use regatta_flow::Workflow;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// What the examples of the design are about.
const TITLE: &str = "Implement OAuth authentication";

/// When their cycle is created.
const BEGIN: &str = "2026-01-22T10:00:00+08:00";

fn workflow() -> &'static Arc<Workflow> {
    static CYCLE: LazyLock<Arc<Workflow>> = LazyLock::new(|| load(cycle_files()));
    &CYCLE
}

/// Begins a cycle that is given what the examples are, and some more.
fn begin(more: Value) -> Stage {
    let mut input = json!({
        "title": TITLE,
        "description": "Add OAuth2 login support with Google and GitHub providers",
        "cycle_id": "cycle-v1-20260122T100000-abc123",
    });
    let (Value::Object(fields), Value::Object(more)) = (&mut input, more) else { panic!("they are objects") };
    fields.extend(more);
    Stage::begin(workflow(), input, BEGIN)
}

/// A cycle whose first iteration has begun.
fn begun() -> Stage {
    let mut stage = begin(json!({}));
    stage.give(Value::Null);
    stage
}

fn requirements() -> Value {
    json!({
        "summary": "Two providers", "specification": "# Login\n\nWith Google and GitHub.\n",
        "edge_cases": ["OAuth timeout handling", "PKCE validation"],
    })
}

fn exploration() -> Value {
    json!({
        "architecture_summary": "Express, with a session store.", "integration_points": ["src/routes/auth.ts"],
        "identified_risks": ["The session store is in memory"],
    })
}

fn plan(ids: &[&str]) -> Value {
    let task = |id: &&str| {
        json!({
            "id": id, "description": "Setup OAuth application credentials", "effort": "small",
            "files": ["src/config/oauth.ts"],
        })
    };
    let tasks: Vec<Value> = ids.iter().map(task).collect();
    json!({ "tasks": tasks, "total_estimated_effort": "2 days", "critical_path": ids })
}

fn code(completed: &[&str]) -> Value {
    json!({ "summary": "The providers are set up", "completed_tasks": completed })
}

fn validation(pass_rate: u32, failed: &[&str]) -> Value {
    json!({
        "pass_rate": pass_rate, "coverage": 78, "failed_tests": failed, "total_tests": 20, "issues_found": [],
    })
}

/// What the engine's own checks come to.
fn checks(passed: bool) -> Value {
    json!({ "passed": passed, "taskId": 1, "results": [{ "name": "test", "passed": passed, "exit": 0 }] })
}

/// Plays the analysis and the plan of an iteration.
fn analyse(stage: &mut Stage) {
    stage.member("ra", requirements());
    stage.member("explore", exploration());
    stage.give(plan(&["TASK-001"]));
}

/// Plays an iteration up to its end, with files that the developer changed and tests that fail.
fn iterate(stage: &mut Stage, files: &[&str], failed: &[&str]) {
    analyse(stage);
    stage.open("cd");
    stage.worked(files);
    stage.give(code(&["TASK-001"]));
    stage.give(validation(if failed.is_empty() { 100 } else { 85 }, failed));
    stage.give(checks(true));
}

/// Returns the cycle's own document.
fn document(stage: &mut Stage) -> Value {
    stage.file("cycle")
}
