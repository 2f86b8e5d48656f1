//! A command does its own work only: two terminals on one project, Ctrl-C, and what is left to whom.

use crate::support::{add_all, count_events, field, until_in, with_shell};
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::process::Child;
use std::sync::{Arc, Mutex};

/// Says that it works on a task, and ends once that task is let go.
const SCRIPT: &str = "folder=\"$REGATTA_PROJECT/.regatta\"; echo $$ > \"$folder/began-$REGATTA_TASK_ID\"; \
    until test -e \"$folder/go-$REGATTA_TASK_ID\"; do sleep 0.02; done; echo done > \"work-$REGATTA_TASK_ID.txt\"";

const GRACE: &str = "[limits]\ngrace = \"200ms\"\n";

/// Makes a project whose one agent works on several tasks at a time, each until it is let go.
fn gated() -> TestProject {
    gated_with("instances = 4")
}

fn gated_with(entry: &str) -> TestProject {
    let project = with_shell(SCRIPT, &format!("{entry}\n{GRACE}"));
    add_all(&project, &["one", "two", "three"]);
    project
}

fn let_go(project: &TestProject, task: u32) {
    project.repo.write(&format!(".regatta/go-{task}"), "");
}

fn has_begun(project: &TestProject, task: u32) -> bool {
    project.path().join(format!(".regatta/began-{task}")).exists()
}

fn until_begun(project: &TestProject, task: u32) {
    until(&format!("#{task} is at work"), || has_begun(project, task));
    until(&format!("#{task} is running"), || field(project, &task.to_string(), "phase") == "running");
}

/// A terminal in which a command runs, with what it said so far.
struct Terminal {
    child: Child,
    said: Arc<Mutex<String>>,
    reader: std::thread::JoinHandle<()>,
}

impl Terminal {
    fn start(project: &TestProject, arguments: &[&str]) -> Self {
        let mut child = project.command(arguments).spawn().expect("the binary can be started");
        let mut stderr = child.stderr.take().expect("stderr is piped");
        let said = Arc::new(Mutex::new(String::new()));
        let update = Arc::clone(&said);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                update.lock().expect("nobody panics here").push_str(&text);
            }
        });
        Terminal { child, said, reader }
    }

    fn said(&self) -> String {
        self.said.lock().expect("nobody panics here").clone()
    }

    fn until_said(&self, words: &str) {
        until(&format!("it says `{words}`"), || self.said().contains(words));
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_none()
    }

    fn send(&self, signal: Signal) {
        let number = self.child.id().try_into().expect("a process id is small");
        kill_process(Pid::from_raw(number).expect("a process id is not 0"), signal).expect("it can be sent");
    }

    /// Waits for its end, and returns its exit code and what it said.
    fn wait(mut self) -> (Option<i32>, String) {
        until("the command has ended", || !self.is_running());
        let status = self.child.wait().expect("a child can be waited for");
        self.reader.join().expect("the reader does not panic");
        (status.code(), self.said.lock().expect("nobody panics here").clone())
    }
}

fn assign(project: &TestProject, task: &str) -> Terminal {
    Terminal::start(project, &["task", "assign", task, "--agent", "shell"])
}

#[test]
fn a_command_leaves_the_tasks_of_others_alone() {
    let project = gated();
    project.json(&["task", "assign", "1", "--agent", "shell", "--no-wait"]);
    let_go(&project, 2);
    let answer = project.json(&["task", "assign", "2", "--agent", "shell"]);
    assert_eq!(answer["column"], "waiting_approval");
    assert_eq!(project.json(&["task", "approve", "2"])["column"], "verified");
    assert!(!has_begun(&project, 1));
    let left = project.json(&["task", "show", "1"]);
    assert_eq!((&left["phase"], &left["owner"]), (&"unattended".into(), &"you".into()));
    let_go(&project, 1);
    assert_eq!(project.json(&["task", "resume", "1"])["column"], "waiting_approval");
}

#[test]
fn a_refused_command_performs_nothing() {
    let project = gated();
    project.json(&["task", "assign", "1", "--agent", "shell", "--no-wait"]);
    let before = count_events(&project);
    for (refused, code) in [
        (&["task", "assign", "9", "--agent", "shell"][..], "TASK_NOT_FOUND"),
        (&["task", "assign", "2", "--agent", "ghost"], "AGENT_NOT_FOUND"),
        (&["task", "approve", "2"], "TASK_INVALID_TRANSITION"),
        (&["task", "cancel", "2"], "TASK_INVALID_TRANSITION"),
        (&["run", "answer", "1", "yes"], "RUN_NOT_FOUND"),
    ] {
        assert_eq!(project.refusal(refused)["code"], code);
    }
    assert_eq!(count_events(&project), before);
    assert!(!has_begun(&project, 1));
}

