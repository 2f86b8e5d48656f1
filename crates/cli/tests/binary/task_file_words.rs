//! What a task file and the lists say of a task: its repository, upstream tasks, stale inputs, sizes.

use crate::support::{add, field, with_agents};
use regatta_testkit::binary::TestProject;

fn read(project: &TestProject, task: &str) -> String {
    let name = format!(".regatta/task-states/task-{task}-state.md");
    std::fs::read_to_string(project.path().join(name)).expect("the task has a file")
}

fn write(project: &TestProject, task: &str, old: &str, new: &str) {
    let text = read(project, task);
    assert!(text.contains(old), "{old:?} is in the file: {text}");
    let name = format!(".regatta/task-states/task-{task}-state.md");
    std::fs::write(project.path().join(name), text.replace(old, new)).expect("the file can be written");
    project.json(&["task", "output", task]);
}

#[test]
fn a_file_names_its_repository_and_says_when_upstream_wrote_nothing() {
    let project = with_agents("");
    add(&project, "first");
    project.json(&["task", "add", "second", "--depends", "1"]);
    assert!(
        read(&project, "1").contains("## 1. Context\n\n**Repository:** project\n"),
        "{}",
        read(&project, "1")
    );
    assert!(!read(&project, "1").contains("## 2. Chain Inputs"));
    let nothing = "## 2. Chain Inputs\n\n### From Task #1: first\n> (No chain output yet)\n";
    assert!(read(&project, "2").contains(nothing), "{}", read(&project, "2"));
    write(&project, "1", "(To be completed)", "### Summary\nthe answer");
    let text = read(&project, "2");
    assert!(text.contains("> the answer\n") && !text.contains("(No chain output yet)"), "{text}");
    project.json(&["task", "add", "third", "--depends", "2"]);
    project.json(&["task", "depends", "3", "--remove", "2"]);
    project.json(&["task", "criteria", "3"]);
    assert!(!read(&project, "3").contains("### From Task #2"), "{}", read(&project, "3"));
}

#[test]
fn stale_inputs_and_large_files_show_where_people_look() {
    let project = with_agents("");
    add(&project, "first");
    project.json(&["task", "add", "second", "--depends", "1"]);
    write(&project, "1", "(To be completed)", "### Summary\nthe first answer");
    project.json(&["task", "assign", "1", "--agent", "worker"]);
    project.json(&["task", "approve", "1"]);
    project.json(&["task", "assign", "2", "--agent", "worker"]);
    assert_eq!(field(&project, "2", "warnings"), serde_json::json!([]));
    write(&project, "1", "the first answer", "the second answer");
    write(&project, "2", "### Requirements\n", &format!("### Requirements\n{}\n", "words ".repeat(9_000)));
    let shown = project.run(&["task", "show", "2"]).stdout;
    assert!(shown.contains("warning    input from #1 is stale\n"), "{shown}");
    assert!(shown.contains("warning    file has 5") && shown.contains("advice     50 KB or more"), "{shown}");
    let listed = project.run(&["task", "list"]).stdout;
    let line = listed.lines().find(|line| line.contains("second")).expect("it is listed");
    assert!(line.contains("; input from #1 is stale; file has 5"), "{listed}");
}
