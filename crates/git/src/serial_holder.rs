//! Who holds the serial lock, and how to get it from a suspended process.
//!
//! A process that was suspended in the middle of a change (Ctrl-Z, `kill -STOP`) keeps the lock for as long
//! as it sleeps. The lock must not be taken from it: it may have done half of a change. So it is continued
//! instead. It finishes that change and releases the lock; whatever it would do next is fenced by the
//! engine's lease, which another process holds by then.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::MetadataExt;

use rustix::process::{Pid, Signal, kill_process};

/// A process that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// Its process id.
    pub pid: i32,
    /// What it was started with.
    pub command: String,
    /// Whether it is suspended, so that it will not release the lock on its own.
    pub is_stopped: bool,
}

impl LockHolder {
    /// Finds the process that holds a lock on a file, as far as the kernel names one of this PID namespace.
    pub(crate) fn find(file: &File) -> Option<Self> {
        let inode = file.metadata().ok()?.ino();
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        let pids = locks.lines().filter_map(|line| parse(line, inode));
        pids.filter_map(Self::look_at).find(|holder| holder.has_open(file))
    }

    /// Continues it.
    pub(crate) fn wake(&self) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            // It may have ended just now, or belong to somebody else; then there is nothing to be done about it.
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    fn look_at(pid: i32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything, so fields are counted after its end.
        let state = stat.rsplit_once(')')?.1.trim_start().chars().next()?;
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        Some(LockHolder { pid, command: words.join(" ").trim_end().to_owned(), is_stopped: state == 'T' })
    }

    /// Tells whether it has this very file open: the number of a file is unique on its disk only.
    fn has_open(&self, file: &File) -> bool {
        let Ok(own) = file.metadata() else { return false };
        let Ok(entries) = std::fs::read_dir(format!("/proc/{}/fd", self.pid)) else { return false };
        let opened = entries.flatten().filter_map(|entry| std::fs::metadata(entry.path()).ok());
        opened.into_iter().any(|other| (other.dev(), other.ino()) == (own.dev(), own.ino()))
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_stopped { ", which is stopped" } else { "" };
        write!(out, "process {} (`{}`){state}", self.pid, self.command)
    }
}

/// Reads a line such as `2: FLOCK  ADVISORY  WRITE 26269 fe:00:5742620 0 EOF`.
fn parse(line: &str, inode: u64) -> Option<i32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, _, pid, file, ..] = words.as_slice() else { return None };
    let is_this = file.rsplit(':').next()?.parse() == Ok(inode);
    pid.parse().ok().filter(|pid| is_this && *pid > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_names_the_holder() {
        let line = "2: FLOCK  ADVISORY  WRITE 26269 fe:00:5742620 0 EOF";
        assert_eq!(parse(line, 5_742_620), Some(26_269));
        assert_eq!(parse(line, 5_742_621), None);
        assert_eq!(parse("2: -> FLOCK  ADVISORY  WRITE 26269 fe:00:5742620 0 EOF", 5_742_620), None);
        assert_eq!(parse("3: POSIX  ADVISORY  WRITE 26269 fe:00:5742620 0 EOF", 5_742_620), None);
        assert_eq!(parse("3: FLOCK  ADVISORY  WRITE 0 fe:00:5742620 0 EOF", 5_742_620), None);
    }
}
