//! Every call prints one JSON object as its last line, with the numbers that a comparison needs.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;
use std::process::Command;

/// Runs the program in a sealed environment, and returns the last line that it prints.
fn call(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_regatta-bench"));
    command.env_clear().env("HOME", folder);
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    let output = command.args(arguments).output().expect("the program can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    let printed = String::from_utf8_lossy(&output.stdout);
    printed.lines().last().unwrap_or_default().to_owned()
}

fn check(calls: &[(&[&str], &[&str])]) {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("d");
    for (words, numbers) in calls {
        let mut arguments = words.to_vec();
        arguments.insert(1, folder.to_str().unwrap());
        let printed = call(outside.path(), &arguments);
        let object: serde_json::Value = serde_json::from_str(&printed).unwrap();
        for number in *numbers {
            assert!(
                object[number].as_f64().is_some_and(|value| value > 0.0),
                "{number} of {words:?}: {printed}"
            );
        }
    }
}

#[test]
fn a_speckit_run_is_measured() {
    let numbers = ["steps", "secs", "steps_per_s", "disk_per_step", "written_per_step", "rss_mb"];
    check(&[(&["w1", "3"], &numbers)]);
}

#[test]
fn the_machine_is_measured() {
    let numbers = ["transitions", "secs", "transitions_per_s"];
    check(&[(&["w2", "20"], &numbers), (&["w2-durable", "5"], &numbers)]);
}

#[test]
fn many_runs_at_once_are_measured() {
    check(&[(&["w4", "20"], &["runs", "secs", "runs_per_s", "p50_ms", "p99_ms"])]);
}

#[test]
fn the_log_is_measured() {
    check(&[(&["w5", "100", "append1"], &["append_per_s"]), (&["w5-replay"], &["replay_per_s"])]);
    check(&[(&["w5", "100", "c16"], &["append_per_s"])]);
    check(&[(&["w5", "2100", "batch1000"], &["append_per_s"]), (&["w5-replay"], &["replay_per_s"])]);
}

#[test]
fn what_was_started_is_resumed() {
    check(&[(&["w3start", "2"], &["steps"]), (&["w3resume", "2"], &["steps"])]);
}
