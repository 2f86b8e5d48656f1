//! The files of a cycle while its agents work: read by them, and edited by a person.

use crate::cycle::{CODE, FAILS, GATE, PASSES, open, play, project, state, until_at_code};
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Names the files of the cycle.
const RUN: [&str; 5] = ["run", "cycle", "Say hello", "--cycle-id", "hello"];

fn path(project: &TestProject, name: &str) -> PathBuf {
    project.path().join(".regatta/cycles/hello.progress").join(name)
}

fn read(project: &TestProject, name: &str) -> String {
    std::fs::read_to_string(path(project, name)).unwrap_or_default()
}

fn document(project: &TestProject) -> Value {
    let text = std::fs::read_to_string(project.path().join(".regatta/cycles/hello.json"));
    serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default()
}

/// Saves a file in place, as an editor does.
fn edit(project: &TestProject, name: &str, from: &str, to: &str) {
    let text = read(project, name);
    assert!(text.contains(from), "{name} has no `{from}`: {text}");
    std::fs::write(path(project, name), text.replacen(from, to, 1)).expect("the file can be written");
}

fn count(project: &TestProject, kind: &str) -> usize {
    let events = project.json(&["events", "--type", kind]);
    events.as_array().map_or(0, Vec::len)
}

#[test]
fn an_agent_reads_in_the_file_that_the_cycle_is_paused() {
    let project = project();
    let looks = r#"
touch "$here/at-code-$visit"
for look in $(seq 1000); do grep -q '"status": "paused"' "$REGATTA_PROJECT/.regatta/cycles/hello.json" && break; sleep 0.05; done
grep '^  "status"' "$REGATTA_PROJECT/.regatta/cycles/hello.json" > "$here/status"
"#;
    play(&project, "code", &format!("[ $visit = 1 ] && {{ {looks} }}\n{CODE}"));
    let running = project.start(&RUN);
    until_at_code(&project, 1);
    until("the file says who works", || document(&project)["agents"]["cd"]["status"] == "running");
    let shown = document(&project);
    assert_eq!(
        (&shown["status"], &shown["current_phase"], &shown["completed_phases"]),
        (&json!("running"), &json!("cd"), &json!(["ra", "ep"]))
    );
    project.json(&["run", "pause", "1"]);
    let rested = running.wait();
    assert_eq!(rested.code, Some(0), "{rested:?}");
    let seen = std::fs::read_to_string(project.path().join(".regatta/play/status"));
    assert_eq!(seen.expect("it has looked"), "  \"status\": \"paused\",\n");
    assert_eq!(
        (&document(&project)["status"], &document(&project)["current_phase"]),
        (&json!("paused"), &json!("vas"))
    );
    assert_eq!(project.json(&["run", "resume", "1"])["status"], "completed");
    let ended = document(&project);
    assert_eq!((&ended["status"], &ended["current_phase"]), (&json!("completed"), &json!("complete")));
    assert!(read(&project, "coordination/timeline.md").contains("## Iteration 1\n"));
    assert_eq!(read(&project, "cd/changes.log").lines().count(), 1);
    // An extension bumps the versions, lets the roles begin again, and adds to what was written.
    project.json(&["run", "signal", "1", "extend", "--text", "And goodbye"]);
    let extended = document(&project);
    assert_eq!(extended["description"], "Say hello\n\n--- ITERATION 2 ---\nAnd goodbye");
    assert_eq!(extended["task_history"], json!(["Say hello", "And goodbye"]));
    assert_eq!(extended["requirements"]["version"], "1.1.0");
    assert_eq!(extended["agents"]["ra"]["iterations_completed"], 2);
    assert_eq!(extended["coordination"]["feedback_log"][0]["type"], "requirement_update");
    assert!(read(&project, "coordination/timeline.md").contains("## Iteration 2\n"));
    let markers = extended["changes"]["iteration_markers"].as_object().map(|markers| markers.len());
    assert_eq!((markers, read(&project, "cd/changes.log").lines().count()), (Some(2), 2));
}

