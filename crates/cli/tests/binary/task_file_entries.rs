//! The entry that a session gets in the progress log when its agent wrote none.

use crate::support::{add, check, field, kinds_from, with_shell};
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;

/// Returns the progress log of task 1.
fn log(project: &TestProject) -> String {
    let path = project.path().join(".regatta/task-states/task-1-state.md");
    let text = std::fs::read_to_string(path).expect("the task has a file");
    let start = text.find("## 3. Progress Log").expect("there is a progress log");
    let end = text.find("## 4. Chain Output").expect("there is a chain output");
    text[start..end].to_owned()
}

#[test]
fn files_checks_and_the_exit_are_in_it() {
    let script =
        "echo \"$REGATTA_SESSION_NUMBER\" > work.txt; test \"$REGATTA_SESSION_NUMBER\" != 2 || exit 7";
    let checks = "[checks]\nstyle = \"echo 'line 3 is too long'; exit 4\"\nwritten = [\"test\", \"-f\", \"work.txt\"]\n";
    let project = with_shell(script, checks);
    add(&project, "a task");
    project.json(&["task", "assign", "1", "--agent", "shell"]);
    assert!(
        log(&project).contains("- Checks: style failed with exit 4, written passed\n"),
        "{}",
        log(&project)
    );
    let refused = project.run(&["task", "reject", "1", "--reason", "again"]);
    assert_eq!(refused.code, Some(1), "the second session ends badly: {refused:?}");
    check(&project, "task_file_entries", &log(&project));
    let logged = kinds_from(&project, 1).iter().filter(|kind| *kind == "progress:logged").count();
    assert_eq!(
        (logged, field(&project, "1", "progressEntries")),
        (2, 2.into()),
        "an amended entry is no new one"
    );
}

#[test]
fn a_session_that_was_stopped_has_one_too() {
    let project =
        with_shell("echo half > half.txt; touch \"$REGATTA_PROJECT/../began\"; exec sleep 1000", "");
    add(&project, "a task");
    let up = project.start(&["up"]);
    project.run(&["task", "assign", "1", "--agent", "shell", "--no-wait"]);
    until("the session has begun", || project.repo.outside().join("began").exists());
    project.json(&["task", "cancel", "1", "--reason", "not now"]);
    let log = log(&project);
    for words in [
        "- Session 1 was stopped: ",
        "- Not committed: `half.txt`\n",
        "- Exit: stopped: ",
        "- Checks: not run\n",
    ] {
        assert!(log.contains(words), "{words:?} is in the log: {log}");
    }
    up.kill();
}
