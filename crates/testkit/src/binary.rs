//! A runner for the binary: a sealed environment, a limit on time, and what came out.
//!
//! The home is empty, the user is called `tester`, and nothing of the developer's environment is passed on but
//! `PATH`.

use crate::repo::TestRepo;
use crate::wait::WAIT_MAX;
use serde_json::Value;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// A project in a throwaway repository, and the binary to run in it.
#[derive(Debug)]
pub struct TestProject {
    /// The repository.
    pub repo: TestRepo,
    program: PathBuf,
    variables: Vec<(String, String)>,
}

/// The result of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it printed as errors and progress.
    pub stderr: String,
}

/// A program that is still running.
#[derive(Debug)]
pub struct Running {
    child: Child,
    arguments: String,
}

impl TestProject {
    /// Makes a repository with a project whose config is `config`, and commits both.
    ///
    /// Unless the config speaks of retries there are none: a test of one failure should not wait for three more. Unless
    /// it speaks of the sandbox there is none: agents of tests leave notes outside of their worktree.
    pub fn new(program: &str, config: &str) -> Self {
        Self::in_repository(program, TestRepo::new(), config)
    }

    /// Makes a project like [`Self::new`] in a repository that is there already.
    pub fn in_repository(program: &str, repo: TestRepo, config: &str) -> Self {
        let project = Self::around(program, repo);
        let made = project.run(&["init"]);
        assert_eq!(made.code, Some(0), "{made:?}");
        project.repo.write(".regatta/config.toml", &without_sandbox(&without_retries(config)));
        project.repo.commit("the project");
        project
    }

    /// Makes a repository with no project.
    pub fn without_init(program: &str) -> Self {
        Self::around(program, TestRepo::new())
    }

    fn around(program: &str, repo: TestRepo) -> Self {
        std::fs::create_dir(repo.outside().join("home")).expect("the home can be made");
        TestProject { repo, program: PathBuf::from(program), variables: Vec::new() }
    }

    /// Sets a variable for all further runs.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Returns the checkout.
    pub fn path(&self) -> &Path {
        self.repo.path()
    }

    /// Returns the folder of the log, in the git folder.
    pub fn home(&self) -> PathBuf {
        self.path().join(".git/regatta")
    }

    /// Returns the log.
    pub fn log(&self) -> PathBuf {
        self.home().join("log.db")
    }

    /// Returns the transcript of a session.
    pub fn session_transcript(&self, task: u64, session: u64) -> PathBuf {
        self.home().join(format!("sessions/task-{task}-session-{session}.jsonl"))
    }

    /// Returns a command for the binary in the sealed environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.path()).env_clear();
        command.env("HOME", self.repo.outside().join("home")).env("USER", "tester");
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        self.start(arguments).wait()
    }

    /// Runs it with a variable of its own to its end.
    pub fn run_with(&self, name: &str, value: &str, arguments: &[&str]) -> Outcome {
        let mut command = self.command(arguments);
        command.env(name, value);
        Running::spawn(command, arguments).wait()
    }

    /// Starts it.
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::spawn(self.command(arguments), arguments)
    }

    /// Runs it with `--json`, expects it to succeed, and returns what it printed.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let outcome = self.run(&[&["--json"], arguments].concat());
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {outcome:?}");
        serde_json::from_str(&outcome.stdout).expect("stdout is one JSON document")
    }

    /// Runs it with `--json`, expects it to be refused, and returns the error.
    pub fn refusal(&self, arguments: &[&str]) -> Value {
        let outcome = self.run(&[&["--json"], arguments].concat());
        assert_eq!(outcome.code, Some(1), "{arguments:?}: {outcome:?}");
        assert_eq!(outcome.stdout, "", "{arguments:?} prints data though it is refused");
        let error: Value = serde_json::from_str(&outcome.stderr).expect("stderr is one JSON document");
        error["error"].clone()
    }
}

impl Running {
    fn spawn(mut command: Command, arguments: &[&str]) -> Self {
        let child = command.spawn().expect("the binary can be started");
        Running { child, arguments: arguments.join(" ") }
    }

    /// Returns its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells whether it is still running.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_none()
    }

    /// Ends it with SIGKILL and waits.
    pub fn kill(mut self) -> Outcome {
        let _ = self.child.kill();
        self.wait()
    }

    /// Waits for its end, and panics when that takes too long.
    pub fn wait(mut self) -> Outcome {
        let stdout = read_all(self.child.stdout.take());
        let stderr = read_all(self.child.stderr.take());
        let begin = Instant::now();
        let mut is_late = false;
        crate::wait::until(&format!("`regatta {}` ended", self.arguments), || {
            // Killed a little before the limit, so that the message shows what it had printed.
            if !is_late && begin.elapsed() > WAIT_MAX.mul_f32(0.9) {
                is_late = true;
                let _ = self.child.kill();
            }
            self.child.try_wait().expect("a child can be asked").is_some()
        });
        let status = self.child.wait().expect("a child can be waited for");
        let text = |reader: std::thread::JoinHandle<Vec<u8>>| {
            String::from_utf8_lossy(&reader.join().expect("the reader does not panic")).into_owned()
        };
        let outcome = Outcome {
            code: status.code(),
            signal: status.signal(),
            stdout: text(stdout),
            stderr: text(stderr),
        };
        assert!(!is_late, "`regatta {}` did not end: {outcome:?}", self.arguments);
        outcome
    }
}

impl Drop for Running {
    /// A test that fails leaves nothing running.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn read_all(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn without_retries(config: &str) -> String {
    const TABLE: &str = "[limits]\n";
    if config.contains("retries") {
        return config.to_owned();
    }
    if config.contains(TABLE) {
        return config.replacen(TABLE, "[limits]\nretries = 0\n", 1);
    }
    format!("{}\n\n{TABLE}retries = 0\n", config.trim_end())
}

fn without_sandbox(config: &str) -> String {
    if config.contains("[sandbox]") {
        return config.to_owned();
    }
    format!("{}\n\n[sandbox]\nmode = \"off\"\n", config.trim_end())
}
