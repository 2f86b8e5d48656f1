//! The edges of the workflow `speckit`: its expressions, and the conditions under which they hold.

use regatta_expr::lend_field;
use serde_json::{Value, json};

use crate::evaluate;

fn holds(text: &str, state: &Value) -> bool {
    evaluate(text, state).expect("no fault") == Some(Value::Bool(true))
}

const RETRY: &str = "coderOutput.selfValidation.passed = false";
const REVIEW: &str = "coderOutput.selfValidation.passed = true";
const REJECT: &str = "reviewerOutput.approved = false";
const APPROVED: &str = "reviewerOutput.approved = true";
const MORE: &str = "currentTaskIndex < $count(tasks) - 1";
const NEXT: &str = "reviewerOutput.approved = true and currentTaskIndex < $count(tasks) - 1";

#[test]
fn coder_retry_fires_when_self_validation_fails() {
    let state = json!({ "coderOutput": { "selfValidation": { "passed": false, "issues": ["error"] } } });
    assert!(holds(RETRY, &state));
    assert!(!holds(REVIEW, &state));
}

#[test]
fn coder_to_reviewer_fires_when_self_validation_passes() {
    let state = json!({ "coderOutput": { "selfValidation": { "passed": true, "issues": [] } } });
    assert!(holds(REVIEW, &state));
    assert!(!holds(RETRY, &state));
}

#[test]
fn next_task_fires_when_approved_and_more_tasks() {
    let state =
        json!({ "reviewerOutput": { "approved": true }, "currentTaskIndex": 0, "tasks": [{}, {}, {}] });
    assert!(holds(NEXT, &state));
    assert!(holds(APPROVED, &state));
    assert!(!holds(REJECT, &state));
}

#[test]
fn the_workflow_ends_when_all_tasks_are_complete() {
    let state =
        json!({ "reviewerOutput": { "approved": true }, "currentTaskIndex": 2, "tasks": [{}, {}, {}] });
    assert_eq!(evaluate(MORE, &state), Ok(Some(json!(false))));
    assert!(!holds(NEXT, &state));
}

#[test]
fn tasks_are_counted() {
    assert_eq!(evaluate("$count(tasks)", &json!({ "tasks": [{}, {}, {}] })), Ok(Some(json!(3))));
    assert_eq!(evaluate("$count(tasks)", &json!({})), Ok(Some(json!(0))));
}

#[test]
fn a_missing_path_holds_for_neither_edge() {
    for state in
        [json!({}), json!({ "coderOutput": null }), json!({ "coderOutput": { "selfValidation": {} } })]
    {
        assert!(!holds(RETRY, &state) && !holds(REVIEW, &state), "{state}");
    }
}

#[test]
fn an_edge_names_state_and_output_alike() {
    let mut state = json!({ "currentTaskIndex": 0, "tasks": [{}, {}] });
    let text = "output.approved = true and currentTaskIndex < $count(tasks) - 1";
    let (fires, output) =
        lend_field(&mut state, "output", json!({ "approved": true }), |input| holds(text, input));
    assert!(fires);
    assert_eq!(
        (state, output),
        (json!({ "currentTaskIndex": 0, "tasks": [{}, {}] }), json!({ "approved": true }))
    );
}
