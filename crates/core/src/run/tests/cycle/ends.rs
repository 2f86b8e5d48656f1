//! How a cycle ends, and how it continues after that.

use super::{analyse, begin, begun, checks, code, document, iterate, validation};
use crate::Code;
use crate::run::Command;
use crate::testing::failure;
use expect_test::expect;
use serde_json::{Value, json};

#[test]
fn success_ends_it_once_the_work_is_merged() {
    let mut stage = begun();
    iterate(&mut stage, &["a.ts"], &[]);
    assert_eq!(stage.place(), "paused at close", "it waits for the approval");
    assert_eq!(document(&mut stage)["current_phase"], "aggregation");
    stage.at("2026-01-22T12:00:00+08:00");
    stage.land();
    let document = document(&mut stage);
    assert_eq!(document["current_phase"], "complete");
    assert_eq!(document["completed_at"], "2026-01-22T04:00:00.000Z");
    assert_eq!(document["iterations"][0]["resolved"], true);
    expect![[r#"
        [
          {
            "number": 1,
            "started_at": "2026-01-22T02:00:00.000Z",
            "agent_results": {
              "ra": {
                "status": "completed",
                "files_modified": 2
              },
              "ep": {
                "status": "completed",
                "files_modified": 2
              },
              "cd": {
                "status": "completed",
                "files_modified": 1
              },
              "vas": {
                "status": "completed",
                "files_modified": 1
              }
            },
            "issues_found": [],
            "resolved": true,
            "completed_at": "2026-01-22T04:00:00.000Z"
          }
        ]"#]]
    .assert_eq(&format!("{:#}", document["iterations"]));
}

#[test]
fn the_limit_ends_it_with_what_is_open() {
    let mut stage = begin(json!({ "max_iterations": 2 }));
    stage.give(Value::Null);
    iterate(&mut stage, &["a.ts"], &["retry"]);
    iterate(&mut stage, &["a.ts"], &["retry", "time-out"]);
    let document = document(&mut stage);
    assert_eq!(stage.place(), "failed at limit");
    assert_eq!(document["iterations"].as_array().unwrap().len(), 2);
    assert_eq!(document["current_phase"], "aggregation");
    expect!["run 1 ended at node `limit`: the limit of 2 iterations is reached; open: failing test: retry; failing test: time-out"].assert_eq(document["failure_reason"].as_str().unwrap());
}

#[test]
fn a_person_who_sends_the_work_back_begins_the_next_iteration() {
    let mut stage = begun();
    iterate(&mut stage, &["a.ts"], &[]);
    stage.send_back("Use PKCE");
    let document = document(&mut stage);
    assert_eq!((stage.place().as_str(), &document["current_iteration"]), ("running at analyse", &json!(2)));
    assert_eq!(document["task_history"], json!([super::TITLE, "Use PKCE"]));
    assert!(document["description"].as_str().unwrap().ends_with("\n\n--- ITERATION 2 ---\nUse PKCE"));
    assert_eq!(document["iterations"][0]["issues_found"], json!(["sent back: Use PKCE"]));
    iterate(&mut stage, &["a.ts"], &[]);
    stage.land();
    assert_eq!(super::document(&mut stage)["status"], "completed");
    let mut stage = begin(json!({ "max_iterations": 1 }));
    stage.give(Value::Null);
    iterate(&mut stage, &["a.ts"], &[]);
    stage.send_back("Use PKCE");
    assert_eq!(stage.place(), "failed at limit");
    let reason = &super::document(&mut stage)["failure_reason"];
    assert!(reason.as_str().unwrap().contains("sent back: Use PKCE"), "{reason}");
}

#[test]
fn a_conflict_goes_to_the_developer_within_the_iteration() {
    let mut stage = begun();
    iterate(&mut stage, &["a.ts"], &[]);
    for _ in 0..3 {
        stage.conflict("a.ts");
        assert_eq!(stage.place(), "running at code");
        assert_eq!(document(&mut stage)["current_iteration"], 1);
        stage.worked(&["a.ts"]);
        stage.give(code(&["TASK-001"]));
        stage.give(validation(100, &[]));
        stage.give(checks(true));
        assert_eq!(stage.place(), "paused at close");
    }
    stage.conflict("a.ts");
    let document = document(&mut stage);
    assert_eq!((stage.place().as_str(), &document["current_iteration"]), ("running at analyse", &json!(2)));
    assert_eq!(document["iterations"][0]["issues_found"], json!(["conflicts with main: a.ts"]));
    let mut stage = begin(json!({ "max_iterations": 1 }));
    stage.give(Value::Null);
    iterate(&mut stage, &["a.ts"], &[]);
    for _ in 0..3 {
        stage.conflict("a.ts");
        stage.worked(&["a.ts"]);
        stage.give(code(&["TASK-001"]));
        stage.give(validation(100, &[]));
        stage.give(checks(true));
    }
    stage.conflict("a.ts");
    assert_eq!(stage.place(), "failed at limit");
}

#[test]
fn work_that_changes_nothing_ends_it_too() {
    let mut stage = begun();
    iterate(&mut stage, &[], &[]);
    let failure = failure(Code::TaskNoDiff);
    stage.tell(&Command::NotPerformed { step: stage.run.step, failure }).unwrap();
    assert_eq!(stage.place(), "completed at done");
    assert_eq!(document(&mut stage)["iterations"][0]["resolved"], true);
}

#[test]
fn an_extension_while_it_runs_waits_for_the_next_iteration() {
    let mut stage = begun();
    analyse(&mut stage);
    stage.signal("extend", json!({ "text": "Also log out" })).unwrap();
    stage.signal("extend", json!({ "text": "And log in again" })).unwrap();
    let before = document(&mut stage);
    assert_eq!(before["task_history"], json!([super::TITLE, "Also log out", "And log in again"]));
    assert!(!before["description"].as_str().unwrap().contains("ITERATION"));
    assert_eq!(stage.place(), "running at code", "nothing is interrupted");
    stage.open("cd");
    stage.at("2026-01-22T10:30:00+08:00");
    stage.worked(&["a.ts"]);
    stage.give(code(&["TASK-001"]));
    stage.give(validation(100, &[]));
    stage.at("2026-01-22T10:40:00+08:00");
    stage.give(checks(true));
    let document = document(&mut stage);
    assert_eq!(document["current_iteration"], 2);
    assert_eq!(document["iterations"][1]["extension"], "Also log out\nAnd log in again");
    assert_eq!(document["iterations"][0]["resolved"], true, "the iteration itself left nothing open");
    let end = "\n\n--- ITERATION 2 ---\nAlso log out\nAnd log in again";
    assert!(document["description"].as_str().unwrap().ends_with(end));
    let statuses = ["ra", "ep", "cd", "vas"].map(|name| document["agents"][name]["status"].clone());
    assert_eq!(statuses, ["idle"; 4]);
}

#[test]
fn a_limit_that_is_reached_can_be_raised() {
    let mut stage = begin(json!({ "max_iterations": 1 }));
    stage.give(Value::Null);
    let refused = stage.signal("extend", json!({ "text": "More" })).unwrap_err().explain();
    expect!["SIGNAL_REFUSED: `current_iteration < $max([$limit, $signal.max_iterations])` does not hold: it saw current_iteration = 1, $limit = 1"].assert_eq(&format!("{}: {}", refused.code, refused.why.join(": ")));
    iterate(&mut stage, &["a.ts"], &["retry"]);
    assert_eq!(stage.place(), "failed at limit");
    assert!(stage.signal("raise", json!({ "max_iterations": 1 })).is_err());
    stage.signal("raise", json!({ "max_iterations": 3 })).unwrap();
    let document = document(&mut stage);
    assert_eq!(stage.place(), "running at analyse");
    assert_eq!((&document["max_iterations"], &document["current_iteration"]), (&json!(3), &json!(2)));
    assert!(document.get("failure_reason").is_none());
    iterate(&mut stage, &["a.ts"], &[]);
    stage.land();
    assert!(stage.signal("raise", json!({ "max_iterations": 5 })).is_err(), "nothing is open");
    stage.signal("extend", json!({ "text": "More", "max_iterations": 9 })).unwrap();
    let document = super::document(&mut stage);
    assert_eq!((&document["max_iterations"], &document["current_iteration"]), (&json!(9), &json!(3)));
    assert!(document.get("completed_at").is_none());
}

/// After a stop in the middle, the iteration that was open is closed when the next one begins.
#[test]
fn one_that_was_stopped_can_be_extended() {
    let mut stage = begun();
    analyse(&mut stage);
    stage.tell(&Command::Stop { reason: None }).unwrap();
    stage.tell(&Command::Stopped).unwrap();
    assert_eq!(document(&mut stage)["status"], "failed");
    stage.signal("extend", json!({ "text": "Once more" })).unwrap();
    let document = document(&mut stage);
    assert_eq!(stage.place(), "running at analyse");
    assert!(document["iterations"][0]["completed_at"].is_string());
    assert_eq!(document["iterations"][0]["agent_results"]["vas"]["status"], "pending");
    assert_eq!(document["iterations"][1]["number"], 2);
    assert_eq!(stage.run.sheet.state()["part"], "I1", "its task is continued");
}

/// The code is one task from one merge to the next.
#[test]
fn a_merge_ends_the_task_and_the_next_iteration_has_another() {
    let mut stage = begun();
    iterate(&mut stage, &["a.ts"], &["retry"]);
    assert_eq!(stage.run.sheet.state()["part"], "I1");
    iterate(&mut stage, &["a.ts"], &[]);
    stage.land();
    stage.signal("extend", json!({ "text": "More" })).unwrap();
    assert_eq!(stage.run.sheet.state()["part"], "I3");
    iterate(&mut stage, &["b.ts"], &[]);
    stage.land();
    let tasks: Vec<(&String, String)> =
        stage.run.tasks.iter().map(|(key, id)| (key, id.to_string())).collect();
    assert_eq!(tasks.len(), 2, "{tasks:?}");
}
