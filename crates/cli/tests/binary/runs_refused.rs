//! What the verbs of runs refuse, and that a refusal adds nothing.

use crate::run_support::{CODER, input, scripted};
use crate::support::{PROGRAM, Transcript, count_events};
use regatta_testkit::binary::TestProject;

#[test]
fn what_is_refused() {
    let project = scripted("auto", CODER);
    project.repo.write("latin.md", "x");
    std::fs::write(project.path().join("latin.md"), b"# Caf\xe9\n").expect("the file can be written");
    let mut transcript = Transcript::new(&project);
    let document = input();
    let refused: &[&[&str]] = &[
        &["run"],
        &["run", "speckti", "--prd", "plan.md"],
        &["run", "./nowhere"],
        &["run", "speckit"],
        &["run", "speckit", "--prd", "lost.md"],
        &["run", "speckit", "--prd", "lost"],
        &["run", "speckit", "--prd", "latin.md"],
        &["run", "speckit", "--input", "[1]"],
        &["run", "speckit", "--input", "{"],
        &["run", "speckit", "--input", "@lost.json"],
        &["run", "speckit", "--prd", "plan.md", "--level", "9"],
        &["run", "speckit", "--prd", "plan.md", "--set", "onTaskFailed"],
        &["run", "speckit", "--prd", "plan.md", "--set", "onTaskFailed=never"],
        &["run", "speckit", "--prd", "plan.md", "--set", "colour=blue"],
        &["run", "speckit", "--resume"],
        &["run", "--resume"],
        &["run", "--resume", "7"],
        &["run", "show", "7"],
        &["run", "show", "seven"],
        &["run", "pause", "7"],
        &["run", "stop", "7"],
        &["run", "answer", "7", "yes"],
        &["run", "fork", "7"],
        &["run", "replay", "7"],
        &["run", "list"],
        &["--json", "run", "show", "7"],
        &["--json", "run", "speckit", "--input", &document, "--level", "9"],
    ];
    for arguments in refused {
        transcript.run(arguments);
    }
    transcript.check("run_refused");
    assert_eq!(count_events(&project), 0, "a refusal adds nothing");
}

#[test]
fn a_run_needs_a_project() {
    let project = TestProject::without_init(PROGRAM);
    for arguments in [&["run", "speckit"][..], &["run", "list"], &["eval", "--run", "1", "a"]] {
        assert_eq!(project.refusal(arguments)["code"], "PROJECT_NOT_FOUND", "{arguments:?}");
    }
}
