//! One criterion a session, then the next session.

use crate::support::{field, kinds_from, with_shell};
use regatta_testkit::binary::TestProject;
use serde_json::Value;

/// Ticks the first open criterion, if there is one, and keeps the prompt.
const ONE: &str = r#"
cat > "$REGATTA_PROJECT/../prompt-$REGATTA_SESSION_NUMBER.txt"
sed -i '0,/^- \[ \]/s//- [x]/' "$REGATTA_TASK_FILE"
echo "session $REGATTA_SESSION_NUMBER" >> work.txt
"#;

fn with_criteria(script: &str, settings: &str) -> TestProject {
    let project = with_shell(script, settings);
    let add = [
        "task",
        "add",
        "a task",
        "--criterion",
        "it works",
        "--criterion",
        "it is nice",
        "--criterion",
        "it is fast",
    ];
    project.json(&add);
    project
}

fn count(project: &TestProject, kind: &str) -> usize {
    kinds_from(project, 1).iter().filter(|found| *found == kind).count()
}

fn completed(project: &TestProject) -> Value {
    let events = project.json(&["events"]);
    let mut events = events.as_array().expect("events are a list").iter();
    events.rfind(|event| event["type"] == "task:completed").expect("it is completed").clone()
}

fn prompt(project: &TestProject, session: u32) -> String {
    let path = project.repo.outside().join(format!("prompt-{session}.txt"));
    std::fs::read_to_string(path).expect("the agent kept its prompt")
}

#[test]
fn each_criterion_has_a_session_and_then_the_task_is_reviewed() {
    let project = with_criteria(ONE, "");
    let said = project.run(&["task", "assign", "1", "--agent", "shell"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stderr.contains("shell continues with session 2: 2 criteria open"), "{said:?}");
    let task = project.json(&["task", "show", "1"]);
    assert_eq!((&task["column"], &task["sessions"]), (&"waiting_approval".into(), &3.into()), "{task}");
    assert_eq!((count(&project, "agent:continued"), count(&project, "task:completed")), (2, 1));
    assert_eq!(completed(&project)["open"], Value::Null);
    let work = project.path().join(".regatta/worktrees/task-1/work.txt");
    assert_eq!(std::fs::read_to_string(work).expect("a file"), "session 1\nsession 2\nsession 3\n");
    let second = prompt(&project, 2);
    for words in [
        "- [x] it works\n- [ ] it is nice\n",
        "Pick ONE unchecked criterion to work on.",
        "DO NOT create abstractions for single-use code.",
        "The session before this one ended well.",
        "what comes next: Work on the next criterion: it is nice\n",
    ] {
        assert!(second.contains(words), "{words:?} is in the prompt: {second}");
    }
}

#[test]
fn after_so_many_sessions_the_task_is_completed_with_what_is_open() {
    let project = with_criteria(ONE, "[limits]\nsessions = 2\n");
    let said = project.run(&["task", "assign", "1", "--agent", "shell"]);
    let words = "; not ticked after 2 sessions in a row: it is fast";
    assert!(said.stderr.contains(words), "{said:?}");
    assert_eq!(field(&project, "1", "sessions"), 2);
    let event = completed(&project);
    assert_eq!((&event["open"][0], &event["sessionLimit"]), (&"it is fast".into(), &2.into()), "{event}");
    assert!(prompt(&project, 2).contains("no session follows this one"));
    project.json(&["task", "reject", "1", "--reason", "continue"]);
    assert_eq!(
        (field(&project, "1", "sessions"), completed(&project)["open"].clone()),
        (3.into(), Value::Null)
    );
}

#[test]
fn a_session_that_ticks_nothing_completes() {
    let project = with_criteria("echo work > work.txt", "");
    project.json(&["task", "assign", "1", "--agent", "shell"]);
    assert_eq!((field(&project, "1", "sessions"), count(&project, "agent:continued")), (1.into(), 0));
    assert_eq!(completed(&project)["open"].as_array().map(Vec::len), Some(3));
    assert_eq!(completed(&project)["sessionLimit"], Value::Null);
}

#[test]
fn an_engine_that_was_killed_between_two_sessions_is_followed_by_one_that_starts_the_next() {
    for point in ["run_session.after", "run_session.ended"] {
        let project = with_criteria(ONE, "");
        let killed =
            project.run_with("REGATTA_CRASH_AT", point, &["task", "assign", "1", "--agent", "shell"]);
        assert_eq!(killed.code, None, "{killed:?}");
        let up = project.start(&["up"]);
        regatta_testkit::wait::until("it is put up for review", || field(&project, "1", "phase") == "ready");
        up.kill();
        assert_eq!(completed(&project)["open"], Value::Null, "{point}");
        assert_eq!(count(&project, "task:completed"), 1);
    }
}

#[test]
fn the_entries_of_the_engine_are_true() {
    let project = with_shell("true", "");
    project.json(&["task", "add", "a task"]);
    let said = project.run(&["task", "assign", "1", "--agent", "shell"]);
    assert_eq!(said.code, Some(1), "there is nothing to review: {said:?}");
    let file = project.path().join(".regatta/task-states/task-1-state.md");
    let text = std::fs::read_to_string(file).expect("the task has a file");
    assert!(text.contains("TASK_NO_DIFF") && text.contains("**Next:** Change something"), "{text}");
    assert!(!text.contains("**Issues:** None") && !text.contains("**Next:** Review"), "{text}");
    let project = with_shell("echo half > half.txt; exit 7", "");
    project.json(&["task", "add", "a task"]);
    project.run(&["task", "assign", "1", "--agent", "shell"]);
    let file = project.path().join(".regatta/task-states/task-1-state.md");
    let text = std::fs::read_to_string(file).expect("the task has a file");
    assert!(text.contains("AGENT_SESSION_FAILED") && text.contains("regatta task resume 1"), "{text}");
}
