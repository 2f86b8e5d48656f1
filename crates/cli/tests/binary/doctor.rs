//! `regatta doctor`: finds what a crash or a hand left behind, and mends it without losing anything.

use crate::support::{Transcript, add, add_and_assign, crewed, is_alive, read_when_written, with_shell};
use regatta_testkit::wait::until;

#[test]
fn an_orphan_worktree_and_an_orphan_branch_are_salvaged() {
    let project = crewed("");
    let cancelled = add_and_assign(&project, "given up", "worker");
    project.json(&["task", "cancel", &cancelled]);
    project.repo.git(&["branch", "task/1", "refs/regatta/salvage/1/1"]);
    add(&project, "never begun");
    project.repo.git(&["worktree", "add", "--quiet", "-b", "task/2", ".regatta/worktrees/task-2", "main"]);
    project.repo.write(".regatta/worktrees/task-2/found.txt", "precious\n");
    project.repo.git(&["branch", "task/77"]);

    let mut transcript = Transcript::new(&project);
    transcript.run(&["doctor"]);
    transcript.run(&["--json", "doctor"]);
    transcript.run(&["doctor", "--fix"]);
    transcript.run(&["doctor"]);
    transcript.run(&["task", "salvage", "2", "--list"]);
    transcript.check("doctor");
    assert_eq!(project.repo.git(&["show", "refs/regatta/salvage/2/1:found.txt"]), "precious");
    let branches = project.repo.git(&["branch", "--list", "task/*"]);
    assert_eq!(branches.trim(), "task/77", "a branch that no task had is the user's own");
}

#[test]
fn a_process_that_nobody_watches_is_ended() {
    let script = "echo $$ > \"$REGATTA_PROJECT/.regatta/pid\"; while :; do sleep 0.1; done";
    let project = with_shell(script, "[limits]\ngrace = \"200ms\"\n");
    add(&project, "a task");
    let running = project.start(&["task", "assign", "1", "--agent", "shell"]);
    let pid = read_when_written(&project.path().join(".regatta/pid"));
    let pid = pid.trim();
    until("the session is in the log", || crate::support::field(&project, "1", "phase") == "running");
    running.kill();
    assert!(is_alive(pid), "a killed engine leaves it behind");
    let findings = project.run(&["--json", "doctor"]);
    assert_eq!(findings.code, Some(1));
    assert!(findings.stdout.contains("leftover_process") && findings.stdout.contains("unfinished_effects"));
    let mended = project.run(&["doctor", "--fix"]);
    assert!(mended.stdout.contains("mended"), "{mended:?}");
    assert!(!is_alive(pid));
    let task = project.json(&["task", "cancel", "1"]);
    assert_eq!(task["column"], "backlog");
    assert_eq!(project.json(&["doctor"]), serde_json::json!([]));
}

#[test]
fn a_worktree_that_is_gone_is_told() {
    let project = crewed("");
    let task = add_and_assign(&project, "a task", "worker");
    std::fs::remove_dir_all(project.path().join(".regatta/worktrees/task-1")).expect("it can be removed");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["doctor"]);
    transcript.run(&["task", "approve", &task]);
    transcript.run(&["task", "diff", &task, "--stat"]);
    transcript.run(&["task", "cancel", &task]);
    transcript.run(&["doctor"]);
    transcript.check("doctor_missing_worktree");
    assert_eq!(project.repo.git(&["show", "refs/regatta/salvage/1/1:task-1.txt"]), "session 1");
}
