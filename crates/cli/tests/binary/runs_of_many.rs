//! A run with children: one run for each item, shown together with the run that waits for them.

use crate::run_support::{CODER, HOPELESS, scripted, write_many, write_nested};
use crate::support::Transcript;
use regatta_testkit::binary::TestProject;

const INPUT: &str = r#"{"items": [{"id": "A"}, {"id": "B", "after": ["A"]}]}"#;

fn with_children(coder: &str) -> TestProject {
    let project = scripted("auto", coder);
    write_many(&project);
    project
}

#[test]
fn children_are_shown_with_their_parent() {
    let project = with_children(CODER);
    let mut transcript = Transcript::new(&project);
    let ran = transcript.run(&["run", "many", "--input", INPUT]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    transcript.run(&["run", "list"]);
    transcript.run(&["run", "show", "1"]);
    transcript.run(&["run", "show", "2"]);
    transcript.check("run_children");
}

#[test]
fn what_depends_on_a_failed_child_is_skipped() {
    let project = with_children(HOPELESS);
    let ran = project.json(&["run", "many", "--input", INPUT]);
    assert_eq!(ran["state"]["results"][0]["status"], "failed");
    assert_eq!(ran["state"]["results"][1]["status"], "skipped");
    let printed = project.run(&["events"]).stdout;
    assert!(
        printed.contains("child A failed: RUN_FAILED") && printed.contains("child B skipped"),
        "{printed}"
    );
}

#[test]
fn a_child_that_waits_is_shown_with_what_it_waits_for() {
    let project = with_children(CODER);
    let path = ".regatta/config.toml";
    let config = std::fs::read_to_string(project.path().join(path)).expect("the config is there");
    project.repo.write(path, &config.replace("coder = \"worker\"\n", ""));
    let mut transcript = Transcript::new(&project);
    let held = transcript.run(&["run", "many", "--input", INPUT]);
    assert_eq!(held.code, Some(1));
    transcript.run(&["run", "show", "1"]);
    project.repo.write(path, &config);
    transcript.run(&["run", "resume", "2"]);
    transcript.check("run_child_waits");
    assert_eq!(project.json(&["run", "--resume", "1"])["status"], "completed");
}

#[test]
fn a_child_of_a_child_that_waits_is_shown_with_what_it_waits_for() {
    let project = scripted("auto", CODER);
    write_nested(&project);
    let path = ".regatta/config.toml";
    let config = std::fs::read_to_string(project.path().join(path)).expect("the config is there");
    project.repo.write(path, &config.replace("coder = \"worker\"\n", ""));
    let mut transcript = Transcript::new(&project);
    let input = r#"{"items": [{"id": "X", "items": [{"id": "A"}]}]}"#;
    let held = transcript.run(&["run", "nested", "--input", input]);
    assert_eq!(held.code, Some(1), "{held:?}");
    transcript.run(&["run", "show", "1"]);
    project.repo.write(path, &config);
    transcript.run(&["run", "--resume", "1"]);
    transcript.check("run_child_of_child_waits");
}

#[test]
fn a_child_that_cannot_begin_holds_its_parent_and_nobody_else() {
    let project = with_children(CODER);
    let path = ".regatta/workflows/many/children/one/workflow.toml";
    let text = std::fs::read_to_string(project.path().join(path)).expect("the workflow is there");
    project
        .repo
        .write(path, &text.replace("role = \"coder\"\n", "role = \"coder\"\ntask = \"input.id + 1\"\n"));
    let held = project.run(&["run", "many", "--input", INPUT]);
    assert_eq!(held.code, Some(1), "{held:?}");
    assert!(held.stderr.contains("run 1 cannot start the child for item `A`"), "{}", held.stderr);
    assert_eq!(project.json(&["run", "show", "1"])["status"], "paused");
    let other = project.json(&["run", "speckit", "--prd", "plan.md", "--level", "1"]);
    assert_eq!(other["status"], "completed", "{other}");
    assert_eq!(project.json(&["run", "stop", "1"])["status"], "failed");
}
