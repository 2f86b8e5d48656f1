//! The shape of what each verb prints: JSON, text, progress without a terminal, help.

use crate::support::{Transcript, with_agents};
use regatta_testkit::binary::TestProject;

/// A walk past every verb, with a task in every column at its end.
const WALK: &[&[&str]] = &[
    &["task", "list"],
    &["agent", "list"],
    &["task", "add", "First", "--description", "two\nlines", "--criterion", "it works", "--priority", "high"],
    &["task", "add", "Second", "--depends", "1"],
    &["task", "add", "Third"],
    &["task", "add", "Fourth"],
    &["task", "depends", "4", "3"],
    &["task", "depends", "4", "--remove", "3"],
    &["task", "assign", "1", "--agent", "worker"],
    &["task", "diff", "1"],
    &["task", "diff", "1", "--stat"],
    &["task", "reject", "1", "--reason", "too short", "--feedback", "say more"],
    &["task", "approve", "1", "--feedback", "good"],
    &["task", "assign", "3", "--agent", "breaker", "--priority", "low"],
    &["task", "diff", "3"],
    &["task", "complete", "3"],
    &["task", "cancel", "3", "--reason", "not now"],
    &["task", "salvage", "3", "--list"],
    &["task", "salvage", "3"],
    &["task", "salvage", "3"],
    &["task", "assign", "2", "--agent", "helper"],
    &["task", "assign", "3", "--agent", "breaker"],
    &["task", "diff", "1", "--stat"],
    &["task", "show", "1"],
    &["task", "show", "3"],
    &["task", "list"],
    &["agent", "list"],
    &["doctor"],
    &["events"],
];

fn walk<'a>(project: &'a TestProject, before: &[&str]) -> Transcript<'a> {
    let mut transcript = Transcript::new(project);
    for arguments in WALK {
        transcript.run(&[before, *arguments].concat());
    }
    transcript
}

#[test]
fn as_json() {
    walk(&with_agents(""), &["--json"]).check("output_json");
}

#[test]
fn as_text() {
    walk(&with_agents(""), &[]).check("output_text");
}

#[test]
fn init() {
    for (name, arguments) in [("init_text", &["init"][..]), ("init_json", &["init", "--json"])] {
        let project = TestProject::without_init(crate::support::PROGRAM);
        let mut transcript = Transcript::new(&project);
        transcript.run(arguments);
        transcript.note(".regatta/config.toml:");
        transcript.note(
            &std::fs::read_to_string(project.path().join(".regatta/config.toml")).expect("it is there"),
        );
        transcript.check(name);
    }
}

#[test]
fn the_machine() {
    let project = TestProject::without_init(crate::support::PROGRAM);
    let mut transcript = Transcript::new(&project);
    for format in ["mermaid", "xstate", "svg"] {
        transcript.run(&["machine", "show", "--format", format]);
        transcript.run(&["--json", "machine", "show", "--format", format]);
    }
    transcript.check("machine");
}

#[test]
fn help() {
    let project = TestProject::without_init(crate::support::PROGRAM);
    let mut transcript = Transcript::new(&project);
    let verbs: &[&[&str]] = &[
        &[],
        &["demo"],
        &["init"],
        &["up"],
        &["task"],
        &["task", "add"],
        &["task", "list"],
        &["task", "show"],
        &["task", "assign"],
        &["task", "complete"],
        &["task", "approve"],
        &["task", "reject"],
        &["task", "cancel"],
        &["task", "depends"],
        &["task", "salvage"],
        &["task", "diff"],
        &["epic"],
        &["epic", "add"],
        &["epic", "list"],
        &["epic", "show"],
        &["epic", "edit"],
        &["prd"],
        &["prd", "add"],
        &["prd", "list"],
        &["prd", "show"],
        &["prd", "edit"],
        &["run"],
        &["run", "list"],
        &["run", "show"],
        &["run", "pause"],
        &["run", "resume"],
        &["run", "stop"],
        &["run", "answer"],
        &["run", "fork"],
        &["run", "replay"],
        &["workflow"],
        &["workflow", "list"],
        &["workflow", "show"],
        &["workflow", "check"],
        &["workflow", "new"],
        &["workflow", "graph"],
        &["eval"],
        &["agent", "list"],
        &["events"],
        &["machine", "show"],
        &["doctor"],
        &["completions"],
        &["agent"],
    ];
    for verb in verbs {
        transcript.run(&[*verb, &["--help"]].concat());
    }
    transcript.run(&["--version"]);
    transcript.check("help");
}

/// A full disk is reported, whatever the command; a reader that has enough, such as `head`, is not.
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let project = with_agents("");
    project.json(&["task", "add", "First"]);
    let cases: &[&[&str]] = &[
        &["task", "list"],
        &["--json", "task", "list"],
        &["--json", "events", "--follow"],
        &["machine", "show"],
        &["completions", "bash"],
        &["eval", "1 + 1"],
        &["--help"],
        &["--version"],
    ];
    for arguments in cases {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = project.command(arguments).stdout(full).output().expect("the binary can be run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("IO_FAILED") && said.contains("the output was not written"), "{said}");
        let mut command = project.command(arguments);
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        drop(reader);
        let output = command.stdout(writer).output().expect("the binary can be run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.as_ref()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn completions_name_the_verbs() {
    let project = TestProject::without_init(crate::support::PROGRAM);
    for shell in ["bash", "zsh", "fish"] {
        let printed = project.run(&["completions", shell]).stdout;
        for word in ["demo", "assign", "salvage", "epic", "prd", "doctor", "--command-id", "completions"] {
            let word = if shell == "fish" { word.trim_start_matches("--") } else { word };
            assert!(printed.contains(word), "{shell} lacks {word}");
        }
    }
}
