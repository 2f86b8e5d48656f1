//! What an agent makes inside a submodule is not lost with its worktree.

use crate::support::{add, field, with_shell};
use regatta_testkit::binary::TestProject;
use regatta_testkit::repo::{TestRepo, git_in, write_below};
use serde_json::Value;
use std::path::PathBuf;

const ALLOW: [&str; 2] = ["-c", "protocol.file.allow=always"];
const FILL: &str =
    "[worktree]\nsetup = 'git -c protocol.file.allow=always submodule --quiet update --init'\n";
/// What an agent does that works in the submodule `lib` and leaves a file there.
const SCRIPT: &str = "echo 2 > main.txt; cd lib; echo 2 > lib.txt; git add lib.txt; \
    git -c user.name=a -c user.email=a@b commit --quiet --message two; echo 3 > left.txt";

/// A project whose agent has worked in its submodule, which is filled in each worktree.
struct Worked {
    project: TestProject,
    task: String,
    lib: PathBuf,
    _upstream: TestRepo,
}

impl Worked {
    fn new() -> Self {
        let upstream = TestRepo::new();
        upstream.write("lib.txt", "1\n");
        upstream.commit("one");
        let project = with_shell(SCRIPT, FILL);
        let url = format!("file://{}", upstream.path().display());
        project.repo.git(&[&ALLOW[..], &["submodule", "--quiet", "add", &url, "lib"]].concat());
        project.repo.commit("a submodule");
        let task = add(&project, "works in a submodule");
        project.run(&["task", "assign", &task, "--agent", "shell"]);
        let lib = project.path().join(".regatta/worktrees/task-1/lib");
        Worked { project, task, lib, _upstream: upstream }
    }

    fn assert_changed(&self, error: &Value, commits: usize, edits: &[&str]) {
        assert_eq!(error["code"], "SUBMODULE_CHANGED", "{error}");
        assert!(error["hint"].as_str().expect("a hint").contains("regatta task cancel 1"), "{error}");
        assert_eq!(field(&self.project, &self.task, "column"), "in_progress");
        let found = self.project.refusal(&["task", "complete", &self.task]);
        let module = &found["details"]["submodules"][0];
        assert_eq!(module["path"], "lib", "{found}");
        assert_eq!(module["commits"].as_array().expect("a list").len(), commits, "{found}");
        assert_eq!(module["edits"], serde_json::json!(edits), "{found}");
    }
}

#[test]
fn a_task_with_work_in_a_submodule_is_not_completed_until_it_is_kept() {
    let worked = Worked::new();
    let (project, task) = (&worked.project, &worked.task);
    worked.assert_changed(&field(project, task, "error"), 1, &["left.txt"]);
    std::fs::remove_file(worked.lib.join("left.txt")).expect("it is there");
    worked.assert_changed(&field(project, task, "error"), 1, &[]);
    let users = project.path().join("lib");
    let from = worked.lib.to_str().expect("a path");
    git_in(&users, &[&ALLOW[..], &["fetch", "--quiet", from, "HEAD:task-1"]].concat());
    project.json(&["task", "complete", task]);
    assert!(project.run(&["task", "diff", task]).stdout.contains("Subproject commit"), "the diff shows it");
    project.json(&["task", "approve", task]);
    assert_eq!(std::fs::read_to_string(users.join("lib.txt")).expect("it moved along"), "2\n");
    assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
    assert!(!worked.lib.exists());
}

#[test]
fn a_cancel_keeps_commits_and_files_of_a_submodule() {
    let worked = Worked::new();
    let (project, task) = (&worked.project, &worked.task);
    let made = git_in(&worked.lib, &["rev-parse", "HEAD"]);
    project.json(&["task", "cancel", task]);
    assert!(!worked.lib.exists());
    project.repo.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(project.repo.git(&["show", &format!("{made}:lib.txt")]), "2");
    let listed = project.run(&["task", "salvage", task, "--list"]);
    assert!(listed.stdout.contains("submodule lib"), "{listed:?}");
    let salvages = project.json(&["task", "salvage", task, "--list"]);
    let kept = salvages[0]["submodules"][0]["commit"].as_str().expect("a commit").to_owned();
    assert_eq!(salvages[0]["submodules"][0]["path"], "lib", "{salvages}");
    assert_eq!(project.repo.git(&["show", &format!("{kept}:left.txt")]), "3");
    let brought = project.run(&["task", "salvage", task]);
    assert!(
        brought.stdout.contains(&format!("git -C lib fetch {} {kept}", project.path().display())),
        "{brought:?}"
    );
    let users = project.path().join("lib");
    git_in(
        &users,
        &[&ALLOW[..], &["fetch", "--quiet", project.path().to_str().expect("a path"), &kept]].concat(),
    );
    assert_eq!(git_in(&users, &["show", "FETCH_HEAD:left.txt"]), "3");
}

#[test]
fn a_cancel_that_was_killed_keeps_them_too() {
    for point in ["remove_worktree.before", "remove_worktree.salvaged", "remove_worktree.after"] {
        let worked = Worked::new();
        let (project, task) = (&worked.project, &worked.task);
        let made = git_in(&worked.lib, &["rev-parse", "HEAD"]);
        let command = ["task", "cancel", task, "--command-id", "0192f0c4-7a50-7c3e-8f10-000000000001"];
        let killed = project.run_with("REGATTA_CRASH_AT", point, &command);
        assert_eq!(killed.code, None, "{point} was not reached: {killed:?}");
        project.json(&command);
        assert_eq!(field(project, task, "column"), "backlog", "{point}");
        project.repo.git(&["gc", "--quiet", "--prune=now"]);
        assert_eq!(project.repo.git(&["show", &format!("{made}:lib.txt")]), "2", "{point}");
        let salvages = project.json(&["task", "salvage", task, "--list"]);
        assert_eq!(salvages.as_array().expect("a list").len(), 1, "{point}: {salvages}");
    }
}

#[test]
fn work_that_appears_in_a_submodule_after_its_completion_is_kept() {
    let worked = Worked::new();
    let (project, task) = (&worked.project, &worked.task);
    git_in(&worked.lib, &["reset", "--quiet", "--hard", "HEAD^"]);
    std::fs::remove_file(worked.lib.join("left.txt")).expect("it is there");
    git_in(&worked.lib, &["reflog", "expire", "--expire=now", "--all"]);
    project.json(&["task", "complete", task]);
    write_below(&worked.lib, "late.txt", "late\n");
    assert_eq!(project.refusal(&["task", "approve", task])["code"], "WORKTREE_DIRTY");
    project.json(&["task", "cancel", task]);
    let salvages = project.json(&["task", "salvage", task, "--list"]);
    let kept = salvages[0]["submodules"][0]["commit"].as_str().expect("a commit").to_owned();
    assert_eq!(project.repo.git(&["show", &format!("{kept}:late.txt")]), "late");
}
