//! Who holds the engine's lease, and whether that process is still alive.
//!
//! A process of the same boot and the same PID namespace can be looked up, so that the lease of a killed engine
//! is free at once. Of any other, only the expiry of its lease tells.

use crate::runtime::scope::Own;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A process, described well enough to tell it from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// When it started, in the kernel's ticks since the boot.
    started: Option<u64>,
    /// The machine's boot and the PID namespace.
    place: Option<String>,
    /// The machine's name.
    pub host: String,
    /// What it was called with.
    pub command: String,
    /// When it took the lease.
    pub since: Timestamp,
    /// The tasks and runs that it works for; nothing if it performs everything, as `regatta up` does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Own>,
}

impl Holder {
    /// Describes this process.
    pub(crate) fn this(now: Timestamp, own: Option<Own>) -> Self {
        let pid = std::process::id();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let command = std::env::args().skip(1).take(3).collect::<Vec<_>>().join(" ");
        Holder { pid, started: started(pid), place: place(), host, command, since: now, own }
    }

    /// Tells whether the process has surely ended.
    pub(crate) fn is_dead(&self) -> bool {
        let Some(started_then) = self.started else { return false };
        if self.place.is_none() || self.place != place() {
            return false;
        }
        started(self.pid) != Some(started_then)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "process {} on {} (`regatta {}`, since {})",
            self.pid, self.host, self.command, self.since
        )
    }
}

/// Returns field 22 of `/proc/<pid>/stat`; a zombie has ended.
fn started(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, so fields are counted after its end.
    let after_name = stat.rsplit_once(')')?.1;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    if state == "Z" || state == "X" {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

fn place() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_a_later_one_is_another() {
        let this = Holder::this(Timestamp::UNIX_EPOCH, None);
        assert!(!this.is_dead());
        let earlier = Holder { started: this.started.map(|ticks| ticks - 1), ..this.clone() };
        assert!(earlier.is_dead());
        let elsewhere = Holder { place: Some("another boot".to_owned()), ..earlier };
        assert!(!elsewhere.is_dead());
    }
}
