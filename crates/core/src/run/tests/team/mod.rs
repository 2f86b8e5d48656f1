//! The workflow `team` as it is shipped, played without agents: what its design prints, and every way through it.

mod outcomes;
mod plans;
mod random;
mod seed;
mod statuses;
mod stuck;

use super::family::Family;
use super::stage::RUN;
use super::workflows::{load, team_files};
use regatta_flow::Workflow;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// When the examples of the design begin.
const BEGIN: &str = "2025-01-06T10:00:00Z";

/// What they are about.
const REQUIREMENTS: &str =
    "Implement JWT authentication, user registration, and password reset functionality";

fn workflow() -> &'static Arc<Workflow> {
    static TEAM: LazyLock<Arc<Workflow>> = LazyLock::new(|| load(team_files()));
    &TEAM
}

/// Begins a run, whose PM is to plan.
fn begin() -> Family {
    Family::begin(workflow(), json!({ "prd": REQUIREMENTS, "title": "Accounts" }), BEGIN)
}

/// Makes a group with one task and one file of its own.
fn group(id: &str, depends_on: &[&str]) -> Value {
    json!({
        "id": id, "name": format!("Group {id}"), "tasks": [format!("T{id}")], "files_affected": [format!("{id}.py")],
        "branch_name": format!("feature/{id}"), "can_parallel": true, "depends_on": depends_on, "complexity": "low",
        "estimated_effort_minutes": 10,
    })
}

/// Makes a plan of these groups, each with its one task.
fn plan(groups: &[Value]) -> Value {
    let task = |group: &Value| {
        let id = group["id"].as_str().unwrap();
        json!({ "id": format!("T{id}"), "description": format!("Do {id}"), "group_id": id })
    };
    json!({
        "mode": "parallel", "mode_reasoning": "They are independent", "task_groups": groups,
        "all_tasks": groups.iter().map(task).collect::<Vec<_>>(),
    })
}

/// A run with one group, whose developer is to begin.
fn one_group() -> Family {
    let mut family = begin();
    family.give(RUN, plan(&[group("A", &[])]));
    family
}

fn ready(summary: &str) -> Value {
    json!({
        "status": "READY_FOR_QA", "summary": summary, "unit_tests": { "total": 12, "passed": 12, "failed": 0 },
    })
}

fn untested(summary: &str) -> Value {
    json!({ "status": "READY_FOR_REVIEW", "summary": summary })
}

fn blocked() -> Value {
    json!({ "status": "BLOCKED", "summary": "The key is missing" })
}

fn qa(result: &str) -> Value {
    let failed = u32::from(result == "FAIL");
    json!({
        "result": result, "feedback": format!("{result}: it was run"), "total_time": "2m 15s",
        "test_results": { "integration_tests": { "total": 8, "passed": 8 - failed, "failed": failed } },
    })
}

fn review(decision: &str) -> Value {
    json!({
        "decision": decision, "feedback": "Read it all", "criteria": [{ "criterion": "Do A", "met": true }],
        "code_quality_score": 8.5, "security_issues_count": 0,
    })
}

/// The developer of a group returns something, after a session that changed a file.
fn develop(family: &mut Family, key: &str, output: Value) {
    let run = family.child(key);
    family.open(run, "developer");
    family.worked(run, &[&format!("{key}.py")], &[&format!("Work on {key}")]);
    family.give(run, output);
}

/// A group is developed, tested, approved and merged.
fn complete(family: &mut Family, key: &str) {
    develop(family, key, ready("It works"));
    let run = family.child(key);
    family.give(run, qa("PASS"));
    family.give(run, review("approved"));
    family.land(run);
}

/// Returns the entry of a group in `group_status.json`.
fn entry(family: &mut Family, key: &str) -> Value {
    family.file("group_status")[key].clone()
}
