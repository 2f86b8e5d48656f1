//! A project with agents to be killed at work, and what can be seen of it from outside.

use regatta_testkit::binary::{Outcome, TestProject};
use regatta_testkit::wait::until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

/// The signal of a crash.
pub(crate) const SIGKILL: i32 = 9;

const PROGRAM: &str = env!("CARGO_BIN_EXE_regatta");

/// Works in two sessions: a commit of its own, then a file that it leaves uncommitted.
const WRITER: &str = r#"
[[session]]
step = [
    { write = { path = "work-${task}.txt", text = "session ${session}\n" } },
    { commit = "half of it" },
    { write = { path = "more-${task}.txt", text = "session ${session}\n" } },
    { result = { summary = "written" } },
]

[[session]]
step = [
    { write = { path = "again-${task}.txt", text = "session ${session}\n" } },
    { result = { summary = "written again" } },
]
"#;

/// Breaks off after it has written something.
const BREAKER: &str = r#"
[[session]]
step = [{ write = { path = "work-${task}.txt", text = "half of it\n" } }, { fault = "crash" }]
"#;

/// A real process that does its work and says so.
const PROGRAM_SCRIPT: &str = r#"
cat > /dev/null
echo "session $REGATTA_SESSION_NUMBER" > "work-$REGATTA_TASK_ID.txt"
echo '{"summary": "written by a program"}'
"#;

/// A tree of real processes that writes something and never ends.
const HANGING_SCRIPT: &str = r#"
echo "begun" > "work-$REGATTA_TASK_ID.txt"
setsid sleep 600 &
sleep 600
"#;

/// A real process that works once it is let go, and writes down how many do so at that moment.
const GATED_SCRIPT: &str = r#"
folder="$REGATTA_PROJECT/.regatta"
mkdir -p "$folder/at-work"
: > "$folder/at-work/$REGATTA_TASK_ID"
ls "$folder/at-work" | wc -l >> "$folder/counts"
until [ -e "$folder/go" ]; do sleep 0.05; done
echo "session $REGATTA_SESSION_NUMBER" > "work-$REGATTA_TASK_ID.txt"
ls "$folder/at-work" | wc -l >> "$folder/counts"
rm "$folder/at-work/$REGATTA_TASK_ID"
"#;

/// Hangs until it is let go, so that an engine can be killed over it.
const SETUP_SCRIPT: &str = r#"
echo "begun" >> ../../setups
until [ -e ../../go ]; do sleep 0.05; done
"#;

const AGENTS: &str = r#"
[agents.writer]
kind = "scripted"
script = ".regatta/scripts/writer.toml"
instances = 64

[agents.breaker]
kind = "scripted"
script = ".regatta/scripts/breaker.toml"

[agents.program]
kind = "command"
command = ["sh", "-c", 'exec sh "$REGATTA_PROJECT/.regatta/scripts/program.sh"']
instances = 64

[agents.hanging]
kind = "command"
command = ["sh", "-c", 'exec sh "$REGATTA_PROJECT/.regatta/scripts/hanging.sh"']

[agents.gated]
kind = "command"
command = ["sh", "-c", 'exec sh "$REGATTA_PROJECT/.regatta/scripts/gated.sh"']
instances = 64
"#;

/// One event of the log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event(pub(crate) Value);

impl Event {
    pub(crate) fn kind(&self) -> &str {
        self.0["type"].as_str().unwrap_or_default()
    }

    pub(crate) fn seq(&self) -> u64 {
        self.0["seq"].as_u64().unwrap_or_default()
    }

    pub(crate) fn task(&self) -> u64 {
        self.0["taskId"].as_u64().unwrap_or_default()
    }
}

/// A project under test.
pub(crate) struct World {
    pub(crate) project: TestProject,
}

impl World {
    /// Makes a project with the agents, and with `settings` as further lines of `[project]`.
    pub(crate) fn new(settings: &str) -> Self {
        Self::furnished(settings, "")
    }

    /// Makes a project with further tables of the config.
    pub(crate) fn furnished(settings: &str, tables: &str) -> Self {
        let config = format!("[project]\n{settings}\n{AGENTS}\n{tables}");
        let project = TestProject::new(PROGRAM, &config);
        let scripts = [
            ("writer.toml", WRITER),
            ("breaker.toml", BREAKER),
            ("program.sh", PROGRAM_SCRIPT),
            ("hanging.sh", HANGING_SCRIPT),
            ("gated.sh", GATED_SCRIPT),
            ("setup.sh", SETUP_SCRIPT),
        ];
        for (name, text) in scripts {
            project.repo.write(&format!(".regatta/scripts/{name}"), text);
        }
        World { project }
    }

    /// Adds a task.
    pub(crate) fn add(&self, priority: &str) {
        self.done(&["task", "add", "a task", "--priority", priority]);
    }

    /// Runs a verb that must end with 0.
    pub(crate) fn done(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.project.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {outcome:?}");
        outcome
    }

    /// Runs a verb with a point at which its process is to be killed.
    pub(crate) fn crash_at(&self, point: &str, arguments: &[&str]) -> Outcome {
        self.project.run_with("REGATTA_CRASH_AT", point, arguments)
    }

