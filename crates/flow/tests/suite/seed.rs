//! The design that `speckit` is made after: its edges, its changes of state, and its own tests.

use regatta_flow::{Given, Trial};
use serde_json::{Value, json};

use crate::folders::speckit;
use crate::run::{Run, coder_output, reviewer_output, spec_output, task};

fn statuses(run: &Run) -> Vec<&str> {
    run.state["tasks"].as_array().unwrap().iter().map(|task| task["status"].as_str().unwrap()).collect()
}

fn metrics(run: &Run) -> [u64; 4] {
    ["tasksCompleted", "tasksFailed", "totalAttempts", "totalReviews"]
        .map(|name| run.state["metrics"][name].as_u64().unwrap())
}

/// A run whose tasks are known and whose coder is next.
fn planned(on_task_failed: &str) -> Run {
    let mut run = Run::begin(7, on_task_failed);
    assert_eq!(run.perform(spec_output()), "spec-to-coder to coder");
    run
}

#[test]
fn after_the_spec_agent() {
    let run = planned("end");
    let mut tasks =
        [task("T001", "Validate email"), task("T002", "Hash password"), task("T003", "Create session")];
    // The design prints `pending`; the coder is at work on it from here on.
    tasks[0]["status"] = json!("in_progress");
    assert_eq!(run.state["tasks"], json!(tasks));
    assert_eq!(run.state["currentTaskIndex"], 0);
}

#[test]
fn after_the_coder_when_its_own_validation_failed() {
    let mut run = planned("end");
    assert_eq!((&run.state["currentAttempts"], &run.state["coderOutput"]), (&json!(0), &Value::Null));
    assert_eq!(run.perform(coder_output("T001", false)), "coder-retry to coder");
    assert_eq!(run.state["currentTaskIndex"], 0);
    assert_eq!(run.state["currentAttempts"], 1);
    assert_eq!(run.state["coderOutput"], coder_output("T001", false));
    assert_eq!(run.state["taskAttempts"], json!({ "T001": 1 }));
    assert_eq!(metrics(&run), [0, 0, 1, 0]);
    assert_eq!(statuses(&run), ["in_progress", "pending", "pending"]);
}

#[test]
fn after_the_coder_when_its_own_validation_passed() {
    let mut run = planned("end");
    run.perform(coder_output("T001", false));
    assert_eq!(run.perform(coder_output("T001", true)), "coder-to-reviewer to reviewer");
    assert_eq!(run.state["currentTaskIndex"], 0);
    assert_eq!(run.state["currentAttempts"], 2);
    assert_eq!(run.state["coderOutput"], coder_output("T001", true));
    assert_eq!(run.state["taskAttempts"], json!({ "T001": 2 }));
    assert_eq!(statuses(&run), ["review", "pending", "pending"]);
}

#[test]
fn after_the_reviewer_when_it_approved() {
    let mut run = planned("end");
    run.perform(coder_output("T001", true));
    assert_eq!(run.perform(reviewer_output("T001", true)), "next-task to coder, submits T001");
    assert_eq!(run.state["currentTaskIndex"], 0, "the task waits to be merged");
    run.merged("next-task");
    assert_eq!(run.state["currentTaskIndex"], 1);
    assert_eq!(run.state["currentAttempts"], 0);
    assert_eq!(run.state["coderOutput"], Value::Null);
    assert_eq!(run.state["reviewerOutput"], reviewer_output("T001", true));
    assert_eq!(statuses(&run), ["complete", "in_progress", "pending"]);
    assert_eq!(metrics(&run), [1, 0, 1, 1]);
}

#[test]
fn after_the_reviewer_when_it_did_not_approve() {
    let mut run = planned("end");
    run.perform(coder_output("T001", true));
    assert_eq!(run.perform(reviewer_output("T001", false)), "reviewer-reject to coder");
    assert_eq!(run.state["currentTaskIndex"], 0);
    assert_eq!(run.state["currentAttempts"], 1);
    assert_eq!(statuses(&run), ["in_progress", "pending", "pending"]);
    assert_eq!(metrics(&run), [0, 0, 1, 1]);
}

