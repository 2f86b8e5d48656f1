//! `speckit` as it is shipped.

use regatta_flow::NodeKind;
use serde_json::json;

use crate::folders::{shipped, speckit};

#[test]
fn speckit_loads_without_a_fault_and_without_a_warning() {
    let workflow = speckit();
    assert!(workflow.warnings.is_empty(), "{:?}", workflow.warnings);
    assert_eq!(workflow.name, "speckit");
    let nodes: Vec<String> =
        workflow.nodes.iter().map(|node| format!("{} {}", node.name, node.kind.word())).collect();
    assert_eq!(
        nodes,
        ["spec agent", "coder agent", "reviewer agent", "question approval", "done end", "failed end"]
    );
    assert_eq!(workflow.edges.len(), 12);
    assert_eq!(workflow.roles.keys().collect::<Vec<_>>(), ["coder", "reviewer", "spec"]);
    assert_eq!(workflow.default_level(), 7);
    assert_eq!(workflow.digest(), shipped("speckit").digest());
}

#[test]
fn what_is_read_keeps_the_order_of_the_file() {
    let workflow = speckit();
    let coder = workflow.find_node("coder").unwrap();
    let places: Vec<&str> = coder.set.iter().map(|assignment| assignment.place.text()).collect();
    assert_eq!(
        places,
        [
            "coderOutput",
            "currentAttempts",
            "taskAttempts[$task.id]",
            "tasks[currentTaskIndex].status",
            "metrics.totalAttempts"
        ]
    );
    let NodeKind::Agent { input, .. } = &coder.kind else { panic!("the coder is an agent") };
    let names: Vec<&str> = input.iter().map(|(name, _)| name.name.as_str()).collect();
    assert_eq!(names, ["task", "previousAttempt", "previousIssues", "reviewIssues", "attemptNumber"]);
}

#[test]
fn parts_know_where_they_stand() {
    let workflow = speckit();
    let text = workflow.folder.find("workflow.toml").unwrap();
    let edge = workflow.find_edge("coder-retry").unwrap();
    let when = edge.when.as_ref().unwrap();
    for (at, excerpt) in [
        (&edge.at, "\"coder-retry\""),
        (&edge.to.at, "\"coder\""),
        (when.at(), "coderOutput.selfValidation.passed = false"),
        (&edge.exhausted[1].at, "[[edges.exhausted]]"),
        (&workflow.levels[&3].at, "3"),
    ] {
        assert_eq!(&*at.excerpt, excerpt);
        assert!(text[at.bytes.clone()].starts_with(excerpt), "{at}");
        assert!(text.lines().nth(at.line - 1).unwrap()[at.column - 1..].starts_with(excerpt), "{at}");
    }
}

#[test]
fn the_initial_state_is_that_of_the_seed() {
    let state = speckit().schema.initial();
    let expected = json!({
        "tasks": [],
        "currentTaskIndex": 0,
        "taskAttempts": {},
        "currentAttempts": 0,
        "coderOutput": null,
        "reviewerOutput": null,
        "metrics": { "tasksCompleted": 0, "tasksFailed": 0, "totalAttempts": 0, "totalReviews": 0 }
    });
    assert_eq!(state, expected);
    assert_eq!(state.to_string(), expected.to_string());
}

#[test]
fn an_input_is_judged_and_completed() {
    let workflow = speckit();
    let schema = workflow.input.as_ref().unwrap();
    let mut input = json!({ "prd": "Build it.", "title": "It" });
    schema.fill_defaults(&mut input);
    assert_eq!(input["onTaskFailed"], "end");
    assert!(schema.check(&input).is_ok());
    let faults = schema.check(&json!({ "prd": 1, "onTaskFailed": "retry" })).unwrap_err();
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "\"title\" is a required property",
            "prd: 1 is not of type \"string\"",
            "onTaskFailed: \"retry\" is not one of [\"end\",\"continue\"]"
        ]
    );
}
