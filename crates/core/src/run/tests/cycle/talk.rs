//! What roles and a person say to each other: feedback, decisions and blockers.

use super::{begin, begun, checks, code, document, exploration, iterate, plan, requirements, validation};
use crate::run::tests::stage::Stage;
use expect_test::expect;
use serde_json::{Value, json};

/// Plays until the developer is to begin, with a decision that the analyst raised.
fn with_decision() -> Stage {
    let mut stage = begun();
    let mut requirements = requirements();
    requirements["decisions"] =
        json!([{ "description": "Which provider first?", "options": ["Google", "GitHub"] }]);
    stage.member("ra", requirements);
    stage.member("explore", exploration());
    stage.give(plan(&["TASK-001"]));
    stage
}

fn finish(stage: &mut Stage) {
    stage.worked(&["a.ts"]);
    stage.give(code(&["TASK-001"]));
    stage.give(validation(100, &[]));
    stage.give(checks(true));
}

fn decision(stage: &mut Stage) -> String {
    let decision = document(stage)["coordination"]["pending_decisions"][0].clone();
    format!("{} {}", decision["status"], decision["chosen_option"])
}

#[test]
fn a_decision_that_is_answered_early_is_worked_in() {
    let mut stage = with_decision();
    assert_eq!(decision(&mut stage), r#""pending" null"#);
    stage.at("2026-01-22T10:10:00+08:00");
    stage.signal("decide", json!({ "id": "D1", "option": "GitHub" })).unwrap();
    assert_eq!(decision(&mut stage), r#""made" "GitHub""#);
    assert!(stage.signal("decide", json!({ "id": "D1", "option": "Google" })).is_err(), "it is made");
    stage.at("2026-01-22T10:20:00+08:00");
    stage.open("cd");
    finish(&mut stage);
    assert_eq!(decision(&mut stage), r#""implemented" "GitHub""#);
    assert_eq!(stage.place(), "paused at close");
}

#[test]
fn a_decision_that_comes_while_the_developer_works_needs_another_iteration() {
    let mut stage = with_decision();
    stage.open("cd");
    stage.at("2026-01-22T10:20:00+08:00");
    stage.signal("decide", json!({ "id": "D1", "option": "GitHub" })).unwrap();
    finish(&mut stage);
    assert_eq!(
        (stage.place().as_str(), decision(&mut stage).as_str()),
        ("running at analyse", r#""made" "GitHub""#)
    );
    stage.at("2026-01-22T10:30:00+08:00");
    iterate(&mut stage, &["a.ts"], &[]);
    assert_eq!(
        (stage.place().as_str(), decision(&mut stage).as_str()),
        ("paused at close", r#""implemented" "GitHub""#)
    );
}

#[test]
fn what_nobody_answered_is_asked_before_the_iteration_ends() {
    let mut stage = with_decision();
    stage.worked(&["a.ts"]);
    let mut code = code(&["TASK-001"]);
    code["blockers"] = json!(["No credentials for GitHub"]);
    stage.give(code);
    stage.give(validation(100, &[]));
    stage.give(checks(true));
    assert_eq!(stage.place(), "paused at ask");
    let crate::run::Phase::Asking { question } = stage.run.phase().unwrap() else { panic!("it asks") };
    expect![
        "The cycle needs you: B1: No credentials for GitHub; D1: Which provider first? (Google | GitHub)"
    ]
    .assert_eq(question);
    stage.at("2026-01-22T10:40:00+08:00");
    stage.answer(true, "They are in the vault; GitHub first");
    let document = document(&mut stage);
    assert_eq!(document["current_iteration"], 2);
    expect![[r#"
        {
          "feedback_log": [
            {
              "timestamp": "2026-01-22T02:40:00.000Z",
              "source": "user",
              "target": "cd",
              "content": "They are in the vault; GitHub first",
              "type": "clarification"
            },
            {
              "timestamp": "2026-01-22T02:40:00.000Z",
              "source": "vas",
              "target": "cd",
              "content": "resolved: No credentials for GitHub: They are in the vault; GitHub first",
              "type": "bug_report"
            }
          ],
          "pending_decisions": [
            {
              "id": "D1",
              "description": "Which provider first?",
              "options": [
                "Google",
                "GitHub"
              ],
              "status": "made",
              "chosen_option": "They are in the vault; GitHub first",
              "made_by": "user"
            }
          ],
          "blockers": [
            {
              "id": "B1",
              "description": "No credentials for GitHub",
              "reported_by": "cd",
              "status": "resolved",
              "resolution": "They are in the vault; GitHub first"
            }
          ]
        }"#]]
    .assert_eq(&format!("{:#}", document["coordination"]));
    iterate(&mut stage, &["a.ts"], &[]);
    assert_eq!(stage.place(), "paused at close", "all of it is worked in");
}

#[test]
fn a_blocker_can_be_lived_with() {
    let mut stage = begun();
    stage.member("ra", requirements());
    stage.member("explore", exploration());
    stage.give(plan(&["TASK-001"]));
    stage.worked(&["a.ts"]);
    stage.give(code(&["TASK-001"]));
    let mut blocked = validation(100, &[]);
    blocked["blockers"] = json!(["The staging server is down"]);
    stage.give(blocked);
    stage.give(checks(true));
    stage.answer(false, "Merge without it");
    assert_eq!(stage.place(), "paused at close");
    let blocker = document(&mut stage)["coordination"]["blockers"][0].clone();
    assert_eq!(
        (&blocker["status"], &blocker["resolution"]),
        (&json!("workaround"), &json!("Merge without it"))
    );
    assert_eq!((&blocker["id"], &blocker["reported_by"]), (&json!("B1"), &json!("vas")));
}

/// Every entry has its sender, its reader and one of the four types.
#[test]
fn the_feedback_log_has_what_was_said() {
    let mut stage = begin(json!({}));
    stage.give(Value::Null);
    iterate(&mut stage, &["a.ts"], &["retry"]);
    stage.at("2026-01-22T11:00:00+08:00");
    stage.signal("extend", json!({ "text": "Also log out" })).unwrap();
    iterate(&mut stage, &["a.ts"], &[]);
    let document = document(&mut stage);
    let log = document["coordination"]["feedback_log"].as_array().unwrap();
    let line = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        format!(
            "{} {} -> {} {}: {}",
            text("timestamp"),
            text("source"),
            text("target"),
            text("type"),
            text("content")
        )
    };
    expect![[r#"
        2026-01-22T02:00:00.000Z vas -> cd bug_report: failing test: retry
        2026-01-22T03:00:00.000Z user -> ra requirement_update: Also log out
        2026-01-22T03:00:00.000Z cd -> vas issue_fix: The providers are set up"#]]
    .assert_eq(&log.iter().map(line).collect::<Vec<_>>().join("\n"));
}