#[test]
fn a_run_ends_after_its_last_task() {
    let mut run = planned("end");
    for id in ["T001", "T002"] {
        run.perform(coder_output(id, true));
        assert_eq!(run.perform(reviewer_output(id, true)), format!("next-task to coder, submits {id}"));
        run.merged("next-task");
    }
    run.perform(coder_output("T003", true));
    assert_eq!(run.perform(reviewer_output("T003", true)), "all-done to done, submits T003");
    run.merged("all-done");
    assert_eq!(run.perform(Value::Null), "the end");
    assert_eq!(run.state["currentTaskIndex"], 2);
    assert_eq!(statuses(&run), ["complete"; 3]);
    assert_eq!(metrics(&run), [3, 0, 3, 3]);
    assert_eq!(run.state["taskAttempts"], json!({ "T001": 1, "T002": 1, "T003": 1 }));
}

#[test]
fn the_coder_has_three_retries_for_each_task() {
    let mut run = planned("end");
    for _ in 0..3 {
        assert_eq!(run.perform(coder_output("T001", false)), "coder-retry to coder");
    }
    assert_eq!(
        run.perform(coder_output("T001", false)),
        "coder-retry is used up for `T001`, to failed, fails T001"
    );
    assert_eq!(statuses(&run), ["failed", "pending", "pending"]);
    assert_eq!(metrics(&run), [0, 1, 4, 0]);
    assert_eq!(run.perform(Value::Null), "the end");
}

#[test]
fn the_reviewer_sends_a_task_back_twice() {
    let mut run = planned("end");
    for _ in 0..2 {
        run.perform(coder_output("T001", true));
        assert_eq!(run.perform(reviewer_output("T001", false)), "reviewer-reject to coder");
    }
    run.perform(coder_output("T001", true));
    assert_eq!(
        run.perform(reviewer_output("T001", false)),
        "reviewer-reject is used up for `T001`, to failed, fails T001"
    );
    assert_eq!(statuses(&run), ["failed", "pending", "pending"]);
    assert_eq!(metrics(&run), [0, 1, 3, 3]);
}

#[test]
fn a_run_may_go_on_after_a_failed_task_with_counters_of_its_own() {
    let mut run = planned("continue");
    for id in ["T001", "T002"] {
        for _ in 0..3 {
            assert_eq!(run.perform(coder_output(id, false)), "coder-retry to coder");
        }
        let told = run.perform(coder_output(id, false));
        assert_eq!(told, format!("coder-retry is used up for `{id}`, to coder, fails {id}"));
        assert_eq!(run.state["currentAttempts"], 0);
    }
    for _ in 0..3 {
        run.perform(coder_output("T003", false));
    }
    let told = run.perform(coder_output("T003", false));
    assert_eq!(told, "coder-retry is used up for `T003`, to failed, fails T003");
    assert_eq!(statuses(&run), ["failed"; 3]);
    assert_eq!(metrics(&run), [0, 3, 12, 0]);
}

#[test]
fn a_task_that_a_person_sends_back_is_worked_on_again() {
    let mut run = planned("end");
    run.perform(coder_output("T001", true));
    run.perform(reviewer_output("T001", true));
    run.rejected("next-task");
    assert_eq!((run.node.as_str(), &run.state["currentTaskIndex"]), ("coder", &json!(0)));
    assert_eq!(statuses(&run), ["in_progress", "pending", "pending"]);
    assert_eq!(metrics(&run), [0, 0, 1, 1]);
}

#[test]
fn a_blocked_coder_asks_before_anything_else() {
    let mut run = planned("end");
    let mut output = coder_output("T001", false);
    output["status"] = json!("blocked");
    assert_eq!(run.perform(output), "coder-blocked to question");
    assert_eq!(
        run.perform(json!({ "approved": true, "text": "Use the library." })),
        "question-answered to coder"
    );
}

