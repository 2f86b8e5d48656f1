//! The design of `speckit` to the letter: its initial state, what each agent writes, its edges, and its end.
//!
//! Where the design prints a state with dots, the printed part is compared and the rest is left open.

use super::play::Play;
use super::script::{carry_out, played};
use super::workflows::speckit;
use serde_json::{Value, json};

/// Compares what is printed: fields of objects that are named, and lists item by item.
fn assert_shows(state: &Value, printed: &Value, at: &str) {
    match (state, printed) {
        (Value::Object(found), Value::Object(fields)) => {
            for (name, value) in fields {
                assert_shows(found.get(name).unwrap_or(&Value::Null), value, &format!("{at}.{name}"));
            }
        }
        (Value::Array(found), Value::Array(items)) => {
            assert_eq!(found.len(), items.len(), "{at}");
            for (index, (found, item)) in found.iter().zip(items).enumerate() {
                assert_shows(found, item, &format!("{at}[{index}]"));
            }
        }
        _ => assert_eq!(state, printed, "{at}"),
    }
}

fn shows(play: &Play, printed: Value) {
    assert_shows(&play.run.sheet.state(), &printed, "state");
}

fn go(play: &mut Play, line: &str) {
    let example = play.example.clone();
    let mut now = Some(play.clone());
    let said = carry_out(&example, &mut now, line);
    assert!(!said.contains("  refused ") && !said.contains("nothing"), "{said}");
    *play = now.expect("it was begun");
}

fn give(play: &mut Play, output: &Value) {
    go(play, &format!("give {output}"));
}

fn task(id: &str, title: &str) -> Value {
    json!({
        "id": id, "title": title, "description": "", "priority": 1, "complexity": "simple",
        "acceptanceCriteria": ["It holds"], "status": "pending",
    })
}

fn spec() -> Value {
    json!({
        "tasks": [task("T001", "Validate email"), task("T002", "Hash password"), task("T003", "Create session")],
        "summary": { "totalTasks": 3, "byPriority": { "1": 3 }, "estimatedComplexity": "hours" },
    })
}

fn attempt(code: &str, status: &str, passed: bool, issues: &[&str]) -> Value {
    json!({
        "taskId": "T001", "code": code, "status": status,
        "selfValidation": { "passed": passed, "issues": issues },
    })
}

#[test]
fn the_initial_state() {
    let play = played(&speckit(), "begin");
    assert_eq!(
        *play.run.sheet.state(),
        json!({
            "tasks": [], "currentTaskIndex": 0, "taskAttempts": {}, "currentAttempts": 0,
            "coderOutput": null, "reviewerOutput": null,
            "metrics": { "tasksCompleted": 0, "tasksFailed": 0, "totalAttempts": 0, "totalReviews": 0 },
        })
    );
}

#[test]
fn the_states_before_and_after_each_agent() {
    let mut play = played(&speckit(), "begin");
    shows(&play, json!({ "tasks": [], "currentTaskIndex": 0 }));

    give(&mut play, &spec());
    // The design prints `pending` for the task that comes next; it is `in_progress` as soon as the coder
    // works on it.
    let pending = |id: &str, title: &str| json!({ "id": id, "title": title, "status": "pending" });
    let current = |id: &str, title: &str| json!({ "id": id, "title": title, "status": "in_progress" });
    shows(
        &play,
        json!({
            "tasks": [
                current("T001", "Validate email"), pending("T002", "Hash password"), pending("T003", "Create session"),
            ],
            "currentTaskIndex": 0,
        }),
    );

    shows(&play, json!({ "currentTaskIndex": 0, "currentAttempts": 0, "coderOutput": null }));
    let issues = ["Missing input validation", "No error handling"];
    let first = attempt("// attempt 1...", "needs_revision", false, &issues);
    give(&mut play, &first);
    shows(
        &play,
        json!({
            "currentTaskIndex": 0, "currentAttempts": 1, "coderOutput": first, "taskAttempts": { "T001": 1 },
            "metrics": { "totalAttempts": 1 },
        }),
    );
    assert_eq!(play.run.node.as_str(), "coder", "coder-retry");

    let second = attempt("// attempt 2 - fixed...", "complete", true, &[]);
    give(&mut play, &second);
    shows(&play, json!({ "currentTaskIndex": 0, "currentAttempts": 2, "coderOutput": second }));
    assert_eq!(play.run.sheet.state()["tasks"][0]["status"], "review");
    assert_eq!(play.run.node.as_str(), "reviewer", "coder-to-reviewer");

    let results = json!([{ "criterion": "It holds", "met": true }]);
    give(&mut play, &json!({ "taskId": "T001", "approved": true, "issues": [], "criteriaResults": results }));
    shows(
        &play,
        json!({
            "currentTaskIndex": 1, "currentAttempts": 0, "coderOutput": null,
            "reviewerOutput": { "taskId": "T001", "approved": true, "issues": [] },
            "metrics": { "tasksCompleted": 1, "totalReviews": 1 },
        }),
    );
    assert_eq!(play.run.sheet.state()["tasks"][0]["status"], "complete");
    assert_eq!(play.run.sheet.state()["tasks"][1]["status"], "in_progress");
    assert_eq!(play.run.node.as_str(), "coder", "next-task");
}

