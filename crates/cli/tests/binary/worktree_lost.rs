//! A worktree that somebody deleted, and a branch that cannot be merged, are named for what they are.

use crate::support::{add, add_and_assign, field, with_agents, with_shell};
use serde_json::Value;

fn assert_missing(error: &Value, task: &str) {
    assert_eq!(error["code"], "WORKTREE_MISSING", "{error}");
    assert_eq!(error["details"]["branch"], format!("task/{task}"), "{error}");
    let hint = error["hint"].as_str().expect("a hint");
    assert!(
        hint.contains("git worktree add -f") && hint.contains(&format!("regatta task cancel {task}")),
        "{error}"
    );
}

#[test]
fn a_deleted_worktree_says_so_and_is_made_again() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    let worktree = project.path().join(".regatta/worktrees/task-1");
    std::fs::remove_dir_all(&worktree).expect("it is there");
    assert_missing(&project.refusal(&["task", "approve", &task]), &task);
    assert_eq!(field(&project, &task, "column"), "waiting_approval");
    // The command of the hint.
    let path = worktree.to_str().expect("a path");
    project.repo.git(&["worktree", "add", "--quiet", "-f", path, "task/1"]);
    project.json(&["task", "approve", &task]);
    assert_eq!(project.repo.git(&["show", "main:task-1.txt"]), "session 1");
}

#[test]
fn work_in_a_deleted_worktree_is_not_completed() {
    let project = with_agents("");
    let task = add(&project, "a task");
    project.run(&["task", "assign", &task, "--agent", "breaker"]);
    std::fs::remove_dir_all(project.path().join(".regatta/worktrees/task-1")).expect("it is there");
    assert_missing(&project.refusal(&["task", "complete", &task]), &task);
    assert_eq!(field(&project, &task, "column"), "in_progress");
    project.json(&["task", "cancel", &task]);
    assert_eq!(field(&project, &task, "column"), "backlog");
}

#[test]
fn a_branch_with_a_history_of_its_own_is_not_called_ready() {
    let script = "echo 2 > new.txt; git checkout --quiet --orphan fresh; git add --all; \
        git -c user.name=a -c user.email=a@b commit --quiet --message fresh; git branch --quiet --force task/1 fresh; \
        git checkout --quiet task/1";
    let project = with_shell(script, "");
    let task = add(&project, "a task");
    project.run(&["task", "assign", &task, "--agent", "shell"]);
    assert_eq!(field(&project, &task, "column"), "in_progress");
    assert_eq!(field(&project, &task, "error")["code"], "UNRELATED_HISTORY");
    let error = project.refusal(&["task", "complete", &task]);
    assert_eq!(
        (&error["code"], &error["details"]["target"]),
        (&"UNRELATED_HISTORY".into(), &"main".into()),
        "{error}"
    );
    // The command of the hint.
    let worktree = project.path().join(".regatta/worktrees/task-1");
    regatta_testkit::repo::git_in(&worktree, &["rebase", "--quiet", "--onto", "main", "--root"]);
    project.json(&["task", "complete", &task]);
    project.json(&["task", "approve", &task]);
    assert_eq!(project.repo.git(&["show", "main:new.txt"]), "2");
}
