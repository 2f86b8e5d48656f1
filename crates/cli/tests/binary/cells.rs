//! The 20 cells of the task machine through the binary: 4 columns by 5 commands.
//!
//! A task is brought into each column by real commands. A legal command takes it to another; an illegal one is
//! refused, and adds nothing to the log.

use crate::support::{add, add_and_assign, check, count_events, field, kinds_from, with_agents};
use regatta_testkit::binary::TestProject;
use std::fmt::Write;

const COMMANDS: [(&str, &[&str]); 5] = [
    ("assign", &["--agent", "worker"]),
    ("complete", &[]),
    ("approve", &[]),
    ("reject", &["--reason", "once more"]),
    ("cancel", &[]),
];

#[test]
fn every_cell() {
    let project = with_agents("");
    let mut shown = String::new();
    for column in ["backlog", "in_progress", "waiting_approval", "verified"] {
        let mut task = None;
        for (command, options) in COMMANDS {
            let id = task.take().unwrap_or_else(|| bring_to(&project, column));
            let cell = try_cell(&project, &id, command, options);
            let _ = writeln!(shown, "{column:<16} {command:<8} {cell}");
            if field(&project, &id, "column") == column {
                task = Some(id);
            }
        }
    }
    check(&project, "cells", &shown);
}

fn bring_to(project: &TestProject, column: &str) -> String {
    let task = match column {
        "backlog" => add(project, "a task"),
        "in_progress" => add_and_assign(project, "a task", "breaker"),
        _ => add_and_assign(project, "a task", "worker"),
    };
    if column == "verified" {
        project.json(&["task", "approve", &task]);
    }
    assert_eq!(field(project, &task, "column"), column);
    task
}

/// Gives the command and tells what came of it: the exit code, the refusal or the column, and the new events.
fn try_cell(project: &TestProject, task: &str, command: &str, options: &[&str]) -> String {
    let before = count_events(project);
    let outcome = project.run(&[&["--json", "task", command, task], options].concat());
    let events = kinds_from(project, before + 1);
    let printed = if outcome.code == Some(0) { &outcome.stdout } else { &outcome.stderr };
    let printed: serde_json::Value = serde_json::from_str(printed).expect("it prints JSON");
    let answer = match printed.pointer("/error/code") {
        Some(code) => code.as_str().unwrap_or_default().to_owned(),
        None => format!("to {}", printed["column"].as_str().unwrap_or_default()),
    };
    let events = if events.is_empty() { "nothing".to_owned() } else { events.join(" ") };
    format!("exit {} {answer}; {events}", outcome.code.unwrap_or(-1))
}
