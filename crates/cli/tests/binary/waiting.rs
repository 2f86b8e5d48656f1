//! Every state that is not final has somebody it waits for and a deadline; and what waits for approval stays as it is.

use crate::run_support::{CODER, scripted};
use crate::support::{add, field, is_alive, read_when_written, until_in, with_agents, with_shell};
use regatta_testkit::binary::TestProject;
use regatta_testkit::repo::git_in;
use regatta_testkit::wait::until;
use serde_json::{Value, json};
use std::fs::File;
use std::process::{Child, Stdio};

/// Waits until the test opens the gate of the given name, or is over.
fn gate(name: &str) -> String {
    format!(
        "folder=\"$REGATTA_PROJECT/.regatta\"; until [ -e \"$folder/{name}\" ] || [ ! -d \"$folder\" ]; do sleep 0.05; done; echo work > work.txt"
    )
}

fn open(project: &TestProject, name: &str) {
    project.repo.write(&format!(".regatta/{name}"), "");
}

fn until_phase(project: &TestProject, task: &str, phase: &str) {
    until(&format!("#{task} is {phase}"), || field(project, task, "phase") == phase);
}

/// Shows that `task show` and `task list` say the same of who is waited for, until when, and what is next.
fn assert_waits(project: &TestProject, task: &str, who: &str) {
    let shown = project.json(&["task", "show", task]);
    assert_eq!(shown["waitsFor"], who, "{shown}");
    assert!(shown["deadline"].is_string() && shown["deadline"] == shown["until"], "{shown}");
    assert!(shown["next"].as_str().is_some_and(|next| !next.is_empty()), "{shown}");
    let list = project.json(&["task", "list"]);
    let listed = list.as_array().expect("a list").iter().find(|row| row["id"] == shown["id"]).expect("a row");
    for key in ["waitsFor", "deadline", "until", "next"] {
        assert_eq!(listed[key], shown[key], "{key}: {listed}");
    }
}

/// A running `up` that prints into a file.
struct Up {
    child: Child,
}

impl Up {
    fn start(project: &TestProject) -> Self {
        let printed = File::create(project.repo.outside().join("printed")).expect("a file");
        let mut command = project.command(&["up"]);
        command.stdout(Stdio::null()).stderr(printed);
        Up { child: command.spawn().expect("it can be started") }
    }

