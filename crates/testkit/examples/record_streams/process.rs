//! A program that runs in a sealed environment, with a limit on time; its whole process group ends with it.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How often a running program is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The lines of standard error that are kept.
const STDERR_LINES_MAX: usize = 20;

/// The characters of such a line that are kept: some programs show the line of their packed source that failed.
const STDERR_LINE_MAX: usize = 200;

/// What a program is started with.
pub(crate) struct Start<'a> {
    pub(crate) command: &'a [String],
    pub(crate) environment: &'a [(String, String)],
    pub(crate) folder: &'a Path,
}

/// A program that was started.
pub(crate) struct Running {
    pub(crate) child: Child,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

/// How a program ended.
pub(crate) struct Ended {
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stderr: String,
}

impl Start<'_> {
    pub(crate) fn spawn(&self, stdin: Stdio) -> Running {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).current_dir(self.folder).env_clear();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().expect("the program can be started");
        let stderr = child.stderr.take().map(read_all);
        Running { child, stderr }
    }
}

impl Running {
    /// Waits for its end, and ends it when that takes too long.
    pub(crate) fn wait(mut self, limit: Duration) -> Ended {
        let begin = Instant::now();
        let mut status = None;
        while status.is_none() && begin.elapsed() < limit {
            status = self.child.try_wait().expect("a child can be asked");
            std::thread::sleep(LOOK_EVERY);
        }
        // Also what it left behind is ended: the group is the program's own.
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
        let stderr = self.stderr.take().map(|reader| reader.join().expect("the reader does not panic"));
        Ended { status, stderr: String::from_utf8_lossy(&stderr.unwrap_or_default()).into_owned() }
    }
}

impl Ended {
    /// Returns what the notes beside a fixture say of the end.
    pub(crate) fn describe(&self) -> Value {
        let cut = |line: &str| line.chars().take(STDERR_LINE_MAX).collect::<String>();
        let lines: Vec<String> = self.stderr.lines().map(cut).collect();
        json!({
            "exitCode": self.status.and_then(|status| status.code()),
            "signal": self.status.and_then(|status| status.signal()),
            "timedOut": self.status.is_none(),
            "stderr": lines[lines.len().saturating_sub(STDERR_LINES_MAX)..],
        })
    }
}

/// Reads a stream to its end on a thread of its own.
pub(crate) fn read_all(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}
