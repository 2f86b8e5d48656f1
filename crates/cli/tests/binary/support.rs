//! Projects with agents to test with, transcripts of what was typed and printed, and the way to a snapshot.

use regatta_testkit::binary::{Outcome, TestProject};
use regatta_testkit::wait::until;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// The binary under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_regatta");

/// Agents that do ordinary work (`worker`, `helper`) or break off after it (`breaker`).
pub(crate) const AGENTS: &str = r#"
[agents.worker]
kind = "scripted"
script = ".regatta/scripts/worker.toml"

[agents.helper]
kind = "scripted"
script = ".regatta/scripts/worker.toml"

[agents.breaker]
kind = "scripted"
script = ".regatta/scripts/breaker.toml"
"#;

const WORKER: &str = r#"
[[session]]
turns = 2
step = [
    { say = "session ${session}" },
    { write = { path = "task-${task}.txt", text = "session ${session}\n" } },
    { result = { summary = "task-${task}.txt is written" } },
]
"#;

const BREAKER: &str = r#"
[[session]]
step = [{ write = { path = "task-${task}.txt", text = "half of it\n" } }, { fault = "crash" }]
"#;

/// Makes a project with the agents of [`AGENTS`], after the lines of the config in `settings`.
pub(crate) fn with_agents(settings: &str) -> TestProject {
    let project = TestProject::new(PROGRAM, &format!("{settings}\n{AGENTS}"));
    project.repo.write(".regatta/scripts/worker.toml", WORKER);
    project.repo.write(".regatta/scripts/breaker.toml", BREAKER);
    project
}

/// Makes a project with one agent, `shell`, that runs a shell script; `more` ends the config.
pub(crate) fn with_shell(script: &str, more: &str) -> TestProject {
    let config =
        format!("[agents.shell]\nkind = \"command\"\ncommand = ['sh', '-c', '''{script}''']\n{more}");
    TestProject::new(PROGRAM, &config)
}

/// Adds a task and returns its number as it is written on the command line.
pub(crate) fn add(project: &TestProject, title: &str) -> String {
    project.json(&["task", "add", title])["id"].to_string()
}

/// Adds a task for each title.
pub(crate) fn add_all(project: &TestProject, titles: &[&str]) {
    for title in titles {
        add(project, title);
    }
}

/// Adds a task and has the agent do it, whatever comes of it.
pub(crate) fn add_and_assign(project: &TestProject, title: &str, agent: &str) -> String {
    let task = add(project, title);
    project.run(&["task", "assign", &task, "--agent", agent]);
    task
}

/// Returns one field of a task.
pub(crate) fn field(project: &TestProject, task: &str, name: &str) -> Value {
    project.json(&["task", "show", task])[name].clone()
}

/// Waits until a task rests in a column: the next move is nobody's but the user's, and its agent is free again.
pub(crate) fn until_in(project: &TestProject, task: &str, column: &str) {
    until(&format!("#{task} rests in {column}"), || {
        let shown = project.json(&["task", "show", task]);
        shown["column"] == column && shown["owner"] == "you"
    });
}

/// Returns the kinds of the events from a number on.
pub(crate) fn kinds_from(project: &TestProject, seq: usize) -> Vec<String> {
    let events = project.json(&["events", "--from", &seq.to_string()]);
    let kind = |event: &Value| event["type"].as_str().expect("an event has a type").to_owned();
    events.as_array().expect("events are a list").iter().map(kind).collect()
}

/// Counts the events in the log.
pub(crate) fn count_events(project: &TestProject) -> usize {
    project.json(&["events"]).as_array().expect("events are a list").len()
}

/// Reads a file that a test's agent writes, once it is there and ends with a newline.
pub(crate) fn read_when_written(path: &Path) -> String {
    let mut text = String::new();
    until(&format!("{} is written", path.display()), || {
        text = std::fs::read_to_string(path).unwrap_or_default();
        text.ends_with('\n')
    });
    text
}

