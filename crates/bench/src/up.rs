//! A `regatta up` that is measured: the one beside this program.

use crate::error::Error;
use crate::measure::round;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How long it is watched while nothing happens, twice: right after it is ready, and later.
const IDLE_SPAN: Duration = Duration::from_secs(20);

/// A running engine with its server; it ends with this value.
pub(crate) struct Up {
    child: Child,
    /// Kept open, so that a line that it prints later is no error.
    _stdout: BufReader<ChildStdout>,
    ready: Duration,
    cpu_until_ready: f64,
    /// Where its server listens.
    pub(crate) port: u16,
}

impl Up {
    /// Starts it, and waits until its server listens.
    pub(crate) fn start(folder: &Path) -> Result<Self, Error> {
        let regatta = find_regatta()?;
        let mut up = Command::new(&regatta);
        up.arg("-C").arg(folder).args(["--json", "up"]);
        up.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let began = Instant::now();
        let mut child = up.spawn().map_err(Error::io("run", &regatta))?;
        let stdout = child.stdout.take().map(BufReader::new);
        let mut stdout = stdout.ok_or_else(|| wrong("the output of `up`", "nothing"))?;
        match read_port(&mut stdout) {
            Ok(port) => {
                let ready = began.elapsed();
                let cpu_until_ready = cpu_seconds(child.id())?;
                Ok(Up { child, _stdout: stdout, ready, cpu_until_ready, port })
            }
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Returns how long it took until its server listened, in milliseconds.
    pub(crate) fn ready_ms(&self) -> f64 {
        round(self.ready.as_secs_f64() * 1_000.0)
    }

    /// Leaves it alone, and returns how much of a core it used meanwhile.
    pub(crate) fn watch_idle(&self) -> Result<Value, Error> {
        let mut shares = Vec::new();
        let mut before = cpu_seconds(self.child.id())?;
        for _ in 0..2 {
            std::thread::sleep(IDLE_SPAN);
            let now = cpu_seconds(self.child.id())?;
            shares.push(round((now - before) / IDLE_SPAN.as_secs_f64() * 100.0));
            before = now;
        }
        Ok(json!({
            "ready_ms": self.ready_ms(),
            "cpu_until_ready_s": self.cpu_until_ready,
            "first_percent": shares[0],
            "later_percent": shares[1],
            "peak_mb": round(self.memory_kb("VmHWM:")? / 1_024.0),
        }))
    }

    /// Returns a figure of its memory by the kernel's name for it, such as `VmRSS:`, in kilobytes.
    pub(crate) fn memory_kb(&self, name: &str) -> Result<f64, Error> {
        let status = read(&format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        number.ok_or_else(|| wrong("the memory of a program", &status))
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // However the measurement went, it must not stay.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the program that is built beside this one.
pub(crate) fn find_regatta() -> Result<PathBuf, Error> {
    let own = std::env::current_exe().map_err(Error::io("find", "this program"))?;
    let found = own.with_file_name("regatta");
    if found.is_file() { Ok(found) } else { Err(wrong("the program `regatta` beside this one", "nothing")) }
}

/// Returns the token with which programs use the server of a project.
pub(crate) fn find_token(folder: &Path) -> Result<String, Error> {
    let regatta = find_regatta()?;
    let output = Command::new(&regatta).arg("-C").arg(folder).arg("token").output();
    let output = output.map_err(Error::io("run", &regatta))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(wrong("what `regatta token` prints", &String::from_utf8_lossy(&output.stderr))),
    }
}

/// Reads the object with the address, which is printed when the server listens.
fn read_port(stdout: &mut impl BufRead) -> Result<u16, Error> {
    let mut text = String::new();
    loop {
        let before = text.len();
        stdout.read_line(&mut text).map_err(Error::io("read", "the output of `up`"))?;
        let port = serde_json::from_str::<Value>(&text).ok().and_then(|said| said["port"].as_u64());
        if let Some(port) = port.and_then(|port| port.try_into().ok()) {
            return Ok(port);
        }
        if text.len() == before {
            return Err(wrong("what `up` prints", &text));
        }
    }
}

/// Returns how long a process has been on a processor.
fn cpu_seconds(pid: u32) -> Result<f64, Error> {
    /// The kernel counts in this unit, wherever it runs.
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = read(&format!("/proc/{pid}/stat"))?;
    // The name of the program may hold anything, but stands in brackets.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
    match (ticks(11), ticks(12)) {
        (Some(user), Some(system)) => Ok((user + system) / TICKS_PER_SECOND),
        _ => Err(wrong("the time of a process", &text)),
    }
}

fn read(path: &str) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(Error::io("read", path))
}

fn wrong(what: &'static str, found: &str) -> Error {
    let wanted = "what the program prints when all is well".to_owned();
    Error::Wrong { what, found: found.to_owned(), wanted }
}