#[test]
fn a_review_that_does_not_approve_puts_the_task_back() {
    let mut play = played(&speckit(), "begin; spec T001,T002; coder pass");
    go(&mut play, "review no");
    shows(
        &play,
        json!({
            "currentTaskIndex": 0, "reviewerOutput": { "approved": false },
            "metrics": { "totalReviews": 1, "tasksCompleted": 0 },
        }),
    );
    assert_eq!(play.run.sheet.state()["tasks"][0]["status"], "in_progress");
    assert_eq!(play.run.node.as_str(), "coder", "reviewer-reject");
}

/// The three tests that the design prints.
#[test]
fn the_edges_fire_as_the_design_tests_them() {
    let edge_of = |given: &str, line: &str| {
        let mut play = played(&speckit(), given);
        go(&mut play, line);
        let stepped = play.facts.iter().rev().find_map(|fact| match &fact.event {
            crate::run::Event::RunStepped { choice, .. } => Some(choice.clone()),
            _ => None,
        });
        (stepped.expect("a step was made"), play)
    };
    let (retry, _) = edge_of("begin; spec T001,T002,T003", "coder fail");
    assert_eq!(retry.edge.as_str(), "coder-retry");
    let (next, _) = edge_of("begin; spec T001,T002,T003; coder pass", "review yes");
    assert_eq!(next.edge.as_str(), "next-task");
    let (last, play) = edge_of(
        "begin; spec T001,T002,T003; coder pass; review yes; coder pass; review yes; coder pass",
        "review yes",
    );
    assert_eq!(last.edge.as_str(), "all-done");
    let tried: Vec<(&str, bool)> = last.tried.iter().map(|tried| (tried.edge.as_str(), tried.held)).collect();
    assert_eq!(tried, [("reviewer-reject", false), ("next-task", false), ("all-done", true)]);
    assert!(play.run.is_over());
    shows(&play, json!({ "currentTaskIndex": 2, "metrics": { "tasksCompleted": 3, "tasksFailed": 0 } }));
}

/// What the design calls implicit: the run ends well after the last approval, and badly when a cap is exceeded.
#[test]
fn the_ends_of_the_design() {
    let well = played(&speckit(), "begin; spec T001; coder pass; review yes");
    assert_eq!(well.run.status().to_string(), "completed");
    for given in [
        "begin; spec T001,T002; coder fail; coder fail; coder fail; coder fail",
        "begin; spec T001,T002; coder pass; review no; coder pass; review no; coder pass; review no",
    ] {
        let badly = played(&speckit(), given);
        assert_eq!(badly.run.status().to_string(), "failed");
        shows(&badly, json!({ "metrics": { "tasksFailed": 1, "tasksCompleted": 0 } }));
        assert_eq!(badly.run.sheet.state()["tasks"][0]["status"], "failed");
    }
}
