//! The list of agent runs that outlives a kill: one line for each, written straight to the page cache.
//!
//! A line is one `write` to a file that is only appended to, so it is there whole or not at all. It is not synced:
//! it has to outlive the process, not the machine.

use crate::error::Error;
use rustix::time::{ClockId, clock_gettime};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

/// Names the file; without it nothing is listed.
const VARIABLE: &str = "EXEC_LOG";

const NANOSECONDS_PER_SECOND: i64 = 1_000_000_000;

/// Where agent runs are listed, if anywhere.
#[derive(Debug, Default)]
pub(crate) struct ExecLog {
    file: Option<File>,
}

impl ExecLog {
    /// Opens the file that the environment names, if it names one.
    pub(crate) fn from_environment() -> Result<Self, Error> {
        let Some(path) = std::env::var_os(VARIABLE).map(PathBuf::from) else { return Ok(Self::default()) };
        let file = OpenOptions::new().append(true).create(true).open(&path);
        Ok(Self { file: Some(file.map_err(Error::io("open", path))?) })
    }

    /// Lists one agent run.
    pub(crate) fn note(&self, key: impl FnOnce() -> String) -> std::io::Result<()> {
        let Some(mut file) = self.file.as_ref() else { return Ok(()) };
        let now = clock_gettime(ClockId::Monotonic);
        let nanoseconds = now.tv_sec * NANOSECONDS_PER_SECOND + now.tv_nsec;
        let line = format!("{} {nanoseconds} {}\n", key(), std::process::id());
        file.write_all(line.as_bytes())
    }
}
