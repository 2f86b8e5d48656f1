//! The turns of an iteration: who works when, and what the document says meanwhile.

use super::{
    analyse, begin, begun, checks, code, document, exploration, iterate, plan, requirements, validation,
};
use crate::Code;
use crate::run::tests::stage::Stage;
use crate::testing::failure;
use expect_test::expect;
use serde_json::{Value, json};

/// Says what the document says of phases and roles.
fn told(stage: &mut Stage) -> String {
    let document = document(stage);
    let roles = ["ra", "ep", "cd", "vas"].map(|name| {
        let agent = &document["agents"][name];
        format!("{name} {} {}", agent["status"].as_str().unwrap(), agent["iterations_completed"])
    });
    let [status, phase] = ["status", "current_phase"].map(|name| document[name].as_str().unwrap());
    let done: Vec<&str> = document["completed_phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase.as_str().unwrap())
        .collect();
    format!(
        "{status} {} {phase} [{}] | {}\n",
        document["current_iteration"],
        done.join(" "),
        roles.join(", ")
    )
}

#[test]
fn phases_and_roles_follow_one_another() {
    let mut stage = begin(json!({}));
    let mut lines = told(&mut stage);
    let mut tell = |stage: &mut Stage| lines.push_str(&told(stage));
    stage.give(Value::Null);
    tell(&mut stage);
    stage.open("ep");
    stage.open("ra");
    tell(&mut stage);
    stage.member("explore", exploration());
    tell(&mut stage);
    stage.member("ra", requirements());
    tell(&mut stage);
    stage.open("ep");
    tell(&mut stage);
    stage.give(plan(&["TASK-001"]));
    stage.open("cd");
    tell(&mut stage);
    stage.worked(&["a.ts"]);
    stage.give(code(&["TASK-001"]));
    stage.open("vas");
    tell(&mut stage);
    stage.give(validation(100, &[]));
    tell(&mut stage);
    stage.give(checks(true));
    tell(&mut stage);
    stage.land();
    tell(&mut stage);
    expect![[r#"
        created 0 init [] | ra idle 0, ep idle 0, cd idle 0, vas idle 0
        running 1 ra [] | ra idle 0, ep idle 0, cd idle 0, vas idle 0
        running 1 ra [] | ra running 0, ep running 0, cd idle 0, vas idle 0
        running 1 ra [] | ra running 0, ep completed 0, cd idle 0, vas idle 0
        running 1 ep [ra] | ra completed 0, ep idle 0, cd idle 0, vas idle 0
        running 1 ep [ra] | ra completed 0, ep running 0, cd idle 0, vas idle 0
        running 1 cd [ra ep] | ra completed 0, ep completed 0, cd running 0, vas idle 0
        running 1 vas [ra ep cd] | ra completed 0, ep completed 0, cd completed 0, vas running 0
        running 1 aggregation [ra ep cd vas] | ra completed 0, ep completed 0, cd completed 0, vas completed 0
        paused 1 aggregation [ra ep cd vas] | ra completed 0, ep completed 0, cd completed 0, vas completed 0
        completed 1 complete [ra ep cd vas] | ra completed 1, ep completed 1, cd completed 1, vas completed 1
    "#]]
    .assert_eq(&lines);
}

#[test]
fn pause_resume_and_stop_are_in_the_document() {
    use crate::run::Command;
    let status = |stage: &mut Stage| document(stage)["status"].clone();
    let mut stage = begun();
    stage.open("ra");
    stage.tell(&Command::Pause).unwrap();
    assert_eq!(status(&mut stage), "paused", "the roles at work see it, and their step ends");
    stage.member("ra", requirements());
    stage.member("explore", exploration());
    assert_eq!((status(&mut stage), stage.place().as_str()), (json!("paused"), "paused at plan"));
    stage.tell(&Command::Resume).unwrap();
    assert_eq!(status(&mut stage), "running");
    stage.open("ep");
    stage.tell(&Command::Stop { reason: Some("Enough".to_owned()) }).unwrap();
    assert_eq!(status(&mut stage), "failed", "the roles at work see that too, until they are ended");
    stage.tell(&Command::Stopped).unwrap();
    let document = document(&mut stage);
    assert_eq!(document["status"], "failed");
    assert!(document["failure_reason"].is_string());
}

/// What a failed test, an open issue and a failed check come to is the same.
#[test]
fn what_is_open_leads_to_the_next_iteration() {
    let after = |vas: Value, passed: bool| {
        let mut stage = begun();
        analyse(&mut stage);
        stage.worked(&["a.ts"]);
        stage.give(code(&["TASK-001"]));
        stage.give(vas);
        stage.give(checks(passed));
        let document = document(&mut stage);
        let log = document["coordination"]["feedback_log"].as_array().unwrap();
        let said: Vec<String> = log
            .iter()
            .map(|entry| format!("{} to {}: {}", entry["source"], entry["target"], entry["content"]))
            .collect();
        format!(
            "{} {} {} | {}",
            stage.place(),
            document["current_iteration"],
            document["iterations"][0]["issues_found"],
            said.join("; ")
        )
    };
    let mut issues = validation(100, &[]);
    issues["issues_found"] = json!(["No log-out"]);
    let told = [
        after(validation(85, &["retry"]), true),
        after(issues, true),
        after(validation(100, &[]), false),
        after(validation(100, &[]), true),
    ];
    expect![[r#"
        running at analyse 2 ["failing test: retry"] | "vas" to "cd": "failing test: retry"
        running at analyse 2 ["No log-out"] | "vas" to "cd": "No log-out"
        running at analyse 2 ["failing check: test"] | "vas" to "cd": "failing check: test"
        paused at close 1 [] | "#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn changes_come_from_git_and_the_developer_explains_them() {
    let mut stage = begun();
    analyse(&mut stage);
    stage.open("cd");
    stage.at("2026-01-22T10:20:00+08:00");
    stage.worked(&["+src/new.ts", "src/old.ts", "-src/gone.ts"]);
    let mut explained = code(&["TASK-001"]);
    explained["changes"] = json!([
        { "file": "src/old.ts", "description": "Takes two providers" },
        { "file": "src/never.ts", "description": "Is not in the diff" },
    ]);
    stage.give(explained);
    expect![[r#"
        [
          {
            "timestamp": "2026-01-22T02:20:00.000Z",
            "file": "src/new.ts",
            "action": "create",
            "iteration": 1,
            "agent": "cd",
            "description": "The providers are set up"
          },
          {
            "timestamp": "2026-01-22T02:20:00.000Z",
            "file": "src/old.ts",
            "action": "modify",
            "iteration": 1,
            "agent": "cd",
            "description": "Takes two providers"
          },
          {
            "timestamp": "2026-01-22T02:20:00.000Z",
            "file": "src/gone.ts",
            "action": "delete",
            "iteration": 1,
            "agent": "cd",
            "description": "The providers are set up"
          }
        ]"#]]
    .assert_eq(&format!("{:#}", stage.file("changes")));
    let document = document(&mut stage);
    assert_eq!(document["changes"]["total_files"], 3);
    assert_eq!(document["agents"]["cd"]["output_files"], json!(["src/new.ts", "src/old.ts", "src/gone.ts"]));
    assert_eq!(document["plan"]["tasks"][0]["status"], "completed");
    // A session that changes nothing adds nothing, whatever the developer says.
    stage.give(validation(50, &["retry"]));
    stage.give(checks(true));
    analyse(&mut stage);
    stage.open("cd");
    stage.worked(&[]);
    stage.give(code(&["TASK-001"]));
    let document = super::document(&mut stage);
    assert_eq!(document["changes"]["changes"].as_array().unwrap().len(), 3);
    assert_eq!(
        document["changes"]["iteration_markers"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["1"]
    );
}

#[test]
fn versions_and_markers_follow_the_iterations() {
    let mut stage = begun();
    for number in 1..=3 {
        stage.at(&format!("2026-01-22T1{number}:00:00+08:00"));
        iterate(&mut stage, &["a.ts"], &["retry"]);
    }
    let document = document(&mut stage);
    assert_eq!((stage.place().as_str(), &document["current_iteration"]), ("running at analyse", &json!(4)));
    let versions =
        ["requirements", "exploration", "plan", "test_results"].map(|part| document[part]["version"].clone());
    assert_eq!(versions, ["1.2.0"; 4]);
    assert_eq!(
        document["changes"]["iteration_markers"],
        json!({ "1": "2026-01-22T03:00:00.000Z", "2": "2026-01-22T04:00:00.000Z", "3": "2026-01-22T05:00:00.000Z" })
    );
    assert_eq!(document["changes"]["total_files"], 1, "files are counted once");
    let counts =
        ["ra", "ep", "cd", "vas"].map(|name| document["agents"][name]["iterations_completed"].clone());
    assert_eq!(counts, [3; 4]);
    let log = stage.file("requirement_changes");
    let versions: Vec<&Value> = log.as_array().unwrap().iter().map(|change| &change["version"]).collect();
    assert_eq!(versions, ["1.0.0", "1.1.0", "1.2.0"]);
}

/// The analyst is asked once in an iteration; after that the question is an open issue.
#[test]
fn a_gap_in_the_requirements_goes_back_to_the_analyst_once() {
    let mut stage = begun();
    let ask = |stage: &mut Stage| {
        analyse(stage);
        stage.worked(&["a.ts"]);
        let mut code = code(&[]);
        code["questions"] = json!(["For how long is a token valid?"]);
        stage.give(code);
        stage.place()
    };
    assert_eq!(ask(&mut stage), "running at analyse");
    assert_eq!(document(&mut stage)["current_iteration"], 1);
    assert_eq!(ask(&mut stage), "running at validate");
    stage.give(validation(100, &[]));
    stage.give(checks(true));
    let document = document(&mut stage);
    assert_eq!(document["iterations"][0]["issues_found"], json!(["unclear: For how long is a token valid?"]));
    assert_eq!(document["iterations"][0]["agent_results"]["cd"]["status"], "partial");
    assert_eq!(ask(&mut stage), "running at analyse", "and once in the next one");
}

#[test]
fn a_phase_that_fails_is_in_the_document_and_the_next_iteration_tries_again() {
    let mut stage = begun();
    let mut broken = failure(Code::AgentSessionFailed);
    broken.details.insert("class".to_owned(), json!("crash"));
    stage.member("ra", requirements());
    stage.open("ep");
    stage.fail("explore", broken.clone());
    let document = document(&mut stage);
    assert_eq!(document["current_iteration"], 2);
    assert_eq!(
        document["phase_errors"],
        json!([{ "phase": "ra", "error": "it did not work: a reason", "timestamp": "2026-01-22T02:00:00.000Z" }])
    );
    assert_eq!(document["iterations"][0]["agent_results"]["ep"]["status"], "failed");
    assert_eq!(document["iterations"][0]["agent_results"]["ra"]["status"], "completed");
    analyse(&mut stage);
    stage.open("cd");
    stage.fail("code", broken);
    let document = super::document(&mut stage);
    assert_eq!(
        (&document["current_iteration"], &document["phase_errors"][1]["phase"]),
        (&json!(3), &json!("cd"))
    );
}

#[test]
fn what_was_completed_stays_in_the_plan() {
    let mut stage = begun();
    stage.member("ra", requirements());
    stage.member("explore", exploration());
    stage.give(plan(&["A", "B"]));
    let statuses = |stage: &mut Stage| {
        let plan = stage.file("plan");
        let tasks = plan["tasks"].as_array().unwrap().clone();
        tasks.iter().map(|task| format!("{} {}", task["id"], task["status"])).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(statuses(&mut stage), r#""A" "in_progress", "B" "in_progress""#);
    stage.worked(&["a.ts"]);
    let mut code = code(&["A"]);
    code["blocked_tasks"] = json!(["B"]);
    stage.give(code);
    assert_eq!(statuses(&mut stage), r#""A" "completed", "B" "blocked""#);
    stage.give(validation(50, &["retry"]));
    stage.give(checks(true));
    stage.member("ra", requirements());
    stage.member("explore", exploration());
    stage.give(plan(&["B", "C"]));
    assert_eq!(statuses(&mut stage), r#""A" "completed", "B" "in_progress", "C" "in_progress""#);
}
