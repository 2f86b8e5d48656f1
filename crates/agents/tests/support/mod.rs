//! A throwaway place to run sessions in, and ways to wait for what they do.
#![allow(dead_code, unused_imports, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub(crate) use regatta_testkit::wait::until_async as until;

use regatta_agents::{
    Ended, Failure, Limits, Outcome, Output, Permissions, Program, ResultIs, Sandboxing, Script, Session,
    SessionId, Start,
};

/// Longest wait for anything; passing it fails the test.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(30);

/// A temporary folder with a working folder in it.
pub(crate) struct Place {
    temporary: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let temporary = tempfile::tempdir().unwrap();
        std::fs::create_dir(temporary.path().join("work")).unwrap();
        Place { temporary }
    }

    pub(crate) fn root(&self) -> &Path {
        self.temporary.path()
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.root().join("work")
    }

    pub(crate) fn start(&self, program: Program) -> Start {
        let environment = [
            ("HOME", self.root().to_str().unwrap()),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ];
        Start {
            session: session_id("test"),
            number: 1,
            item: None,
            result_is: ResultIs::Report,
            program,
            folder: self.folder(),
            prompt: "do it".to_owned(),
            environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            variables: BTreeMap::from([("title".to_owned(), "world".to_owned())]),
            model: None,
            resume: None,
            resumed_usage: None,
            tools: None,
            permissions: Permissions::default(),
            asker: None,
            secrets: Vec::new(),
            tokens: Vec::new(),
            sandbox: None,
            home: None,
            private: self.root().to_owned(),
            transcript: self.root().join("sessions/transcript.jsonl"),
            limits: Limits { grace: Duration::from_millis(200), ..Limits::default() },
        }
    }

    pub(crate) fn shell(&self, script: &str) -> Start {
        self.start(Program::Command(words(&["sh", "-c", script])))
    }

    pub(crate) fn script(&self, script: &str) -> Start {
        self.start(Program::Scripted(Script::parse(script).unwrap()))
    }

    /// Returns the lines of the transcript as `stream: text`.
    pub(crate) fn transcript(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.root().join("sessions/transcript.jsonl")).unwrap();
        let show = |line: &str| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            format!("{}: {}", value["stream"].as_str().unwrap(), value["text"].as_str().unwrap_or_default())
        };
        text.lines().map(show).collect()
    }
}

/// Makes an id that no other test uses.
pub(crate) fn session_id(prefix: &str) -> SessionId {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    SessionId::new(format!("{prefix}-{}-{count}", std::process::id())).unwrap()
}

pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Runs a session to its end and returns all it said.
pub(crate) async fn run(start: Start) -> (Vec<Output>, Ended) {
    let mut session = regatta_agents::start(start).await.unwrap();
    let mut outputs = Vec::new();
    while let Some(output) = within(session.next()).await {
        outputs.push(output);
    }
    (outputs, within(session.wait()).await)
}

pub(crate) fn failure(ended: Ended) -> Failure {
    match ended.outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("expected a failure, got {other}"),
    }
}

pub(crate) fn text_of(outputs: &[Output]) -> String {
    let text = |output: &Output| match output {
        Output::Text(text) => Some(text.clone()),
        _ => None,
    };
    outputs.iter().filter_map(text).collect()
}

/// Reads text until a whole line is there, and returns it as a process id.
pub(crate) async fn read_pid(session: &mut Session) -> u32 {
    let mut text = String::new();
    while !text.contains('\n') {
        match within(session.next()).await {
            Some(Output::Text(more)) => text += &more,
            other => panic!("expected a process id, got {other:?} after {text:?}"),
        }
    }
    text.lines().next().unwrap().trim().parse().unwrap()
}

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(WAIT_MAX, future).await.expect("took too long")
}

/// Tells whether a process lives; a zombie does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']),
        Err(_) => false,
    }
}

/// Tells whether bubblewrap works here, and says so plainly where it does not.
pub(crate) async fn has_sandbox() -> bool {
    match regatta_agents::probe().await {
        Sandboxing::Works { .. } => true,
        Sandboxing::Missing { why, next } => {
            eprintln!("not tested: {why} ({next})");
            false
        }
    }
}

/// Returns the most memory that this process ever had.
#[cfg(target_os = "linux")]
pub(crate) fn peak_memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
