//! The user's own checkouts when a task is merged.

use crate::support::{add_and_assign, count_events, field, with_agents};
use regatta_testkit::binary::TestProject;
use regatta_testkit::repo::{TestRepo, fingerprint, git_in, sealed_git, write_below};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Merges a task and returns what the log says of it.
fn merge(project: &TestProject, task: &str) -> Value {
    let before = count_events(project);
    project.json(&["task", "approve", task]);
    let events = project.json(&["events", "--from", &(before + 1).to_string()]);
    let merged =
        events.as_array().and_then(|all| all.iter().find(|event| event["type"] == "worktree:merged"));
    merged.expect("it is in the log").clone()
}

/// Approves a task that cannot land: nothing changes, the task waits, and the checkout is named with why.
fn assert_in_the_way(project: &TestProject, task: &str, reason: &str, files: &[&str]) {
    let head = project.repo.git(&["rev-parse", "main"]);
    let before = fingerprint(project.path());
    let error = project.refusal(&["task", "approve", task]);
    assert_eq!(error["code"], "CHECKOUT_IN_THE_WAY", "{error}");
    let found = &error["details"]["checkouts"][0];
    assert_eq!((&found["reason"], &found["files"]), (&reason.into(), &json!(files)), "{error}");
    assert!(
        error["hint"].as_str().expect("a hint").contains(&format!("regatta task approve {task}")),
        "{error}"
    );
    assert_eq!(field(project, task, "column"), "waiting_approval");
    assert_eq!(field(project, task, "error")["code"], "CHECKOUT_IN_THE_WAY");
    assert_eq!(project.repo.git(&["rev-parse", "main"]), head);
    assert_eq!(fingerprint(project.path()), before);
}

fn link(project: &TestProject, name: &str) -> PathBuf {
    let path = project.repo.outside().join(name);
    project.repo.git(&["worktree", "add", "--quiet", "--force", path.to_str().expect("a path"), "main"]);
    path
}

#[test]
fn a_clean_one_moves() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    let merged = merge(&project, &task);
    let expected = json!({"state": "fast_forwarded", "path": project.path()});
    assert_eq!((&merged["checkout"], &merged["checkouts"]), (&expected, &json!([expected])));
    assert_eq!(
        std::fs::read_to_string(project.path().join("task-1.txt")).expect("it is merged"),
        "session 1\n"
    );
    assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn edits_to_other_files_stay_and_the_next_commit_keeps_the_merge() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    project.repo.write("README.md", "my own words\n");
    project.repo.write("staged.txt", "mine\n");
    project.repo.git(&["add", "staged.txt"]);
    project.repo.write("untracked.txt", "mine\n");
    merge(&project, &task);
    assert_eq!(project.repo.git(&["status", "--porcelain"]), " M README.md\nA  staged.txt\n?? untracked.txt");
    project.repo.git(&["commit", "--quiet", "--all", "--message", "mine"]);
    assert_eq!(project.repo.git(&["show", "main:task-1.txt"]), "session 1", "the merge is not taken back");
    assert_eq!(project.repo.git(&["show", "main:README.md"]), "my own words");
}

#[test]
fn an_edit_to_the_same_file_is_in_the_way() {
    let project = with_agents("");
    project.repo.write("task-1.txt", "before\n");
    project.repo.commit("a file");
    let task = add_and_assign(&project, "a task", "worker");
    project.repo.write("task-1.txt", "mine\n");
    assert_in_the_way(&project, &task, "edited", &["task-1.txt"]);
    project.repo.git(&["add", "task-1.txt"]);
    assert_in_the_way(&project, &task, "edited", &["task-1.txt"]);
    project.repo.git(&["stash", "--quiet"]);
    merge(&project, &task);
    assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn an_untracked_or_ignored_file_is_in_the_way() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    project.repo.write("task-1.txt", "mine\n");
    assert_in_the_way(&project, &task, "untracked", &["task-1.txt"]);
    write_below(&project.path().join(".git"), "info/exclude", "task-1.txt\n");
    assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
    assert_in_the_way(&project, &task, "untracked", &["task-1.txt"]);
    std::fs::remove_file(project.path().join("task-1.txt")).expect("it is there");
    merge(&project, &task);
}

#[test]
fn a_rebase_that_began_on_the_branch_is_in_the_way() {
    let project = with_agents("");
    project.repo.git(&["switch", "--quiet", "--create", "side"]);
    project.repo.write("README.md", "side\n");
    project.repo.commit("side");
    project.repo.git(&["switch", "--quiet", "main"]);
    project.repo.write("README.md", "mine\n");
    project.repo.commit("mine");
    let task = add_and_assign(&project, "a task", "worker");
    let rebase = sealed_git(project.path()).args(["rebase", "side"]).output().expect("git runs");
    assert!(!rebase.status.success() && project.repo.git(&["branch", "--show-current"]).is_empty());
    assert_in_the_way(&project, &task, "operation", &[]);
    project.repo.git(&["rebase", "--abort"]);
    merge(&project, &task);
}