#[test]
fn a_second_command_says_for_whom_it_waits_and_has_its_turn() {
    let project = gated();
    let first = assign(&project, "1");
    until_begun(&project, 1);
    let second = assign(&project, "2");
    second.until_said("waiting for `regatta task assign 1`");
    assert!(second.said().contains("works on task #1"), "{}", second.said());
    assert!(!has_begun(&project, 2));
    let_go(&project, 1);
    assert_eq!(first.wait().0, Some(0));
    until_begun(&project, 2);
    let_go(&project, 2);
    let (code, said) = second.wait();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(field(&project, "2", "column"), "waiting_approval");
}

#[test]
fn a_queued_task_is_served_by_the_command_that_waits_for_it() {
    let project = gated_with("instances = 1");
    let first = assign(&project, "1");
    until_begun(&project, 1);
    let both = Terminal::start(&project, &["task", "assign", "2", "3", "--agent", "shell"]);
    both.until_said("queued: shell is busy");
    both.until_said("waiting for `regatta task assign 1`");
    for task in [1, 2, 3] {
        let_go(&project, task);
    }
    assert_eq!(first.wait().0, Some(0));
    let (code, said) = both.wait();
    assert_eq!(code, Some(0), "{said}");
    for task in ["2", "3"] {
        assert_eq!(field(&project, task, "column"), "waiting_approval");
    }
}

#[test]
fn what_waits_for_a_task_that_nobody_runs_stays_in_the_queue() {
    let project = gated_with("instances = 1");
    project.json(&["task", "assign", "1", "--agent", "shell", "--no-wait"]);
    let (code, said) = assign(&project, "2").wait();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("#2 stays in the queue"), "{said}");
    assert_eq!(field(&project, "2", "queuePosition"), 1);
    assert!(!has_begun(&project, 1));
}

#[test]
fn an_approval_does_not_wait_for_the_session_of_another_command() {
    let project = gated();
    let_go(&project, 1);
    project.json(&["task", "assign", "1", "--agent", "shell"]);
    let mut other = assign(&project, "2");
    until_begun(&project, 2);
    assert_eq!(project.json(&["task", "approve", "1"])["column"], "verified");
    assert!(!project.path().join(".regatta/worktrees/task-1").exists());
    assert!(other.is_running());
    let_go(&project, 2);
    assert_eq!(other.wait().0, Some(0));
}

#[test]
fn an_interrupted_command_ends_only_what_it_began_and_says_what_it_leaves() {
    let project = gated();
    let mut first = assign(&project, "1");
    until_begun(&project, 1);
    let second = assign(&project, "2");
    second.until_said("waiting for `regatta task assign 1`");
    second.send(Signal::INT);
    let (code, said) = second.wait();
    assert_eq!(code, Some(1));
    for words in ["task #2 is still assigned", "`regatta up` or `regatta task resume 2` continues it"] {
        assert!(said.contains(words), "{said}");
    }
    assert!(first.is_running());
    assert_eq!(field(&project, "1", "phase"), "running");
    first.send(Signal::INT);
    let (code, said) = first.wait();
    assert_eq!(code, Some(1));
    assert!(said.contains("task #1 is still assigned"), "{said}");
    let (one, two) = (field(&project, "1", "phase"), field(&project, "2", "phase"));
    assert_eq!((one, two), ("unattended".into(), "unattended".into()));
    for task in [1, 2] {
        let_go(&project, task);
    }
    for task in ["1", "2"] {
        assert_eq!(project.json(&["task", "resume", task])["column"], "waiting_approval");
    }
}

#[test]
fn what_a_killed_command_left_is_continued_by_name() {
    let project = gated();
    let first = assign(&project, "1");
    until_begun(&project, 1);
    let second = assign(&project, "2");
    second.until_said("waiting for `regatta task assign 1`");
    first.send(Signal::KILL);
    assert_eq!(first.wait().0, None);
    until_begun(&project, 2);
    for task in [1, 2] {
        let_go(&project, task);
    }
    assert_eq!(second.wait().0, Some(0));
    assert_eq!(field(&project, "1", "phase"), "unattended");
    assert_eq!(project.json(&["task", "resume", "1"])["column"], "waiting_approval");
}

#[test]
fn the_engine_waits_for_a_command_and_takes_over() {
    let project = gated();
    let first = assign(&project, "1");
    until_begun(&project, 1);
    let engine = Terminal::start(&project, &["up"]);
    engine.until_said("waiting for `regatta task assign 1`");
    project.json(&["task", "assign", "2", "--agent", "shell", "--no-wait"]);
    assert!(!has_begun(&project, 2));
    let_go(&project, 1);
    assert_eq!(first.wait().0, Some(0));
    engine.until_said("engine up for");
    let_go(&project, 2);
    until_in(&project, "2", "waiting_approval");
    engine.send(Signal::INT);
    assert_eq!(engine.wait().0, Some(0));
}
