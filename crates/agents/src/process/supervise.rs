//! A process between the engine and a program that has no sandbox: whatever the program starts stays below it.
//!
//! ```text
//!   engine ── supervisor ── program ── child ── grandchild
//!                 └─────────────────────────── grandchild whose parent ended: the kernel hands it to the supervisor
//! ```
//!
//! It is this same binary under a hidden name, with the session's marker in its environment. It ends when the program has
//! ended and everything below it with it, and then as the program did. Killed, it leaves what the marker finds.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait};

use super::end::end_tree;
use super::tree::Tree;

/// What a shell answers for a program that cannot be started.
const NOT_STARTED: u8 = 127;

static SUPERVISOR: OnceLock<Vec<OsString>> = OnceLock::new();

/// Says how a supervisor is started: a program that calls [`supervise`] with the words after these.
pub fn set_supervisor(command: Vec<OsString>) {
    // An earlier call has set the same: there is one binary.
    let _ = SUPERVISOR.set(command);
}

/// Puts a supervisor around a command, where this process can start one.
pub(super) fn wrap(command: Vec<OsString>, grace: Duration) -> Option<Vec<OsString>> {
    let supervisor = SUPERVISOR.get()?;
    let grace = OsString::from(grace.as_millis().to_string());
    Some(supervisor.iter().cloned().chain([grace]).chain(command).collect())
}

/// Runs a program as its supervisor: the words are its grace in milliseconds, the program and its arguments.
pub fn supervise(words: &[OsString]) -> ExitCode {
    let [grace, program, arguments @ ..] = words else { return ExitCode::from(NOT_STARTED) };
    let grace =
        grace.to_str().and_then(|text| text.parse().ok()).map_or(Duration::ZERO, Duration::from_millis);
    // Without it the program still runs, and is found by its marker.
    let _ = set_child_subreaper(Some(getpid()));
    let child = match Command::new(program).args(arguments).spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("{}: {error}", program.display());
            return ExitCode::from(NOT_STARTED);
        }
    };
    let status = i32::try_from(child.id()).ok().and_then(Pid::from_raw).and_then(wait_for);
    end_all_below(grace);
    status.map_or(ExitCode::FAILURE, end_as)
}

/// Waits for one child and reaps all others that end meanwhile.
fn wait_for(child: Pid) -> Option<ExitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child => return Some(ExitStatus::from_raw(status.as_raw())),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

fn end_all_below(grace: Duration) {
    // Most programs leave nothing behind, and a runtime is not made for nothing.
    if Tree::below_this_process().find_alive().is_empty() {
        return;
    }
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() {
        // What cannot be killed is named by the engine, which looks as well.
        let _ = runtime.block_on(end_tree(Tree::below_this_process(), grace));
    }
}

/// Ends as the program did, so that the waiting process sees the same status.
fn end_as(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        // Twice: the standard library has a handler for faults, which only takes itself away at the first.
        let _ = kill_process(getpid(), signal);
        let _ = kill_process(getpid(), signal);
    }
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}
