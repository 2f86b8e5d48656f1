//! Two terminals at once: what is asked at one is decided at the other.

use crate::run_support::{BLOCKED, CODER, scripted, status};
use crate::support::PROGRAM;
use regatta_testkit::binary::TestProject;
use regatta_testkit::terminal::AtTerminal;

const ELSEWHERE: &str = "has been decided elsewhere";
const RUN: [&str; 6] = ["run", "speckit", "--prd", "plan.md", "--level", "5"];

#[test]
fn an_approval_that_was_given_elsewhere_is_not_asked_for_and_the_run_is_followed_on() {
    let project = scripted("person", CODER);
    let mut terminal = AtTerminal::start(&project, &RUN);
    terminal.until_shown("approve?");
    assert_eq!(project.run(&["task", "reject", "1", "--reason", "say more"]).code, Some(0));
    terminal.say("y");
    terminal.until_shown(ELSEWHERE);
    terminal.until_shown("approve?");
    assert_eq!(
        project.json(&["task", "show", "1"])["column"],
        "waiting_approval",
        "the new diff was not seen"
    );
    assert_eq!(project.run(&["task", "approve", "1"]).code, Some(0));
    terminal.say("l");
    terminal.until_shown(ELSEWHERE);
    terminal.until_shown("#2");
    terminal.until_shown("approve?");
    terminal.say("y");
    assert_eq!(terminal.wait(), Some(0));
    assert_eq!(status(&project, 1), "completed");
}

#[test]
fn an_answer_that_was_given_elsewhere_is_not_given_to_the_next_question() {
    let project = scripted("auto", BLOCKED);
    let mut terminal = AtTerminal::start(&project, &RUN);
    terminal.until_shown("your answer (");
    assert_eq!(project.run(&["run", "answer", "1", "blue", "--no-wait"]).code, Some(0));
    terminal.say("red");
    terminal.until_shown(ELSEWHERE);
    terminal.until_shown("your answer (");
    terminal.say("green");
    assert_eq!(terminal.wait(), Some(0));
    let log = project.run(&["--json", "events"]).stdout;
    assert!(log.contains("\"green\"") && !log.contains("\"red\""), "{log}");
}

#[test]
fn the_demo_goes_on_from_what_was_decided_elsewhere() {
    let project = TestProject::without_init(PROGRAM);
    let folder = project.repo.outside().join("demo").display().to_string();
    let mut terminal = AtTerminal::start(&project, &["demo", "--dir", &folder]);
    terminal.until_shown("approve?");
    assert_eq!(project.run(&["-C", &folder, "task", "approve", "1"]).code, Some(0));
    terminal.say("n");
    terminal.until_shown("why not?");
    terminal.say("no more");
    terminal.until_shown(ELSEWHERE);
    for _ in 0..2 {
        terminal.until_shown("approve?");
        terminal.say("");
    }
    terminal.until_shown("3 tasks merged");
    assert_eq!(terminal.wait(), Some(0));
}
