//! A run that is killed at each point that it passes, and then goes on: nothing is lost, and nothing is done twice.

use crate::run_support::{CODER, scripted, steps, subjects, write_plain};
use serde_json::json;

/// The points that a run with one task passes, apart from the append of its beginning.
const POINTS: &[&str] = &[
    "append.after",
    "create_worktree.before",
    "create_worktree.made",
    "create_worktree.after",
    "perform_node.played",
    "record_diff.before",
    "record_diff.after",
    "merge_branch.before",
    "merge_branch.commit_made",
    "merge_branch.ref_swapped",
    "merge_branch.after",
    "remove_worktree.before",
    "remove_worktree.after",
];

const SIGKILL: i32 = 9;

#[test]
fn a_run_survives_a_crash_anywhere() {
    for point in POINTS {
        let project = scripted("auto", CODER);
        let command = ["run", "speckit", "--prd", "plan.md", "--level", "1"];
        let crashed = project.run_with("REGATTA_CRASH_AT", point, &command);
        assert_eq!(crashed.signal, Some(SIGKILL), "{point} was not reached: {crashed:?}");
        let resumed = project.json(&["run", "--resume", "1"]);
        assert_eq!(resumed["status"], json!("completed"), "{point}: {resumed}");
        assert_eq!(steps(&project, 1), ["coder single-done done"], "{point}");
        assert_eq!(subjects(&project)[..2], ["Merge task #1: The plan", "the plan"], "{point}");
        assert_eq!(project.run(&["doctor"]).code, Some(0), "{point}");
    }
}

#[test]
fn a_run_that_was_never_stored_was_never_begun() {
    let project = scripted("auto", CODER);
    let command = ["run", "speckit", "--prd", "plan.md", "--level", "1"];
    assert_eq!(project.run_with("REGATTA_CRASH_AT", "append.before", &command).signal, Some(SIGKILL));
    assert_eq!(project.json(&["run", "list"]), json!([]));
}

#[test]
fn a_task_is_let_go_of_though_its_run_was_killed_at_its_end() {
    for point in ["release_task.before", "release_task.after"] {
        for (good, status, column) in
            [(true, "completed", "waiting_approval"), (false, "failed", "in_progress")]
        {
            let project = scripted("person", CODER);
            write_plain(&project);
            let input = json!({ "good": good }).to_string();
            let crashed = project.run_with("REGATTA_CRASH_AT", point, &["run", "plain", "--input", &input]);
            assert_eq!(crashed.signal, Some(SIGKILL), "{point} was not reached: {crashed:?}");
            assert_eq!(crate::run_support::status(&project, 1), status, "{point}");
            let resumed = project.run(&["run", "--resume", "1"]);
            assert_eq!(resumed.code, Some(i32::from(!good)), "{point}: {resumed:?}");
            let task = project.json(&["task", "show", "1"]);
            assert_eq!(task["column"], column, "{point}: {task}");
            let error = if good { json!(null) } else { json!("RUN_FAILED") };
            assert_eq!(task["error"]["code"], error, "{point}: {task}");
            assert_eq!(project.run(&["doctor"]).code, Some(0), "{point}");
        }
    }
}
