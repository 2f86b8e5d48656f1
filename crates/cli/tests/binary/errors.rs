//! What the user sees when a command is refused: wrong names, dependencies, busy agents, payloads, usage.

use crate::support::{Transcript, add, add_all, add_and_assign, count_events, kinds_from, with_agents};

#[test]
fn names_that_do_not_exist() {
    let project = with_agents("");
    add(&project, "a task");
    let before = count_events(&project);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "show", "7"]);
    transcript.run(&["--json", "task", "show", "7"]);
    transcript.run(&["task", "assign", "7", "--agent", "worker"]);
    transcript.run(&["task", "depends", "1", "7"]);
    transcript.run(&["task", "assign", "1", "--agent", "wroker"]);
    transcript.run(&["--json", "task", "assign", "1", "--agent", "wroker"]);
    transcript.run(&["task", "assign", "1", "--agent", "somebody-else"]);
    transcript.run(&["task", "salvage", "1"]);
    transcript.run(&["task", "salvage", "1", "--number", "3"]);
    transcript.run(&["task", "salvage", "1", "--list"]);
    transcript.run(&["task", "diff", "1"]);
    transcript.check("errors_names");
    assert_eq!(count_events(&project), before, "a refusal adds nothing");
}

#[test]
fn dependencies() {
    let project = with_agents("");
    add_all(&project, &["one", "two", "three"]);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "depends", "2", "1"]);
    transcript.run(&["task", "depends", "3", "2"]);
    let before = count_events(&project);
    transcript.run(&["task", "assign", "2", "--agent", "worker"]);
    transcript.run(&["--json", "task", "assign", "3", "--agent", "worker"]);
    transcript.run(&["task", "depends", "1", "3"]);
    transcript.run(&["--json", "task", "depends", "1", "3"]);
    transcript.run(&["task", "depends", "1", "1"]);
    transcript.run(&["task", "add", "four", "--depends", "9"]);
    transcript.check("errors_dependencies");
    assert_eq!(count_events(&project), before, "a refusal adds nothing");
}

#[test]
fn payloads() {
    let project = with_agents("");
    add_and_assign(&project, "a task", "worker");
    let text = |length: usize| "ü".repeat(length);
    let before = count_events(&project);
    let mut transcript = Transcript::new(&project);
    let refused: &[&[&str]] = &[
        &["task", "add", ""],
        &["task", "add", "a\u{1b}[31mb"],
        &["task", "add", "x", "--priority", "urgent"],
        &["--json", "task", "add", "x", "--priority", "High"],
        &["task", "assign", "1", "--agent", "no spaces"],
        &["task", "reject", "1", "--reason", ""],
        &["task", "approve", "1", "--head", "xyz"],
        &["task", "salvage", "1", "--branch", "a..b"],
    ];
    for arguments in refused {
        transcript.run(arguments);
    }
    // Long values are shortened in the title only; the error names the field and both numbers.
    let long: [(&str, &[&str]); 5] = [
        ("task add (201 characters)", &["task", "add", &text(201)]),
        (
            "task reject (reason of 1001 characters, feedback of 5001)",
            &["--json", "task", "reject", "1", "--reason", &text(1001), "--feedback", &text(5001)],
        ),
        ("task approve (feedback of 1001 characters)", &["task", "approve", "1", "--feedback", &text(1001)]),
        ("task cancel (reason of 501 characters)", &["task", "cancel", "1", "--reason", &text(501)]),
        ("task add (criterion of 1001 characters)", &["task", "add", "x", "--criterion", &text(1001)]),
    ];
    for (title, arguments) in long {
        let outcome = project.run(arguments);
        transcript.write(title, &outcome);
    }
    transcript.check("errors_payloads");
    assert_eq!(count_events(&project), before, "a refusal adds nothing");

    project.json(&["task", "add", &text(200)]);
    project.json(&["task", "reject", "1", "--reason", &text(1000), "--feedback", &text(5000)]);
    project.json(&["task", "cancel", "1", "--reason", &text(500)]);
}

#[test]
fn a_command_id_is_for_one_command() {
    let project = with_agents("");
    let id = "0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee";
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "add", "one", "--command-id", id]);
    transcript.run(&["task", "add", "two", "--command-id", id]);
    transcript.run(&["--json", "task", "assign", "1", "--agent", "worker", "--command-id", id]);
    transcript.check("errors_command_reused");
    let created = kinds_from(&project, 1).iter().filter(|kind| *kind == "task:created").count();
    assert_eq!(created, 1);
}

#[test]
fn wrong_usage() {
    let project = with_agents("");
    let mut transcript = Transcript::new(&project);
    let wrong: &[&[&str]] = &[
        &[],
        &["tsak"],
        &["task", "asign", "1"],
        &["task", "assign"],
        &["task", "assign", "one", "--agent", "worker"],
        &["task", "show", "0"],
        &["task", "reject", "1"],
        &["task", "add", "x", "--prioritty", "high"],
        &["task", "add", "x", "--command-id", "7"],
        &["machine", "show", "--format", "png"],
        &["completions", "tcsh"],
    ];
    for arguments in wrong {
        assert_eq!(transcript.run(arguments).code, Some(2));
        let outcome = transcript.run(&[&["--json"], *arguments].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
        let error: serde_json::Value = serde_json::from_str(&outcome.stderr).expect("stderr is JSON");
        assert!(error["error"]["message"].is_string());
    }
    transcript.check("errors_usage");
}
