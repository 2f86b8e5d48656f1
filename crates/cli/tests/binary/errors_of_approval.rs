//! What the user sees when a diff is not merged, and what stays as it was.

use crate::support::{Transcript, add_and_assign, count_events, field, with_agents};
use regatta_testkit::repo::{commit_in, fingerprint};

#[test]
fn a_conflict_names_the_files_and_touches_nothing() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    project.repo.write("task-1.txt", "another text\n");
    let head = project.repo.commit("meanwhile");
    let before = fingerprint(project.path());
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "approve", &task]);
    transcript.run(&["--json", "task", "approve", &task]);
    transcript.run(&["task", "show", &task]);
    transcript.check("errors_merge_conflict");
    assert_eq!(field(&project, &task, "column"), "waiting_approval");
    assert_eq!(project.repo.git(&["rev-parse", "main"]), head);
    assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
    assert_eq!(fingerprint(project.path()), before);
}

#[test]
fn changes_after_the_completion() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    let worktree = project.path().join(".regatta/worktrees/task-1");
    let events = count_events(&project);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "approve", &task, "--head", "0123456789"]);
    for name in ["a.txt", "b.txt"] {
        std::fs::write(worktree.join(name), "late\n").expect("the worktree is there");
    }
    transcript.run(&["task", "approve", &task]);
    transcript.run(&["--json", "task", "approve", &task]);
    transcript.run(&["task", "diff", &task, "--stat"]);
    commit_in(&worktree, "the branch moves on");
    transcript.run(&["task", "approve", &task]);
    transcript.run(&["--json", "task", "approve", &task]);
    transcript.check("errors_stale");
    assert_eq!(count_events(&project), events, "a refusal adds nothing");

    let answer = project.json(&["task", "reject", &task, "--reason", "the branch moved on"]);
    assert_eq!(answer["diff"]["filesChanged"], 3, "the late files are up for review now");
    let head = answer["diff"]["head"].as_str().expect("a diff has a head");
    project.json(&["task", "approve", &task, "--head", &head[..10]]);
}

#[test]
fn approvers_who_may_not() {
    let mut project = with_agents("[project]\nmembers = [\"first\", \"second\"]");
    let task = add_and_assign(&project, "a task", "worker");
    let events = count_events(&project);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "approve", &task]);
    transcript.run(&["--json", "task", "approve", &task]);
    let outcome = project.run_with("REGATTA_AGENT", "worker", &["task", "approve", &task]);
    transcript.write("task approve 1 (by an agent)", &outcome);
    transcript.check("errors_approver");
    assert_eq!(count_events(&project), events, "a refusal adds nothing");
    project.set("REGATTA_USER", "");
    assert_eq!(project.refusal(&["task", "approve", &task])["details"]["approver"], "tester");
    project.set("REGATTA_USER", "second");
    assert_eq!(project.json(&["task", "approve", &task])["approver"], "second");
}