/// Each becomes an event, also in the middle of a step; the session is not interrupted, and the run keeps what it sets itself.
#[test]
fn an_edit_of_every_two_way_file_is_taken_in_while_an_agent_works() {
    let project = project();
    play(
        &project,
        "ra",
        r#"echo '{"specification": "Say hello.", "edge_cases": [], "decisions": [{"description": "How loud?", "options": ["Soft", "Loud"]}]}'"#,
    );
    play(&project, "validate", &format!("if [ $visit = 1 ]; then {FAILS}; else {PASSES}; fi"));
    play(&project, "code", &format!("[ $visit = 2 ] && {{ {GATE} }}\n{CODE}"));
    // The decision is asked at the end of the first iteration.
    assert_eq!(project.run(&RUN).code, Some(0));
    project.json(&["run", "signal", "1", "decide", "--id", "D1", "--option", "Loud"]);
    let running = project.start(&["run", "answer", "1", "Go on"]);
    until_at_code(&project, 2);
    edit(&project, "ra/requirements.md", "Say hello.", "Say hello twice.");
    edit(&project, "ra/decisions.json", "How loud?", "How loud is it?");
    edit(&project, "ep/exploration.md", "One file", "One small file");
    edit(&project, "ep/plan.json", "\"an hour\"", "\"two hours\"");
    edit(&project, "vas/test-results.json", "\"coverage\": 90", "\"coverage\": 91");
    let line = json!({
        "timestamp": "2026-01-22T10:00:00Z", "file": "by-hand.txt", "action": "create", "iteration": 2,
        "agent": "user", "description": "By hand",
    });
    let log = read(&project, "cd/changes.log");
    std::fs::write(path(&project, "cd/changes.log"), format!("{log}{line}\n"))
        .expect("the file can be written");
    until("all edits are taken in", || count(&project, "run:edited") >= 6);
    let edited = state(&project);
    let expected = [
        ("/requirements/specification", "Say hello twice."),
        ("/decisions/0/description", "How loud is it?"),
        ("/exploration/architecture_summary", "One small file"),
        ("/plan/total_estimated_effort", "two hours"),
    ];
    for (pointer, text) in expected {
        assert_eq!(edited.pointer(pointer), Some(&json!(text)), "{pointer}: {edited}");
    }
    assert_eq!(edited["test_results"]["coverage"], 91);
    assert_eq!(edited["changes"].as_array().and_then(|changes| changes.last()), Some(&line));
    open(&project, 2);
    let ended = running.wait();
    assert!(ended.code.is_some(), "{ended:?}");
    let after = state(&project);
    assert_eq!(after["requirements"]["specification"], "Say hello twice.", "the step kept it");
    assert_eq!(after["plan"]["total_estimated_effort"], "two hours");
    assert_eq!(count(&project, "run:edit_kept"), 0);
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}

/// What does not fit or cannot be read is kept beside the file, word for word, and reported.
#[test]
fn an_edit_that_cannot_be_taken_in_is_kept_and_reported() {
    let project = project();
    play(&project, "code", &format!("{GATE}\n{CODE}"));
    let running = project.start(&RUN);
    until_at_code(&project, 1);
    edit(&project, "ra/requirements.md", "version: \"1.0.0\"", "version: 1");
    edit(&project, "ep/exploration.md", "---\n", "+++\n");
    edit(&project, "ep/plan.json", "\"small\"", "\"tiny\"");
    let master = project.path().join(".regatta/cycles/hello.json");
    let text = std::fs::read_to_string(&master).expect("there is one");
    std::fs::write(&master, text.replace("Say hello", "Say nothing")).expect("the file can be written");
    until("each edit is set aside", || count(&project, "run:edit_kept") >= 4);
    let files = project.json(&["run", "show", "1"])["files"].clone();
    let kept: Vec<(String, String)> = files
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|file| file["kept"].as_array().into_iter().flatten())
        .map(|kept| (kept["path"].as_str().unwrap_or_default().to_owned(), kept["error"]["code"].to_string()))
        .collect();
    assert_eq!(kept.len(), 4, "{files}");
    for (path, code) in &kept {
        let is_there = project.path().join(path).is_file();
        assert!(
            is_there && (code.contains("EDIT_REFUSED") || code.contains("STATE_CORRUPT")),
            "{path}: {code}"
        );
    }
    assert_eq!(document(&project)["title"], "Say hello", "it was written again");
    open(&project, 1);
    let ended = running.wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(state(&project)["requirements"]["version"], "1.0.0");
}
