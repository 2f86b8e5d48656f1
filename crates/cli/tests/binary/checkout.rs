//! The user's own checkout when a task is merged.

use crate::support::{add_and_assign, count_events, crewed};
use regatta_testkit::binary::TestProject;
use regatta_testkit::repo::fingerprint;
use serde_json::Value;

/// Merges a task and returns what the log says of the checkout.
fn merge(project: &TestProject, task: &str) -> Value {
    let before = count_events(project);
    project.json(&["task", "approve", task]);
    let events = project.json(&["events", "--from", &(before + 1).to_string()]);
    let merged =
        events.as_array().and_then(|all| all.iter().find(|event| event["type"] == "worktree:merged"));
    merged.expect("it is in the log")["checkout"].clone()
}

#[test]
fn a_clean_one_is_fast_forwarded() {
    let project = crewed("");
    let task = add_and_assign(&project, "a task", "worker");
    assert_eq!(merge(&project, &task)["state"], "fast_forwarded");
    assert_eq!(
        std::fs::read_to_string(project.path().join("task-1.txt")).expect("it is merged"),
        "session 1\n"
    );
    assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_dirty_one_is_left_as_it_is() {
    let project = crewed("");
    let task = add_and_assign(&project, "a task", "worker");
    project.repo.write("README.md", "my own words\n");
    project.repo.write("untracked.txt", "mine\n");
    let before = fingerprint(project.path());
    let index = std::fs::read(project.path().join(".git/index")).expect("the index is there");
    let outcome = project.run(&["task", "approve", &task]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("your checkout was left alone"), "{outcome:?}");
    assert_eq!(fingerprint(project.path()), before);
    assert_eq!(std::fs::read(project.path().join(".git/index")).expect("the index is there"), index);
    assert_eq!(project.repo.git(&["show", "main:task-1.txt"]), "session 1");
}

#[test]
fn one_on_another_branch_is_not_touched() {
    let project = crewed("");
    let task = add_and_assign(&project, "a task", "worker");
    project.repo.git(&["switch", "--quiet", "--create", "mine"]);
    let head = project.repo.git(&["rev-parse", "HEAD"]);
    let before = fingerprint(project.path());
    assert_eq!(merge(&project, &task)["state"], "not_there");
    assert_eq!(fingerprint(project.path()), before);
    assert_eq!(project.repo.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(project.repo.git(&["show", "main:task-1.txt"]), "session 1");
}
