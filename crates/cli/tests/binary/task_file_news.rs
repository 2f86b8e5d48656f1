//! What an edit of a task file becomes in the log, and who is said to have made it.

use crate::support::{field, with_agents, with_shell};
use regatta_testkit::binary::TestProject;
use serde_json::Value;
use std::path::PathBuf;

fn path(project: &TestProject) -> PathBuf {
    project.path().join(".regatta/task-states/task-1-state.md")
}

fn read(project: &TestProject) -> String {
    std::fs::read_to_string(path(project)).expect("the task has a file")
}

/// Changes some words of the file of task 1, and returns the events that come of it when somebody looks.
fn edit(project: &TestProject, old: &str, new: &str) -> Vec<Value> {
    let before = events(project).len();
    let text = read(project);
    assert!(text.contains(old), "{old:?} is in the file: {text}");
    std::fs::write(path(project), text.replace(old, new)).expect("the file can be written");
    project.json(&["task", "criteria", "1"]);
    events(project).split_off(before)
}

fn events(project: &TestProject) -> Vec<Value> {
    project.json(&["events"]).as_array().expect("events are a list").clone()
}

/// Returns the one event of a kind.
fn one(events: &[Value], kind: &str) -> Value {
    let found: Vec<&Value> = events.iter().filter(|event| event["type"] == kind).collect();
    assert_eq!(found.len(), 1, "one {kind} in {events:?}");
    found[0].clone()
}

const SESSION: &str = "### Session 1 - 2026-01-02 10:00\n**Did:** this\n**Issues:** that\n**Next:** more\n";

#[test]
fn every_kind_of_edit_becomes_its_event_with_who_made_it() {
    let project = with_agents("");
    let text = ["task", "add", "a task", "--description", "Paint it.", "--criterion", "it works"];
    project.json(&text);
    for (old, new, kind, key, value) in [
        ("- [ ] it works", "- [x] it works", "criterion:checked", "text", "it works"),
        ("- [x] it works", "- [ ] it works", "criterion:unchecked", "text", "it works"),
        ("(No sessions yet)\n", SESSION, "progress:logged", "", ""),
        ("(To be completed)", "### Summary\nIt is red.", "output:written", "summary", "It is red."),
        ("It is red.", "It is blue.", "output:written", "summary", "It is blue."),
        ("### Summary\nIt is blue.", "(To be completed)", "output:removed", "", ""),
        ("Paint it.", "Paint it twice.", "requirements:edited", "text", "Paint it twice."),
        ("# Task #1: a task\n", "# Task #1: another task #\n", "task:edited", "title", "another task"),
    ] {
        let event = one(&edit(&project, old, new), kind);
        assert_eq!(event["actor"], "somebody", "{event}");
        assert!(key.is_empty() || event[key] == value, "{event}");
    }
    let last = field(&project, "1", "progressEntries");
    assert_eq!((last, field(&project, "1", "description")), (1.into(), "Paint it twice.".into()));
    assert_eq!(field(&project, "1", "title"), "another task");
    assert!(read(&project).starts_with("# Task #1: another task #\n"), "the edit stays as it is written");
    for bad in ["# Task #1: \n".to_owned(), format!("# Task #1: {}\n", "x".repeat(201)), String::new()] {
        let events = edit(&project, "# Task #1: another task #\n", &bad);
        assert!(events.iter().all(|event| event["type"] != "task:edited"), "{events:?}");
        assert_eq!(field(&project, "1", "title"), "another task");
        assert!(
            read(&project).starts_with(&format!("{bad}\n")),
            "what is no title stays: {}",
            read(&project)
        );
        std::fs::write(
            path(&project),
            read(&project).replacen(&format!("{bad}\n"), "# Task #1: another task #\n\n", 1),
        )
        .expect("the file can be written");
        project.json(&["task", "criteria", "1"]);
    }
}

#[test]
fn the_edits_of_an_agent_are_its_own_and_those_of_a_verb_the_users() {
    let project = with_shell(
        "cp \"$REGATTA_PROJECT/../edited.md\" \"$REGATTA_TASK_FILE\"; echo work > work.txt",
        "[limits]\nsessions = 1\n",
    );
    let text = [
        "task",
        "add",
        "a task",
        "--description",
        "Paint it.",
        "--criterion",
        "it works",
        "--criterion",
        "it is nice",
    ];
    project.json(&text);
    project.json(&["task", "criteria", "1", "--check", "2"]);
    let verb = one(&events(&project), "criterion:checked");
    assert_eq!((&verb["actor"], &verb["text"]), (&"tester".into(), &"it is nice".into()));
    let edited = [
        ("- [ ] it works", "- [x] it works"),
        ("- [x] it is nice", "- [ ] it is nice"),
        ("(No sessions yet)\n", SESSION),
        ("(To be completed)", "### Summary\nIt is red."),
        ("Paint it.", "Paint it twice."),
    ];
    let edited = edited.iter().fold(read(&project), |text, (old, new)| text.replace(old, new));
    std::fs::write(project.repo.outside().join("edited.md"), edited).expect("the file can be written");
    let before = events(&project).len();
    project.json(&["task", "assign", "1", "--agent", "shell"]);
    let events = events(&project).split_off(before);
    for kind in [
        "criterion:checked",
        "criterion:unchecked",
        "progress:logged",
        "output:written",
        "requirements:edited",
    ] {
        assert_eq!(one(&events, kind)["actor"], "agent shell", "{kind}");
    }
}

#[test]
fn what_two_sides_wrote_in_one_place_is_kept_visibly() {
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    // Killed when the tick is in the log, and not yet in the file.
    let tick = ["task", "criteria", "1", "--check", "1"];
    assert_eq!(project.run_with("REGATTA_CRASH_AT", "append.after", &tick).code, None, "it is killed");
    let events = edit(&project, "- [ ] it works", "- [ ] it works well");
    let conflicted = one(&events, "file:conflicted");
    assert_eq!(conflicted["actor"], "somebody", "{conflicted}");
    let (text, kept) = (read(&project), "## Conflicts");
    let place = text.find(kept).expect("the file says so");
    assert!(
        text[..place].contains("- [x] it works\n") && text[place..].contains("- [ ] it works well\n"),
        "{text}"
    );
}

#[test]
fn the_prompt_says_what_is_open_and_what_comes_next() {
    let project = with_shell(
        "cat > prompt-$REGATTA_SESSION_NUMBER.txt; cp \"$REGATTA_PROJECT/../edited.md\" \"$REGATTA_TASK_FILE\"",
        "[limits]\nsessions = 1\n",
    );
    project.json(&["task", "add", "a task", "--criterion", "it works", "--criterion", "it is nice"]);
    let text =
        read(&project).replace("- [ ] it works", "- [x] it works").replace("(No sessions yet)\n", SESSION);
    std::fs::write(project.repo.outside().join("edited.md"), text).expect("the file can be written");
    project.json(&["task", "assign", "1", "--agent", "shell"]);
    project.json(&["task", "reject", "1", "--reason", "it is blue", "--feedback", "take the other tin"]);
    let prompt = project.path().join(".regatta/worktrees/task-1/prompt-2.txt");
    let prompt = std::fs::read_to_string(prompt).expect("the agent wrote it");
    for words in [
        path(&project).to_str().expect("a plain path"),
        "- [x] it works\n- [ ] it is nice\n",
        "The last entry of the log says what comes next: more\n",
        "Reason: it is blue\n\ntake the other tin\n",
    ] {
        assert!(prompt.contains(words), "{words:?} is in the prompt: {prompt}");
    }
}
