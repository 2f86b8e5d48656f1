//! A project with one hostile agent, and ways to see what became of it.

use regatta_testkit::binary::{Outcome, TestProject};
use regatta_testkit::repo::TestRepo;
use regatta_testkit::wait::until;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_regatta");

/// How an agent is shut in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walls {
    Sandbox,
    None,
}

/// A project with one task for one agent, `hostile`, that runs a shell script.
pub(crate) struct Attack {
    pub(crate) project: TestProject,
}

impl Attack {
    pub(crate) fn new(walls: Walls, script: &str, limits: &str) -> Attack {
        let mode = if walls == Walls::Sandbox { "required" } else { "off" };
        let config = format!(
            "[sandbox]\nmode = \"{mode}\"\n[agents.hostile]\nkind = \"command\"\nlimits = {{ {limits} }}\n\
             command = ['sh', '-c', '''{script}''']\n[agents.idle]\nkind = \"command\"\ncommand = ['sh', '-c', 'true']\n"
        );
        Self::on(TestProject::new(PROGRAM, &config))
    }

    /// Makes one in a repository that keeps its refs in this format.
    pub(crate) fn in_repository(format: &str, walls: Walls, script: &str) -> Attack {
        let mode = if walls == Walls::Sandbox { "required" } else { "off" };
        let config = format!(
            "[sandbox]\nmode = \"{mode}\"\n[agents.hostile]\nkind = \"command\"\ncommand = ['sh', '-c', \'\'\'{script}\'\'\']\n"
        );
        let argument = format!("--ref-format={format}");
        let arguments: &[&str] = if format == "files" { &[] } else { &[&argument] };
        Self::on(TestProject::in_repository(PROGRAM, TestRepo::with_init_arguments(arguments), &config))
    }

    fn on(project: TestProject) -> Attack {
        project.json(&["task", "add", "a task"]);
        Attack { project }
    }

    /// A sandboxed agent of a kind; for one that is a known program, a script is put in its place.
    pub(crate) fn of_kind(kind: &str, script: &str) -> Attack {
        let attack = Attack::with_entry("command = ['true']");
        let program = attack.outside().join("programs").join(kind);
        std::fs::create_dir_all(attack.outside().join("programs")).expect("a folder");
        // One that speaks ACP keeps its input open until it is answered.
        let hear = if kind == "acp" { "" } else { "cat > /dev/null\n" };
        regatta_testkit::repo::write_program(&program, &format!("{hear}{script}"));
        let entry = format!("[agents.hostile]\nkind = \"{kind}\"\ncommand = ['{}']\n", program.display());
        let config = attack.project.path().join(".regatta/config.toml");
        let text = std::fs::read_to_string(&config).expect("a config");
        let old = "[agents.hostile]\nkind = \"command\"\ncommand = ['true']\n";
        assert!(text.contains(old), "{text}");
        std::fs::write(&config, text.replace(old, &entry)).expect("a config");
        attack.project.repo.commit("an agent");
        attack
    }

    /// A sandboxed agent, by the lines of its entry.
    pub(crate) fn with_entry(entry: &str) -> Attack {
        let config = format!(
            "[limits]\nretries = 0\n[sandbox]\nmode = \"required\"\n[agents.hostile]\nkind = \"command\"\n{entry}\n"
        );
        let project = TestProject::new(PROGRAM, &config);
        project.json(&["task", "add", "a task"]);
        Attack { project }
    }

    /// Lets the agent do its worst, and returns what the verb said.
    pub(crate) fn run(&self) -> Outcome {
        self.project.run(&["task", "assign", "1", "--agent", "hostile"])
    }

    pub(crate) fn task(&self) -> Value {
        self.project.json(&["task", "show", "1"])
    }

    /// Returns the kinds of all events.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let kind = |event: &Value| event["type"].as_str().expect("an event has a type").to_owned();
        self.all_events().iter().map(kind).collect()
    }

    /// Returns the events of one kind.
    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        self.all_events().into_iter().filter(|event| event["type"] == kind).collect()
    }

    fn all_events(&self) -> Vec<Value> {
        let events = self.project.json(&["events"]);
        events.as_array().expect("events are a list").clone()
    }

    /// Returns the code of the task's error and the class of the failed session.
    pub(crate) fn error(&self) -> (String, String) {
        let error = self.task()["error"].clone();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&error["code"]), text(&error["details"]["class"]))
    }

    /// Shows that the board is unharmed: the log adds up, and the task can be cancelled and taken up again.
    pub(crate) fn assert_unharmed(&self) {
        let project = &self.project;
        let healthy = project.run(&["doctor"]);
        assert_eq!(healthy.code, Some(0), "{healthy:?}");
        if self.task()["column"] != "backlog" && self.task()["column"] != "verified" {
            let cancelled = project.run(&["task", "cancel", "1"]);
            assert_eq!(cancelled.code, Some(0), "{cancelled:?}");
        }
        assert_eq!(project.run(&["doctor"]).code, Some(0));
        assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
    }

    pub(crate) fn outside(&self) -> &Path {
        self.project.repo.outside()
    }
}

/// Tells whether bubblewrap works here, and says so plainly where it does not.
pub(crate) fn has_sandbox() -> bool {
    let words = ["--ro-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "true"];
    let works = Command::new("bwrap").args(words).output().is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("not tested: bubblewrap does not work here");
    }
    works
}

/// The ways to run an agent that can be tested here.
pub(crate) fn walls() -> Vec<Walls> {
    let sandbox = has_sandbox().then_some(Walls::Sandbox);
    sandbox.into_iter().chain([Walls::None]).collect()
}

/// Runs the agent, and returns what the verb said and the most memory that the engine ever took, in bytes.
pub(crate) fn run_measured(attack: &Attack) -> (Outcome, u64) {
    let mut running = attack.project.start(&["task", "assign", "1", "--agent", "hostile"]);
    let status = format!("/proc/{}/status", running.pid());
    let mut peak = 0;
    until("the session has ended", || {
        peak = peak.max(peak_bytes(&status).unwrap_or_default());
        !running.is_running()
    });
    (running.wait(), peak)
}

fn peak_bytes(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Counts the living processes whose command line holds a text.
pub(crate) fn count_processes(marker: &str) -> usize {
    let holds = |path: &Path| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        line.windows(marker.len()).any(|window| window == marker.as_bytes())
    };
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").expect("processes can be listed").flatten();
    entries.filter(|entry| entry.file_name() != *own).filter(|entry| holds(&entry.path())).count()
}

/// Fails if a text has anything that a terminal would obey.
pub(crate) fn assert_harmless(text: &str) {
    let bad = text.chars().find(|character| character.is_control() && !"\n\t".contains(*character));
    assert_eq!(bad, None, "{text:?}");
}