#[test]
fn the_next_task_does_not_see_the_review_of_one_that_failed() {
    let mut run = planned("continue");
    run.perform(coder_output("T001", true));
    for _ in 0..2 {
        assert_eq!(run.perform(reviewer_output("T001", false)), "reviewer-reject to coder");
        assert_eq!(run.state["reviewerOutput"], reviewer_output("T001", false));
        run.perform(coder_output("T001", true));
    }
    let told = run.perform(reviewer_output("T001", false));
    assert_eq!(told, "reviewer-reject is used up for `T001`, to coder, fails T001");
    assert_eq!(run.state["reviewerOutput"], Value::Null);

    run.perform(coder_output("T002", true));
    run.perform(reviewer_output("T002", false));
    for _ in 0..3 {
        assert_eq!(run.perform(coder_output("T002", false)), "coder-retry to coder");
    }
    let told = run.perform(coder_output("T002", false));
    assert_eq!(told, "coder-retry is used up for `T002`, to coder, fails T002");
    assert_eq!(run.state["reviewerOutput"], Value::Null);
}

#[test]
fn an_attempt_is_counted_for_the_task_at_hand_whatever_the_coder_says() {
    let mut run = planned("end");
    run.perform(coder_output("T002", false));
    run.perform(coder_output("", false));
    assert_eq!(run.state["taskAttempts"], json!({ "T001": 2 }));
    assert_eq!(run.state["coderOutput"]["taskId"], "", "what was said is kept as it was said");
}

#[test]
fn a_blocked_task_is_in_progress_whatever_the_coder_says_of_its_validation() {
    let mut run = planned("end");
    let mut output = coder_output("T001", true);
    output["status"] = json!("blocked");
    assert_eq!(run.perform(output), "coder-blocked to question");
    assert_eq!(statuses(&run), ["in_progress", "pending", "pending"]);
}

#[test]
fn a_review_says_of_each_criterion_whether_it_is_met() {
    let without = json!({ "taskId": "T001", "approved": true, "issues": [] });
    let mut with = without.clone();
    with["criteriaResults"] = json!([{ "criterion": "a@b passes", "met": true }]);
    assert_eq!(speckit().roles["reviewer"].check_output(&with), Ok(()));
    assert!(speckit().roles["reviewer"].check_output(&without).is_err());
    let mut run = planned("end");
    run.perform(coder_output("T001", true));
    run.perform(with.clone());
    assert_eq!(run.state["reviewerOutput"], with);
    let half =
        json!({ "taskId": "T001", "approved": true, "issues": [], "criteriaResults": [{ "met": true }] });
    assert!(speckit().roles["reviewer"].check_output(&half).is_err());
}

/// Evaluates the condition of an edge over a state that is given only in part, as the design does.
fn holds(edge: &str, state: Value) -> bool {
    let workflow = speckit();
    let (mut state, mut given) = (state, Given::default());
    let trial = Trial::begin(&mut state, &mut given, 0);
    let when = workflow.find_edge(edge).unwrap().when.as_ref().unwrap();
    trial.look(&workflow).evaluate(when).unwrap() == Some(json!(true))
}

#[test]
fn the_edge_conditions_of_the_design() {
    let retry = json!({ "coderOutput": { "selfValidation": { "passed": false, "issues": ["error"] } } });
    assert!(holds("coder-retry", retry.clone()));
    assert!(!holds("coder-to-reviewer", retry));
    let state = |index: u32| json!({ "reviewerOutput": { "approved": true }, "currentTaskIndex": index, "tasks": [{}, {}, {}] });
    assert!(holds("next-task", state(0)));
    assert!(!holds("next-task", state(2)));
    assert!(holds("all-done", state(2)));
    assert!(!holds("reviewer-reject", state(2)));
    assert!(!holds("coder-retry", json!({ "coderOutput": null })), "a missing path is not true");
}