    fn until_printed(project: &TestProject, words: &str) {
        let path = project.repo.outside().join("printed");
        until(words, || std::fs::read_to_string(&path).unwrap_or_default().contains(words));
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_state_says_whom_it_waits_for_and_until_when() {
    let project = with_shell(
        &gate("go"),
        "instances = 2\n[project]\nmax_concurrent_agents = 1\n[checks]\ntest = \"until [ -e ../../checked ]; do sleep 0.05; done\"\n",
    );
    for title in ["one", "two", "three", "four"] {
        add(&project, title);
    }
    project.json(&["task", "depends", "2", "1"]);
    assert_waits(&project, "1", "you");
    assert_waits(&project, "2", "task");
    let up = Up::start(&project);
    project.run(&["task", "assign", "1", "--agent", "shell", "--no-wait"]);
    until_phase(&project, "1", "running");
    assert_waits(&project, "1", "agent");
    project.run(&["task", "assign", "3", "--agent", "shell", "--no-wait"]);
    assert_waits(&project, "3", "queue");
    drop(up);
    // Without an engine nobody but a person makes a move.
    until("the engine is gone", || field(&project, "1", "phase") == "unattended");
    assert_waits(&project, "1", "you");
    assert_waits(&project, "3", "you");
    let up = Up::start(&project);
    open(&project, "go");
    until_phase(&project, "1", "checking");
    assert_waits(&project, "1", "engine");
    open(&project, "checked");
    until_in(&project, "1", "waiting_approval");
    assert_waits(&project, "1", "you");
    project.json(&["task", "approve", "1"]);
    let done = project.json(&["task", "show", "1"]);
    assert_eq!((&done["waitsFor"], &done["deadline"]), (&json!("nobody"), &Value::Null), "{done}");
    drop(up);
}

#[test]
fn set_up_pauses_and_what_broke_off_have_a_deadline_too() {
    let project = with_agents(
        "[limits]\nretries = 1\n[worktree]\nsetup = 'sh -c \"until [ -e ../../go ]; do sleep 0.05; done\"'\n",
    );
    let _up = Up::start(&project);
    add(&project, "one");
    project.run(&["task", "assign", "1", "--agent", "breaker", "--no-wait"]);
    until_phase(&project, "1", "preparing");
    assert_waits(&project, "1", "engine");
    open(&project, "go");
    until_phase(&project, "1", "parked");
    assert_waits(&project, "1", "clock");
    project.run(&["task", "resume", "1"]);
    until_phase(&project, "1", "halted");
    assert_waits(&project, "1", "you");
}

#[test]
fn up_says_what_is_overdue_and_a_run_has_a_deadline() {
    let project = scripted("person", CODER);
    let path = project.path().join(".regatta/config.toml");
    let config = std::fs::read_to_string(&path).expect("a config");
    project.run(&["run", "speckit", "--prd", "plan.md", "--level", "5"]);
    let run = project.json(&["run", "show", "1"]);
    assert_eq!((&run["waitsFor"], &run["overdue"]), (&json!("you"), &json!(false)), "{run}");
    assert!(run["deadline"].is_string() && run["deadline"] == run["until"], "{run}");
    std::fs::write(&path, config.replace("[limits]\n", "[limits]\nreview = \"1ms\"\n")).expect("a config");
    let run = project.json(&["run", "show", "1"]);
    assert_eq!(run["overdue"], true, "{run}");
    let shown = project.run(&["run", "show", "1"]).stdout;
    assert!(shown.contains("overdue"), "{shown}");
    let _up = Up::start(&project);
    Up::until_printed(&project, "is overdue");
    assert_eq!(project.json(&["task", "show", "1"])["column"], "waiting_approval", "nothing else happens");
}

/// Leaves a process that writes into the worktree for as long as it lives.
const LINGERER: &str = r#"
setsid sh -c 'echo $$ > ../../lingerer; while :; do echo more >> late.txt; sleep 0.02; done' > /dev/null 2>&1 &
until [ -s ../../lingerer ]; do sleep 0.02; done
echo work > work.txt
"#;

#[test]
fn while_it_waits_for_approval_nothing_more_gets_in() {
    let project = with_shell(LINGERER, "");
    add(&project, "one");
    let task = project.json(&["task", "assign", "1", "--agent", "shell"]);
    assert_eq!(task["column"], "waiting_approval");
    let pid = read_when_written(&project.path().join(".regatta/lingerer"));
    assert!(!is_alive(pid.trim()), "what the agent left running is ended");
    let head = task["diff"]["head"].clone();
    let worktree = project.path().join(".regatta/worktrees/task-1");
    std::fs::write(worktree.join("sneaked.txt"), "in\n").expect("it can be written");
    let error = project.refusal(&["task", "approve", "1"]);
    assert_eq!(error["code"], "WORKTREE_DIRTY", "{error}");
    git_in(&worktree, &["add", "--all"]);
    git_in(&worktree, &["commit", "--quiet", "--message", "sneaked in"]);
    assert_eq!(project.refusal(&["task", "approve", "1"])["code"], "APPROVAL_STALE");
    git_in(&worktree, &["reset", "--quiet", "--hard", head.as_str().expect("a head")]);
    assert_eq!(project.json(&["task", "approve", "1"])["column"], "verified");
    let merged = project.repo.git(&["ls-tree", "--name-only", "main"]);
    assert!(merged.contains("work.txt") && !merged.contains("sneaked.txt"), "{merged}");
}