/// Tells whether a process lives; a zombie has ended.
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// What was typed and what came of it, as text for a snapshot.
///
/// Lines of stderr begin with `!`; the exit code is shown unless it is 0.
pub(crate) struct Transcript<'a> {
    project: &'a TestProject,
    text: String,
}

impl<'a> Transcript<'a> {
    pub(crate) fn new(project: &'a TestProject) -> Self {
        Transcript { project, text: String::new() }
    }

    /// Runs the binary, writes down what came of it, and returns it.
    pub(crate) fn run(&mut self, arguments: &[&str]) -> Outcome {
        let outcome = self.project.run(arguments);
        self.write(&shown(arguments), &outcome);
        outcome
    }

    /// Writes down the outcome of a run that was made elsewhere.
    pub(crate) fn write(&mut self, title: &str, outcome: &Outcome) {
        let _ = write!(self.text, "$ regatta {title}\n{}", outcome.stdout);
        for line in outcome.stderr.lines() {
            self.text.push_str(if line.is_empty() { "!" } else { "! " });
            self.text.push_str(line);
            self.text.push('\n');
        }
        if outcome.code != Some(0) {
            let _ = writeln!(self.text, "[exit {}]", outcome.code.map_or(-1, |code| code));
        }
        self.text.push('\n');
    }

    /// Leaves out lines that can stand at several places, because what they tell of happens beside the rest.
    pub(crate) fn leave_out(&mut self, part: &str) {
        self.text = self.text.split_inclusive('\n').filter(|line| !line.contains(part)).collect();
    }

    /// Adds a line of the test's own.
    pub(crate) fn note(&mut self, line: &str) {
        let _ = writeln!(self.text, "# {line}");
    }

    /// Compares everything with the snapshot of this name.
    pub(crate) fn check(self, name: &str) {
        check(self.project, name, &self.text);
    }
}

/// Returns the arguments in one line, quoted where a reader would not see where one ends.
fn shown(arguments: &[&str]) -> String {
    let is_plain = |word: &str| {
        !word.is_empty() && !word.contains(|letter: char| letter.is_whitespace() || letter.is_control())
    };
    let words =
        arguments.iter().map(|word| if is_plain(word) { (*word).to_owned() } else { format!("{word:?}") });
    words.collect::<Vec<_>>().join(" ")
}

/// Compares a text with a snapshot, after hiding what differs from run to run.
pub(crate) fn check(project: &TestProject, name: &str, text: &str) {
    let text = text.replace(&project.path().display().to_string(), "<project>");
    let text = text.replace(&project.repo.outside().display().to_string(), "<outside>");
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (pattern, replacement) in [
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<uuid>"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
        (r"\bp[0-9a-f]{12}-task", "<project-mark>-task"),
        (r"index [0-9a-f]{7,}\.\.[0-9a-f]{7,}", "index <blob>..<blob>"),
        (r"\b[0-9a-f]{64}\b", "<digest>"),
        (r"\b[0-9a-f]{40}\b", "<commit>"),
        (r"\b[0-9a-f]{10}\b", "<commit>"),
        (r"(in|after) \d+\.\d s\b", "$1 <seconds>"),
        (r"\b\d+\.\d s in \d+ session", "<seconds> in <count> session"),
        (r#""milliseconds": ?\d+"#, r#""milliseconds": <count>"#),
        (r#""day": ?"[-\d]+""#, r#""day": "<day>""#),
        (r"(?m)^(  (?:log|transcripts|homes|caches|review refs|salvages|total)) +\d+.*$", "$1 <weight>"),
        (r"process \d+ on \S+", "process <pid> on <host>"),
        (r"`kill \d+`", "`kill <pid>`"),
        (r"http://[-a-z0-9]+\.localhost:\d+/", "<address>"),
        (r"regatta \d+\.\d+\.\d+", "regatta <version>"),
    ] {
        settings.add_filter(pattern, replacement);
    }
    settings.bind(|| insta::assert_snapshot!(name, text));
}