    /// Returns one task.
    pub(crate) fn task(&self, id: u64) -> Value {
        self.project.json(&["task", "show", &id.to_string()])
    }

    /// Returns all tasks.
    pub(crate) fn tasks(&self) -> Vec<Value> {
        self.project.json(&["task", "list"]).as_array().cloned().unwrap_or_default()
    }

    /// Returns the log, after looking that its numbers have no gap.
    pub(crate) fn events(&self) -> Vec<Event> {
        let list = self.project.json(&["events"]);
        let events: Vec<Event> =
            list.as_array().expect("the log is an array").iter().cloned().map(Event).collect();
        let numbers: Vec<u64> = events.iter().map(Event::seq).collect();
        assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>(), "the log has a gap");
        events
    }

    /// Returns the kinds of the events of the machine, in order; what the task file says is another story, and so is what
    /// a session cost.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let is_of_machine = |event: &&Event| {
            let kind = event.kind();
            !["file:", "progress:", "session:"].iter().any(|prefix| kind.starts_with(prefix))
        };
        self.events().iter().filter(is_of_machine).map(|event| event.kind().to_owned()).collect()
    }

    /// Waits until a task is in a phase.
    pub(crate) fn until_phase(&self, id: u64, phase: &str) {
        until(&format!("#{id} is {phase}"), || self.task(id)["phase"] == phase);
    }

    /// Waits until nothing more happens to a task by itself.
    pub(crate) fn until_rest(&self, id: u64) {
        let rests = ["waiting", "halted", "ready", "done"];
        until(&format!("#{id} is at rest"), || {
            let phase = self.task(id)["phase"].clone();
            rests.iter().any(|rest| phase == *rest)
        });
    }

    /// Runs `up` until nothing more happens to a task by itself, then stops it as a user would.
    pub(crate) fn up_until_rest(&self, id: u64) {
        let up = self.up();
        self.until_rest(id);
        up.stop();
    }

    /// Starts `up`.
    pub(crate) fn up(&self) -> Up {
        Up::start(self.project.command(&["up"]))
    }

    /// Starts `up` with a point at which it is to be killed.
    pub(crate) fn up_until_crash(&self, point: &str) -> Up {
        let mut command = self.project.command(&["up"]);
        command.env("REGATTA_CRASH_AT", point);
        Up::start(command)
    }

    /// Counts how often a session was started, by the prompts in its transcript.
    pub(crate) fn count_starts(&self, task: u64, session: u64) -> usize {
        let name = format!(".git/regatta/sessions/task-{task}-session-{session}.jsonl");
        let text = std::fs::read_to_string(self.project.path().join(name)).unwrap_or_default();
        let is_start = |line: &&str| line.contains(r#""stream":"prompt""#) && line.contains("# Task #");
        text.lines().filter(is_start).count()
    }

    /// Returns the processes that agents of this project run in: those that say so, and those in a worktree.
    pub(crate) fn agent_processes(&self) -> BTreeSet<u32> {
        let marker = format!("REGATTA_PROJECT={}", self.project.path().display());
        let worktrees = self.project.path().join(".regatta/worktrees");
        let is_ours = |pid: &u32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            folder.starts_with(&worktrees)
                || environment.split(|byte| *byte == 0).any(|entry| entry == marker.as_bytes())
        };
        let entries = std::fs::read_dir("/proc").expect("/proc can be listed").flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }

    /// Lets go the agents that wait for it.
    pub(crate) fn let_go(&self) {
        self.project.repo.write(".regatta/go", "");
    }

    /// Waits until a session was started so often in all.
    pub(crate) fn until_started(&self, task: u64, session: u64, count: usize) {
        until(&format!("session {session} of #{task} was started {count} times"), || {
            self.count_starts(task, session) == count
        });
    }
}

/// A running `regatta up`; a test that fails does not leave it behind.
pub(crate) struct Up {
    child: Child,
}

impl Up {
    /// Starts it. What it prints goes nowhere: a pipe that nobody reads would hold it up.
    fn start(mut command: Command) -> Self {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Up { child: command.spawn().expect("the binary can be started") }
    }

    /// Stops it with SIGTERM and expects it to end well.
    pub(crate) fn stop(self) {
        until("it listens to SIGTERM", || self.listens_to_sigterm());
        self.send(Signal::TERM);
        let status = self.wait();
        assert!(status.success(), "{status}");
    }

    /// Before it does, a SIGTERM ends it like any program.
    fn listens_to_sigterm(&self) -> bool {
        const SIGTERM_BIT: u64 = 1 << 14;
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & SIGTERM_BIT != 0)
    }

    /// Kills it.
    pub(crate) fn kill(self) {
        self.send(Signal::KILL);
        assert_eq!(self.wait().signal(), Some(SIGKILL));
    }

    /// Sends it a signal.
    pub(crate) fn send(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).expect("a process has an id");
        kill_process(pid, signal).expect("a child can be signalled");
    }

    /// Returns its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> ExitStatus {
        let mut status = None;
        until("`regatta up` ended", || {
            status = self.child.try_wait().expect("a child can be asked");
            status.is_some()
        });
        status.expect("it has ended")
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
