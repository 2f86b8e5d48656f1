//! The list of agent runs that outlives a kill: one line for each, written straight to the page cache.
//!
//! A line is one `write` to a file that is only appended to. A kill can still cut it at a page boundary of
//! the file, so a process that opens the list terminates such a line first, and a line of fewer than three
//! words is ignored. The file is not synced: it has to outlive the process, not the machine.

use crate::error::Error;
use rustix::time::{ClockId, clock_gettime};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

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
        let file = open_list(&path).map_err(Error::io("open", path))?;
        Ok(Self { file: Some(file) })
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

/// Opens the list, and ends the line that a killed process left unended.
fn open_list(path: &Path) -> std::io::Result<File> {
    let mut file = OpenOptions::new().append(true).create(true).read(true).open(path)?;
    let mut last = [0];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if !matches!(last, [0 | b'\n']) {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_is_ended_and_a_whole_one_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        for (before, after) in [("", ""), ("s 1 2\n", "s 1 2\n"), ("s 1 2\nc:T0", "s 1 2\nc:T0\n")] {
            std::fs::write(&path, before).unwrap();
            open_list(&path).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        }
    }
}
