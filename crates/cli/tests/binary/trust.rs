//! A stranger's repository: nothing of its config runs before a person has agreed.

use crate::support::PROGRAM;
use regatta_testkit::binary::{Outcome, TestProject};
use regatta_testkit::repo::git_in;
use regatta_testkit::terminal::AtTerminal;
use serde_json::Value;
use std::path::PathBuf;

const CONFIG: &str = "[worktree]\nsetup = ['sh', '-c', 'touch \"$HOME/ran\"']\n\
    [checks]\nunit = ['sh', '-c', 'touch \"$HOME/checked\"']\n\
    [agents.coder]\nkind = \"command\"\ncommand = ['sh', '-c', 'echo work > work.txt']\n";

/// A project that a stranger made, and a clone of it.
struct Stranger {
    project: TestProject,
    clone: PathBuf,
}

impl Stranger {
    fn new() -> Stranger {
        let project = TestProject::new(PROGRAM, CONFIG);
        git_in(project.repo.outside(), &["clone", "--quiet", "project", "clone"]);
        let clone = project.repo.outside().join("clone");
        Stranger { project, clone }
    }

    fn words<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        [&["-C", self.clone.to_str().expect("a path")], words].concat()
    }

    fn run(&self, words: &[&str]) -> Outcome {
        self.project.run(&self.words(words))
    }

    fn has_run(&self, name: &str) -> bool {
        self.project.repo.outside().join("home").join(name).exists()
    }
}

fn error_of(outcome: &Outcome) -> Value {
    serde_json::from_str::<Value>(&outcome.stderr).expect("an error as JSON")["error"].clone()
}

#[test]
fn nothing_of_a_strangers_config_runs_before_a_person_agrees() {
    let stranger = Stranger::new();
    for words in
        [["task", "list"].as_slice(), &["task", "add", "x"], &["up"], &["doctor"], &["agent", "try", "coder"]]
    {
        let refused = stranger.run(&[&["--json"], words].concat());
        assert_eq!(refused.code, Some(1), "{refused:?}");
        let error = error_of(&refused);
        assert_eq!(error["code"], "PROJECT_NOT_TRUSTED", "{words:?}");
        let starts = error["details"]["starts"].to_string();
        assert!(
            starts.contains("worktree.setup: sh -c touch") && starts.contains("agents.coder"),
            "{starts}"
        );
    }
    assert!(!stranger.clone.join(".git/regatta/log.db").exists(), "nothing was written");
    assert_eq!(
        error_of(&stranger.run(&["--json", "init"]))["code"],
        "PROJECT_EXISTS",
        "init is no way around it"
    );
    assert_eq!(
        error_of(&stranger.run(&["--json", "trust"]))["code"],
        "PROJECT_NOT_TRUSTED",
        "nobody can be asked"
    );
    assert_eq!(error_of(&stranger.run(&["--json", "task", "list"]))["code"], "PROJECT_NOT_TRUSTED");
    assert_eq!(stranger.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(stranger.run(&["task", "add", "x"]).code, Some(0));
    assert!(!stranger.has_run("ran"));
    let assigned = stranger.run(&["task", "assign", "1", "--agent", "coder"]);
    assert_eq!(assigned.code, Some(0), "{assigned:?}");
    assert!(stranger.has_run("ran") && stranger.has_run("checked"));
}

#[test]
fn a_person_at_a_terminal_is_shown_the_programs_and_asked_once() {
    let stranger = Stranger::new();
    for (answer, code) in [("n", Some(1)), ("", Some(1)), ("y", Some(0))] {
        let mut terminal = AtTerminal::start(&stranger.project, &stranger.words(&["task", "list"]));
        terminal.until_shown("came with the clone");
        terminal.until_shown("agents.coder");
        terminal.until_shown("allow it to run these here?");
        terminal.say(answer);
        assert_eq!(terminal.wait(), code, "{answer:?}");
    }
    assert_eq!(AtTerminal::start(&stranger.project, &stranger.words(&["task", "list"])).wait(), Some(0));
}

#[test]
fn an_agent_cannot_agree() {
    let mut stranger = Stranger::new();
    stranger.project.set("REGATTA_SESSION", "p0-task-1-1.x");
    assert_eq!(error_of(&stranger.run(&["--json", "trust", "--yes"]))["code"], "FORBIDDEN");
    assert!(!stranger.clone.join(".git/regatta/trusted").exists());
}
