//! What a policy leaves to a person, and what a person approves knowingly.

use crate::run_support::{CODER, scripted};
use crate::support::{field, with_agents};
use regatta_testkit::terminal::AtTerminal;

const AUTO: &str = "[project]\napproval = \"auto\"\n";
const SETUP: &str = r#"
[[session]]
step = [{ write = { path = ".gitattributes", text = "* -diff\n" } }]
"#;

#[test]
fn a_policy_leaves_open_criteria_to_a_person_who_needs_anyway() {
    let project = with_agents(AUTO);
    project.json(&["task", "add", "a task", "--criterion", "one", "--criterion", "two"]);
    let error = project.refusal(&["task", "assign", "1", "--agent", "worker"]);
    assert_eq!(error["code"], "TASK_NOT_WHOLE");
    assert_eq!(field(&project, "1", "column"), "waiting_approval");
    assert_eq!(field(&project, "1", "lacks")["openCriteria"], serde_json::json!(["one", "two"]));
    let list = project.run(&["task", "list"]).stdout;
    assert!(list.contains("TASK_NOT_WHOLE; 2 criteria open"), "{list}");
    assert_eq!(project.refusal(&["task", "approve", "1"])["code"], "TASK_NOT_WHOLE");
    assert_eq!(project.json(&["task", "approve", "1", "--anyway"])["column"], "verified");
    let log = project.run(&["--json", "events"]).stdout;
    assert!(log.contains("\"overrode\""), "{log}");
}

#[test]
fn what_the_engine_obeys_is_a_persons_and_takes_more_than_a_key() {
    let project = with_agents(AUTO);
    project.repo.write(".regatta/scripts/worker.toml", SETUP);
    project.json(&["task", "add", "a task"]);
    assert_eq!(project.refusal(&["task", "assign", "1", "--agent", "worker"])["code"], "TASK_NOT_WHOLE");
    let diff = project.run(&["task", "diff", "1"]).stdout;
    assert!(diff.starts_with("obeyed by Regatta  .gitattributes"), "{diff}");
    let mut terminal = AtTerminal::start(&project, &["task", "approve", "1"]);
    terminal.until_shown("type `approve`");
    terminal.say("y");
    assert_eq!(terminal.wait(), Some(1), "a key is not enough");
    let mut terminal = AtTerminal::start(&project, &["task", "approve", "1"]);
    terminal.until_shown("type `approve`");
    terminal.say("approve");
    assert_eq!(terminal.wait(), Some(0));
    assert_eq!(field(&project, "1", "column"), "verified");
}

#[test]
fn a_key_typed_before_the_question_is_no_answer() {
    let project = scripted("person", CODER);
    let mut terminal = AtTerminal::start(&project, &["run", "speckit", "--prd", "plan.md", "--level", "5"]);
    terminal.say("y");
    terminal.until_shown("approve?");
    terminal.say("l");
    terminal.wait();
    assert_eq!(field(&project, "1", "column"), "waiting_approval");
}

#[test]
fn a_target_that_was_reset_makes_the_approval_stale() {
    let project = with_agents("");
    project.repo.write("more.txt", "more\n");
    project.repo.commit("more");
    project.json(&["task", "add", "a task"]);
    project.json(&["task", "assign", "1", "--agent", "worker"]);
    project.repo.git(&["reset", "--hard", "HEAD~1"]);
    assert_eq!(project.refusal(&["task", "approve", "1"])["code"], "APPROVAL_STALE");
    assert_eq!(project.refusal(&["task", "approve", "1", "--anyway"])["code"], "APPROVAL_STALE");
}

/// The approval is in the log when the target is reset, and the merge finds that.
#[test]
fn a_target_that_was_reset_after_the_approval_is_not_merged_into() {
    let project = with_agents("");
    project.repo.write("more.txt", "more\n");
    project.repo.commit("more");
    project.json(&["task", "add", "a task"]);
    project.json(&["task", "assign", "1", "--agent", "worker"]);
    let killed = project.run_with("REGATTA_CRASH_AT", "merge_branch.before", &["task", "approve", "1"]);
    assert_eq!(killed.signal, Some(9), "{killed:?}");
    project.repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    let head = project.repo.git(&["rev-parse", "main"]);
    assert_eq!(project.refusal(&["task", "approve", "1"])["code"], "APPROVAL_STALE");
    let task = project.json(&["task", "show", "1"]);
    assert_eq!(
        (&task["column"], &task["error"]["code"]),
        (&"waiting_approval".into(), &"APPROVAL_STALE".into())
    );
    assert_eq!(project.repo.git(&["rev-parse", "main"]), head);
    let log = project.run(&["--json", "events", "--type", "worktree:merge:failed"]).stdout;
    assert!(log.contains("APPROVAL_STALE"), "{log}");
    project.json(&["task", "submit", "1"]);
    assert_eq!(project.json(&["task", "approve", "1"])["column"], "verified");
}

#[test]
fn what_waits_for_a_person_has_a_deadline_and_is_then_overdue() {
    let project = with_agents("[limits]\nreview = \"1ms\"\n");
    project.json(&["task", "add", "a task"]);
    let task = project.json(&["task", "assign", "1", "--agent", "worker"]);
    assert_eq!(task["waitsFor"], "you");
    assert!(task["deadline"].is_string() && task["deadline"] == task["until"], "{task}");
    regatta_testkit::wait::until("it is overdue", || field(&project, "1", "overdue") == true);
}
