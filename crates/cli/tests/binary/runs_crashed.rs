//! A run that is killed at each point that it passes, and then continues: nothing is lost, and nothing is done twice.

use crate::run_support::{
    CODER, change_config, edit, gated, open, scripted, status, steps, subjects, until_begun, write_many,
    write_plain,
};
use regatta_testkit::binary::TestProject;
use serde_json::{Value, json};

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
    "merge_branch.ref_committed",
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
        for (good, ended) in [(true, "completed"), (false, "failed")] {
            let project = scripted("person", CODER);
            write_plain(&project);
            let input = json!({ "good": good }).to_string();
            let crashed = project.run_with("REGATTA_CRASH_AT", point, &["run", "plain", "--input", &input]);
            assert_eq!(crashed.signal, Some(SIGKILL), "{point} was not reached: {crashed:?}");
            assert_eq!(status(&project, 1), ended, "{point}");
            let resumed = project.run(&["run", "--resume", "1"]);
            assert_eq!(resumed.code, Some(i32::from(!good)), "{point}: {resumed:?}");
            let task = project.json(&["task", "show", "1"]);
            assert_eq!(task["column"], "in_progress", "{point}: {task}");
            let error = if good { json!("TASK_NOT_SUBMITTED") } else { json!("RUN_FAILED") };
            assert_eq!(task["error"]["code"], error, "{point}: {task}");
            assert_eq!(project.run(&["doctor"]).code, Some(0), "{point}");
        }
    }
}

/// A session without a limit of its own sets aside all that is left, so the second child waits for the first.
#[test]
fn a_session_that_waits_for_a_budget_goes_on_after_a_crash() {
    let project = gated();
    let worker = "[agents.worker]\n";
    change_config(&project, worker, &format!("{worker}instances = 2\n"));
    change_config(&project, "[roles]", "[budget.run]\ntokens = 1000\n\n[roles]");
    write_many(&project);
    edit(&project, "many", "max_parallel = 1", "max_parallel = 2");
    let begin = ["run", "many", "--input", r#"{"items": [{"id": "A"}, {"id": "B"}]}"#];
    // The second engine has the one that is waited for yet to run again.
    for command in [&begin[..], &["run", "--resume", "1"]] {
        let crashed = project.run_with("REGATTA_CRASH_AT", "charge.waiting", command);
        assert_eq!(crashed.signal, Some(SIGKILL), "nobody waits: {crashed:?}");
    }
    open(&project, 1);
    let run = project.json(&["run", "--resume", "1"]);
    assert_eq!(run["status"], "completed", "{run}");
    assert_eq!(events(&project, "run:held"), Vec::<Value>::new());
    assert_eq!(events(&project, "session:closed").len(), 2, "each child has one session");
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}

#[test]
fn what_a_killed_engine_left_of_a_step_is_ended_when_the_run_is_stopped() {
    for more in [&["--no-board"][..], &[]] {
        let project = killed_at_work(more);
        project.run(&["run", "stop", "1", "--no-wait"]);
        assert_eq!(project.json(&["run", "stop", "1"])["status"], "failed", "{more:?}");
        let doctor = project.run(&["doctor"]);
        assert_eq!(doctor.code, Some(0), "{more:?}: {doctor:?}");
        check_budget(&project, more);
    }
}

#[test]
fn what_a_killed_engine_left_of_a_step_is_ended_when_the_run_is_paused() {
    let more = ["--no-board"];
    let project = killed_at_work(&more);
    project.run(&["run", "pause", "1"]);
    check_budget(&project, &more);
    assert_eq!(status(&project, 1), "paused");
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
    assert_eq!(project.json(&["run", "--resume", "1"])["status"], "completed");
}

/// Makes a project whose only run was killed while its agent had begun, with all of a budget set aside for it.
fn killed_at_work(more: &[&str]) -> TestProject {
    let project = gated();
    change_config(&project, "[roles]", "[budget.project]\ntokens = 1000\n\n[roles]");
    let command = [&["run", "speckit", "--prd", "plan.md", "--level", "1"], more].concat();
    let running = project.start(&command);
    until_begun(&project, 1);
    running.kill();
    project
}

/// Fails unless what was set aside for the first run was given back to others.
fn check_budget(project: &TestProject, more: &[&str]) {
    open(project, 1);
    let command = [&["run", "speckit", "--prd", "plan.md", "--level", "1"], more].concat();
    let other = project.json(&command);
    assert_eq!(other["status"], "completed", "{more:?}: {other}");
}

fn events(project: &TestProject, kind: &str) -> Vec<Value> {
    let all = project.json(&["events"]);
    let all = all.as_array().expect("the log is a list");
    all.iter().filter(|entry| entry["type"] == kind).cloned().collect()
}
