//! The documents that the design of `team` prints, each reached by a run.
//!
//! They are of different moments of different runs: the first says that group A had no rework, the second that it had.

use super::{BEGIN, Family, RUN, begin, review, untested, workflow};
use crate::run::tests::stage::assert_shows;
use regatta_flow::Content;
use serde_json::{Value, json};

fn example(name: &str) -> Value {
    let text = match name {
        "pm_state" => include_str!("examples/pm_state.json"),
        "group_status" => include_str!("examples/group_status.json"),
        "orchestrator_state" => include_str!("examples/orchestrator_state.json"),
        "dev_to_qa" => include_str!("examples/dev_to_qa.json"),
        "qa_to_techlead" => include_str!("examples/qa_to_techlead.json"),
        _ => include_str!("examples/techlead_to_dev.json"),
    };
    serde_json::from_str(text).expect("the example is JSON")
}

/// What the PM of the examples returns.
fn plan() -> Value {
    let printed = example("pm_state");
    let without_status = |list: &Value| {
        let mut list = list.clone();
        for item in list.as_array_mut().unwrap() {
            item.as_object_mut().unwrap().remove("status");
        }
        list
    };
    json!({
        "mode": printed["mode"], "mode_reasoning": printed["mode_reasoning"],
        "all_tasks": without_status(&printed["all_tasks"]), "task_groups": without_status(&printed["task_groups"]),
    })
}

fn at(family: &mut Family, time: &str) {
    family.at(&format!("2025-01-06T{time}:00Z"));
}

/// Replaces the made-up commits of an example by their titles, and those of a run as well: some are no hex digits.
fn without_ids(document: &mut Value, key: &str) {
    for commit in document[key]["commits"].as_array_mut().unwrap() {
        let title = commit.as_str().unwrap().split_once(" - ").expect("an ID and a title").1.to_owned();
        *commit = title.into();
    }
}

fn counts(all: u32) -> Value {
    json!({ "total": all, "passed": all, "failed": 0 })
}

fn ready(summary: &str, unit_tests: u32) -> Value {
    json!({ "status": "READY_FOR_QA", "summary": summary, "unit_tests": counts(unit_tests) })
}

fn passed([integration, contract, e2e]: [u32; 3]) -> Value {
    json!({
        "result": "PASS", "feedback": "All pass", "total_time": "2m 15s",
        "test_results": {
            "integration_tests": counts(integration), "contract_tests": counts(contract), "e2e_tests": counts(e2e),
        },
    })
}

fn judged(decision: &str, feedback: &str, score: f64) -> Value {
    let mut review = review(decision);
    review["feedback"] = feedback.into();
    review["code_quality_score"] = score.into();
    review
}

#[test]
fn the_examples_fit_the_schemas() {
    for file in &workflow().files {
        let Content::Value { schema: Some(schema), .. } = &file.content else { panic!("it has a schema") };
        let told = schema.check(&example(&file.name)).err().unwrap_or_default();
        let told: Vec<String> = told.iter().map(ToString::to_string).collect();
        // Its schema asks for a time there.
        let is_known =
            |told: &String| file.name == "orchestrator_state" && told.starts_with("end_time: null");
        assert!(told.iter().all(is_known), "{}: {told:?}", file.name);
        assert_eq!(told.len(), usize::from(file.name == "orchestrator_state"), "{told:?}");
    }
}

#[test]
fn a_new_run_has_files_that_say_that_nothing_has_begun() {
    let mut family = begin();
    assert_eq!(family.file("orchestrator_state")["current_phase"], "initialization");
    assert_eq!(family.file("pm_state")["session_id"], "v4_20250106_100000");
    assert_eq!(family.file("group_status"), json!({}));
    for name in ["dev_to_qa", "qa_to_techlead", "techlead_to_dev"] {
        assert_eq!(family.file(name), json!({ "messages": [] }));
    }
}

#[test]
fn the_pm_state() {
    let mut family = begin();
    family.give(RUN, plan());
    at(&mut family, "10:05");
    for key in ["A", "B"] {
        let run = family.child(key);
        family.give(run, ready("It works", 8));
        family.give(run, passed([5, 3, 2]));
    }
    at(&mut family, "10:23");
    for key in ["B", "A"] {
        let run = family.child(key);
        family.give(run, judged("approved", "Good", 9.0));
        family.land(run);
    }
    at(&mut family, "10:30");
    let run = family.child("C");
    family.open(run, "developer");
    family.worked(run, &["password_reset.py"], &["Reset a password"]);
    family.give(run, ready("It works", 4));
    assert_shows(&family.file("pm_state"), &example("pm_state"), "pm_state");
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&family.file("pm_state")), names(&example("pm_state")), "there is nothing else");
}

