//! The verbs of workflows: listed, shown, checked, drawn and copied, inside a project and outside of one.

use crate::run_support::{CODER, edit, scripted, write_many};
use crate::support::{PROGRAM, Transcript};
use regatta_testkit::binary::TestProject;

#[test]
fn as_text() {
    let project = scripted("auto", CODER);
    let mut transcript = Transcript::new(&project);
    for arguments in [
        &["workflow", "list"][..],
        &["workflow", "show", "speckit"],
        &["workflow", "check"],
        &["workflow", "graph", "speckit"],
        &["workflow", "graph", "speckit", "--format", "dot", "--level", "3"],
        &["workflow", "new", "mine"],
        &["workflow", "new", "mine"],
        &["workflow", "new", "other", "--from", "mine"],
        &["workflow", "new", "list"],
        &["workflow", "new", "none", "--from", ".regatta/scripts"],
        &["workflow", "list"],
        &["workflow", "check", "mine"],
    ] {
        transcript.run(arguments);
    }
    transcript.check("workflow_text");
    let here = project.run(&["workflow", "check", "."]).stdout;
    assert!(here.lines().next().is_some_and(|heading| heading.ends_with(" (.)")), "{here}");
    let svg = project.run(&["workflow", "graph", "mine", "--format", "svg"]);
    assert!(svg.stdout.starts_with("<svg"), "{}", svg.stdout);
    let ran = project.json(&["run", "mine", "--prd", "plan.md", "--level", "1", "--no-board"]);
    assert_eq!((ran["workflow"].as_str(), ran["status"].as_str()), (Some("mine"), Some("completed")));
}

#[test]
fn as_json() {
    let project = scripted("auto", CODER);
    let mut transcript = Transcript::new(&project);
    for arguments in [
        &["--json", "workflow", "list"][..],
        &["--json", "workflow", "check", "speckit"],
        &["--json", "workflow", "new", "mine"],
        &["--json", "workflow", "show", "nothing"],
        &["--json", "workflow", "graph", "mine", "--level", "9"],
    ] {
        transcript.run(arguments);
    }
    transcript.check("workflow_json");
    let shown = project.json(&["workflow", "show", "mine"]);
    assert_eq!(shown["defaultLevel"], 7);
    assert_eq!(shown["roles"][0]["agent"], "worker");
    assert_eq!(shown["edges"][4]["maxIterations"], 3);
    assert_eq!(project.json(&["workflow", "graph", "mine"])["format"], "mermaid");
}

#[test]
fn faults_are_shown_all_at_once_with_their_places() {
    let project = scripted("auto", CODER);
    write_many(&project);
    edit(&project, "many", "to = \"done\"", "to = \"dnoe\"");
    edit(&project, "many", "set = { results", "set = { result");
    let mut transcript = Transcript::new(&project);
    let checked = transcript.run(&["workflow", "check", "many"]);
    assert_eq!(checked.code, Some(1));
    transcript.run(&["run", "many", "--input", "{\"items\": []}"]);
    edit(&project, "many", "workflow = \"one\"", "worflow = \"one\"");
    edit(&project, "many", "items = \"input.items\"", "items = \"input.\"");
    transcript.run(&["workflow", "check", "many"]);
    transcript.run(&["workflow", "list"]);
    transcript.run(&["run", "many"]);
    transcript.run(&["workflow", "graph", "many"]);
    transcript.check("workflow_faults");
    let json = project.run(&["--json", "workflow", "check", ".regatta/workflows/many"]);
    let faults: serde_json::Value = serde_json::from_str(&json.stdout).expect("stdout is JSON");
    assert_eq!((json.code, &faults[0]["file"]), (Some(1), &"workflow.toml".into()));
    let error: serde_json::Value = serde_json::from_str(&json.stderr).expect("stderr is JSON");
    assert_eq!(error["error"]["code"], "WORKFLOW_INVALID");
    let refused = project.run(&["--json", "run", "many"]);
    let refused: serde_json::Value = serde_json::from_str(&refused.stderr).expect("stderr is JSON");
    assert_eq!(refused["error"]["details"]["faults"][0]["file"], "workflow.toml", "{refused}");
}

#[test]
fn outside_of_a_project_the_shipped_ones_and_folders_are_known() {
    let project = TestProject::without_init(PROGRAM);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["workflow", "list"]);
    transcript.run(&["workflow", "check"]);
    transcript.run(&["workflow", "new", "mine"]);
    project.repo.write("flow/workflow.toml", "name = \"flow\"\n");
    transcript.run(&["workflow", "check", "./flow"]);
    transcript.run(&["workflow", "check", "flow"]);
    transcript.run(&["workflow", "check", "./nowhere"]);
    transcript.run(&["-C", "flow", "workflow", "check", "."]);
    transcript.check("workflow_outside");
}