#[test]
fn a_merge_in_progress_is_in_the_way() {
    let project = with_agents("");
    project.repo.git(&["switch", "--quiet", "--create", "side"]);
    project.repo.write("side.txt", "side\n");
    project.repo.commit("side");
    project.repo.git(&["switch", "--quiet", "main"]);
    let task = add_and_assign(&project, "a task", "worker");
    project.repo.git(&["merge", "--quiet", "--no-ff", "--no-commit", "side"]);
    assert_in_the_way(&project, &task, "operation", &[]);
    project.repo.git(&["commit", "--quiet", "--no-edit"]);
    merge(&project, &task);
    assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
    assert_eq!(project.repo.git(&["show", "main:side.txt"]), "side");
}

#[test]
fn a_bisect_is_in_the_way_wherever_it_stands() {
    let project = with_agents("");
    for text in ["one\n", "two\n", "three\n"] {
        project.repo.write("README.md", text);
        project.repo.commit(text.trim_end());
    }
    let task = add_and_assign(&project, "a task", "worker");
    project.repo.git(&["bisect", "start"]);
    assert_eq!(project.repo.git(&["branch", "--show-current"]), "main");
    assert_in_the_way(&project, &task, "operation", &[]);
    project.repo.git(&["bisect", "bad", "HEAD"]);
    project.repo.git(&["bisect", "good", "HEAD~3"]);
    assert_eq!(project.repo.git(&["branch", "--show-current"]), "", "it stands at a commit in between");
    assert_in_the_way(&project, &task, "operation", &[]);
    project.repo.git(&["bisect", "reset"]);
    merge(&project, &task);
    assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_filter_that_is_not_allowed_is_in_the_way() {
    let project = with_agents("");
    project.repo.git(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
    project.repo.write(".gitattributes", "task-* filter=shout\n");
    project.repo.commit("attributes");
    let task = add_and_assign(&project, "a task", "worker");
    assert_in_the_way(&project, &task, "filter", &["task-1.txt"]);
}

#[test]
fn several_move_together_or_not_at_all() {
    let project = with_agents("");
    project.repo.write("in/file", "x\n");
    project.repo.commit("a folder");
    let task = add_and_assign(&project, "a task", "worker");
    let (one, sparse) = (link(&project, "one"), link(&project, "sparse"));
    git_in(&sparse, &["sparse-checkout", "set", "in"]);
    write_below(&one, "task-1.txt", "mine\n");
    let error = project.refusal(&["task", "approve", &task]);
    assert_eq!(error["details"]["checkouts"][0]["path"], one.to_str().expect("a path"), "{error}");
    assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
    std::fs::remove_file(one.join("task-1.txt")).expect("it is there");
    write_below(&sparse, "in/file", "mine\n");
    let merged = merge(&project, &task);
    let paths: Vec<&Value> =
        merged["checkouts"].as_array().expect("a list").iter().map(|note| &note["path"]).collect();
    assert_eq!(paths, [&json!(project.path()), &json!(one), &json!(sparse)]);
    assert_eq!(git_in(&one, &["status", "--porcelain"]), "");
    assert_eq!(git_in(&sparse, &["status", "--porcelain"]), " M in/file");
    assert!(sparse.join("task-1.txt").exists(), "the top of a sparse checkout is in it");
}

#[test]
fn a_submodule_that_cannot_move_along_is_in_the_way() {
    let upstream = TestRepo::new();
    let project = with_agents("");
    let url = upstream.path().to_str().expect("a path").to_owned();
    let allow = ["-c", "protocol.file.allow=always"];
    project.repo.git(&[&allow[..], &["submodule", "--quiet", "add", &url, "lib"]].concat());
    project.repo.commit("a submodule");
    let task = add_and_assign(&project, "a task", "worker");
    // The commit that the task wants is one that the user's submodule does not have yet.
    upstream.write("new.txt", "new\n");
    let new = upstream.commit("new");
    let worktree = project.path().join(".regatta/worktrees/task-1");
    git_in(&worktree, &["update-index", "--cacheinfo", &format!("160000,{new},lib")]);
    git_in(&worktree, &["commit", "--quiet", "--message", "moves the submodule"]);
    git_in(&worktree, &["reset", "--quiet", "--hard"]);
    project.repo.git(&["merge", "--quiet", "--no-ff", "--no-commit", "task/1"]);
    project.repo.git(&["merge", "--abort"]);
    let reviewed = project.json(&["task", "reject", &task, "--reason", "again"]);
    assert_eq!(reviewed["column"], "waiting_approval");
    assert_in_the_way(&project, &task, "submodule", &["lib"]);
    git_in(&project.path().join("lib"), &[&allow[..], &["fetch", "--quiet"]].concat());
    merge(&project, &task);
    assert_eq!(git_in(&project.path().join("lib"), &["rev-parse", "HEAD"]), new);
    assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn one_on_another_branch_is_not_touched() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    project.repo.git(&["switch", "--quiet", "--create", "mine"]);
    let head = project.repo.git(&["rev-parse", "HEAD"]);
    let before = fingerprint(project.path());
    assert_eq!(merge(&project, &task)["checkout"]["state"], "not_there");
    assert_eq!(fingerprint(project.path()), before);
    assert_eq!(project.repo.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(project.repo.git(&["show", "main:task-1.txt"]), "session 1");
}