#[test]
fn the_status_of_groups() {
    let mut family = begin();
    family.give(RUN, plan());
    let (a, b) = (family.child("A"), family.child("B"));
    family.open(a, "developer");
    family.worked(
        a,
        &["auth.py", "middleware.py", "test_auth.py"],
        &["Implement JWT generation", "Add validation middleware"],
    );
    family.give(a, untested("The first version"));
    at(&mut family, "10:10");
    family.give(a, judged("changes_requested", "Missing rate limiting on auth endpoints", 6.0));
    family.open(a, "developer");
    family.worked(a, &["auth.py"], &["Fix rate limiting"]);
    family.give(a, ready("With rate limiting", 12));
    family.give(a, passed([8, 5, 3]));
    family.open(b, "developer");
    family.worked(b, &["users.py", "test_users.py"], &["Implement user registration"]);
    family.give(b, ready("It registers users", 8));
    family.give(b, passed([5, 3, 2]));
    at(&mut family, "10:12");
    family.give(b, judged("approved", "Clean implementation, well tested", 9.0));
    family.land(b);
    at(&mut family, "10:15");
    family.give(a, judged("approved", "Excellent implementation with proper rate limiting", 8.5));
    family.land(a);
    let (mut found, mut printed) = (family.file("group_status"), example("group_status"));
    // It lists two decisions of a tech lead who was asked once; here two decisions are two iterations.
    printed["A"]["iterations"]["tech_lead"] = 2.into();
    // Files are sorted.
    printed["B"]["files_modified"] = json!(["test_users.py", "users.py"]);
    for key in ["A", "B"] {
        without_ids(&mut found, key);
        without_ids(&mut printed, key);
    }
    assert_shows(&found, &printed, "group_status");
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found["A"]), names(&printed["A"]), "there is nothing else");
}

/// Fifteen sessions in fifteen steps: four of them broke off and were begun again.
#[test]
fn the_orchestrator_state() {
    let mut family = begin();
    let again = |family: &mut Family, run, role| {
        family.open(run, role);
        family.open(run, role);
    };
    again(&mut family, RUN, "pm");
    at(&mut family, "10:02");
    family.give(RUN, plan());
    at(&mut family, "10:08");
    let (a, b) = (family.child("A"), family.child("B"));
    again(&mut family, a, "developer");
    family.give(a, ready("It works", 12));
    again(&mut family, b, "developer");
    family.give(b, untested("It needs no tests"));
    again(&mut family, b, "tech_lead");
    family.give(b, judged("approved", "Good", 9.0));
    family.land(b);
    family.give(a, passed([8, 5, 3]));
    family.give(a, judged("approved", "Good", 9.0));
    family.conflict(a, "auth.py");
    family.give(a, untested("The conflict is resolved"));
    family.give(a, judged("approved", "Good", 9.0));
    family.land(a);
    let c = family.child("C");
    family.give(c, ready("It works", 4));
    at(&mut family, "10:28");
    family.give(c, passed([2, 1, 1]));
    family.open(c, "tech_lead");
    let (found, mut printed) = (family.file("orchestrator_state"), example("orchestrator_state"));
    let fields = printed.as_object_mut().unwrap();
    assert_eq!(fields.remove("end_time"), Some(Value::Null), "a run that has not ended has none");
    // It prints three of the decisions.
    for decision in fields.remove("decisions_log").unwrap().as_array().unwrap() {
        let iteration = decision["iteration"].as_u64().unwrap();
        let place = usize::try_from(iteration).unwrap() - 1;
        assert_shows(&found["decisions_log"][place], decision, "decision");
    }
    assert_shows(&found, &printed, "orchestrator_state");
}

/// The group of the messages is called differently there.
fn with_group_a() -> Family {
    let mut family = begin();
    let mut plan = plan();
    plan["task_groups"][0]["name"] = "JWT Authentication".into();
    family.give(RUN, plan);
    let a = family.child("A");
    family.open(a, "developer");
    let files = ["auth.py", "middleware.py", "test_auth.py"];
    family.worked(a, &files, &["Implement JWT generation", "Add validation middleware"]);
    family
}

/// Compares the one message of an example; its number is that of the log.
fn assert_message(family: &mut Family, file: &str) {
    let (found, mut printed) = (family.file(file), example(file));
    let found = found["messages"].as_array().unwrap().last().expect("a message").clone();
    let printed = printed["messages"][0].as_object_mut().unwrap();
    printed.remove("id");
    if let Some(context) = printed.get_mut("context") {
        assert_eq!(
            context["commits"].as_array().unwrap().len(),
            found["context"]["commits"].as_array().unwrap().len()
        );
        context.as_object_mut().unwrap().remove("commits");
    }
    assert_shows(&found, &Value::Object(printed.clone()), file);
    assert_eq!(found.as_object().unwrap().len(), printed.len() + 1, "there is nothing else: {found:#}");
}

#[test]
fn the_message_of_a_developer_to_qa() {
    let mut family = with_group_a();
    at(&mut family, "10:08");
    let a = family.child("A");
    let notes = "Implemented JWT generation, validation, and refresh. All unit tests passing.";
    family.give(a, ready(notes, 12));
    assert_eq!(family.file("dev_to_qa")["messages"][0]["read"], false);
    family.give(a, passed([8, 5, 3]));
    assert_message(&mut family, "dev_to_qa");
}

#[test]
fn the_message_of_qa_to_the_tech_lead() {
    let mut family = with_group_a();
    at(&mut family, "10:12");
    let a = family.child("A");
    let summary = "JWT authentication with generation, validation, refresh, and rate limiting";
    family.give(a, ready(summary, 12));
    family.give(a, passed([8, 5, 3]));
    assert_message(&mut family, "qa_to_techlead");
}

#[test]
fn the_message_of_the_tech_lead_to_a_developer() {
    let mut family = with_group_a();
    at(&mut family, "10:10");
    let a = family.child("A");
    family.give(a, untested("The first version"));
    let printed = example("techlead_to_dev")["messages"][0].clone();
    let mut review = review("changes_requested");
    for field in ["feedback", "issues", "actionable_items"] {
        review[field] = printed[field].clone();
    }
    family.give(a, review);
    assert_message(&mut family, "techlead_to_dev");
    assert!(BEGIN < family.file("pm_state")["last_update"].as_str().unwrap());
}
