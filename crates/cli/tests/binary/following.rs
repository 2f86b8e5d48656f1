//! Several processes on one project: an engine and its followers, and readers of the log.

use crate::support::{add, add_all, field, is_alive, read_when_written, until_in, with_agents, with_shell};
use regatta_testkit::binary::Running;
use regatta_testkit::wait::{WAIT_MAX, until};
use std::io::{BufRead, BufReader};
use std::process::Command;

const ID: &str = "0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee";

#[test]
fn with_an_engine_running_that_one_does_the_work() {
    // The parent of an agent is its supervisor, and that one's is the engine.
    let script =
        "cut -d' ' -f4 /proc/$PPID/stat > \"$REGATTA_PROJECT/.regatta/parent\"; echo done > work.txt";
    let project = with_shell(script, "");
    add(&project, "a task");
    let mut engine = project.start(&["up"]);
    add(&project, "another");
    project.run(&["task", "assign", "2", "--agent", "shell", "--no-wait"]);
    until_in(&project, "2", "waiting_approval");
    let answer = project.json(&["task", "assign", "1", "--agent", "shell"]);
    assert_eq!(answer["column"], "waiting_approval");
    let parent = read_when_written(&project.path().join(".regatta/parent"));
    assert_eq!(parent.trim(), engine.pid().to_string());
    assert!(engine.is_running(), "a follower leaves the engine alone");
    engine.kill();
}

#[test]
fn a_follower_takes_over_when_the_engine_is_killed() {
    let script = "test -e \"$REGATTA_PROJECT/.regatta/go\" || { touch \"$REGATTA_PROJECT/.regatta/began\"; sleep 1000; }; \
        echo done > work.txt";
    let project = with_shell(script, "[limits]\ngrace = \"200ms\"\n");
    add(&project, "a task");
    project.run(&["task", "assign", "1", "--agent", "shell", "--no-wait", "--command-id", ID]);
    let engine = project.start(&["up"]);
    until("the session is in the log", || field(&project, "1", "phase") == "running");
    until("the session began", || project.path().join(".regatta/began").exists());
    let follower = project.start(&["--json", "task", "assign", "1", "--agent", "shell", "--command-id", ID]);
    project.repo.write(".regatta/go", "");
    engine.kill();
    let outcome = follower.wait();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(field(&project, "1", "column"), "waiting_approval");
    assert_eq!(project.repo.git(&["show", "task/1:work.txt"]), "done");
}

/// A set-up that takes for ever, and tells its process id.
const ENDLESS: &str = "[worktree]\nsetup = 'echo $$ > ../../setting-up; exec sleep 1000'\n";

#[test]
fn a_cancel_does_not_wait_for_the_set_up() {
    let project = with_shell("true", ENDLESS);
    add(&project, "a task");
    let assign = project.start(&["task", "assign", "1", "--agent", "shell"]);
    let pid = read_when_written(&project.path().join(".regatta/setting-up"));
    let answer = project.json(&["task", "cancel", "1"]);
    assert_eq!(answer["column"], "backlog");
    assert!(!is_alive(pid.trim()), "the set-up is ended");
    assert!(!project.path().join(".regatta/worktrees/task-1").exists());
    assert_eq!(assign.wait().code, Some(0));
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}

#[test]
fn an_engine_that_is_stopped_does_not_wait_for_the_set_up() {
    let project = with_shell("true", ENDLESS);
    add(&project, "a task");
    let assign = project.start(&["task", "assign", "1", "--agent", "shell"]);
    let pid = read_when_written(&project.path().join(".regatta/setting-up"));
    send_signal(assign.pid(), "TERM");
    let outcome = assign.wait();
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(!is_alive(pid.trim()), "the set-up is ended");
    assert_eq!(field(&project, "1", "phase"), "unattended");
    assert_eq!(field(&project, "1", "owner"), "you");
}

fn send_signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

#[test]
fn events_from_a_number_on() {
    let project = with_agents("");
    add_all(&project, &["one", "two", "three"]);
    let numbers = |from: &str| -> Vec<u64> {
        let events = project.json(&["events", "--from", from]);
        events
            .as_array()
            .expect("events are a list")
            .iter()
            .filter_map(|event| event["seq"].as_u64())
            .collect()
    };
    // Each task is created, and its file made and written.
    assert_eq!(numbers("1"), (1..=9).collect::<Vec<u64>>());
    assert_eq!(numbers("0"), (1..=9).collect::<Vec<u64>>());
    assert_eq!(numbers("9"), [9]);
    assert_eq!(numbers("10"), [0; 0]);
    assert_eq!(project.run(&["events", "--from", "8"]).stdout.lines().count(), 2);
}

#[test]
fn events_as_they_happen() {
    let project = with_agents("");
    add(&project, "one");
    let mut command = project.command(&["--json", "events", "--follow"]);
    let mut child = command.spawn().expect("the binary can be started");
    let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let (sender, lines) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    let next = || -> serde_json::Value {
        let line = lines.recv_timeout(WAIT_MAX).expect("the log continues");
        serde_json::from_str(&line).expect("each line is one JSON document")
    };
    assert_eq!(next()["title"], "one");
    add(&project, "two");
    let numbers: Vec<u64> = (0..2).filter_map(|_| next()["seq"].as_u64()).collect();
    assert_eq!(numbers, [2, 3], "the file of the first task");
    let event = next();
    assert_eq!((&event["seq"], &event["title"]), (&4.into(), &"two".into()));
    child.kill().expect("it can be killed");
    child.wait().expect("it can be waited for");
    let _ = reader.join().expect("the reader does not panic");
}

#[test]
fn an_interrupted_wait_says_how_it_goes_on() {
    let script = "test -e again || { touch again; touch \"$REGATTA_PROJECT/.regatta/began\"; sleep 1000; }; echo done > work.txt";
    let project = with_shell(script, "[limits]\ngrace = \"200ms\"\n");
    add(&project, "a task");
    let waiting = project.start(&["task", "assign", "1", "--agent", "shell"]);
    until("the session began", || project.path().join(".regatta/began").exists());
    until("the session is in the log", || field(&project, "1", "phase") == "running");
    interrupt(&waiting);
    let outcome = waiting.wait();
    let mut transcript = crate::support::Transcript::new(&project);
    transcript.write("task assign 1 --agent shell", &outcome);
    transcript.run(&["task", "show", "1"]);
    let engine = project.start(&["up"]);
    until_in(&project, "1", "waiting_approval");
    interrupt(&engine);
    let outcome = engine.wait();
    assert!(outcome.code == Some(0) && outcome.stdout.starts_with("http://"), "{outcome:?}");
    for words in ["engine up for", "completed: 2 files", "stopping"] {
        assert!(outcome.stderr.contains(words), "{outcome:?}");
    }
    transcript.check("interrupted");
}

fn interrupt(running: &Running) {
    let number = running.pid().try_into().expect("a process id is small");
    let pid = rustix::process::Pid::from_raw(number).expect("a process id is not 0");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it can be interrupted");
}
