//! Runs a program of the project (a set-up command, a check) to its end, under the same rules as an agent.
//!
//! It has no prompt, transcript or result: only how it ended and the end of what it printed.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::process::{Bounds, Cause, Launch, MARKER, Running};
use crate::sandbox::Sandbox;
use crate::session_id::SessionId;
use crate::start::StartError;
use crate::stop::stop_pair;
use crate::tail::Tail;

/// Time between SIGTERM and SIGKILL when the limit is passed: enough to remove lock files.
const GRACE: Duration = Duration::from_secs(5);

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// Its exit code, if it gave one.
    pub exit: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Whether it was ended because it took too long.
    pub timed_out: bool,
    /// The last lines it printed, both streams together.
    pub tail: String,
    /// How long it took.
    pub duration: Duration,
}

/// Runs a program until it, and everything it started, has ended; dropping the future kills them.
///
/// The environment is the allow-list and what is given. A given [`MARKER`] is kept, so that a caller who may
/// crash can find the processes again; otherwise one is made up.
pub async fn run_to_end(
    command: &[String],
    folder: &Path,
    environment: &[(String, String)],
    sandbox: Option<&Sandbox>,
    limit: Duration,
    tail_bytes_max: usize,
) -> Result<RunReport, StartError> {
    run_with_input(command, folder, environment, None, sandbox, limit, tail_bytes_max).await
}

/// The same, with a text for its standard input.
pub async fn run_with_input(
    command: &[String],
    folder: &Path,
    environment: &[(String, String)],
    input: Option<&str>,
    sandbox: Option<&Sandbox>,
    limit: Duration,
    tail_bytes_max: usize,
) -> Result<RunReport, StartError> {
    let started = Instant::now();
    let session = find_marker(environment)?;
    let launch = Launch { session: &session, command, folder, environment, input, sandbox, grace: GRACE };
    let running = Running::start(&launch)?;
    let bounds = Bounds { wall: limit, silence: Duration::MAX };
    let (_stopper, mut never) = stop_pair();
    let mut tail = Tail::new(tail_bytes_max);
    let watched = running.watch(bounds, &mut never, |_, bytes| tail.push(bytes)).await;
    Ok(RunReport {
        exit: watched.status.and_then(|status| status.code()),
        signal: watched.status.and_then(|status| status.signal()),
        timed_out: watched.cause == Cause::Timeout,
        tail: tail.lines(),
        duration: started.elapsed(),
    })
}

fn find_marker(environment: &[(String, String)]) -> Result<SessionId, StartError> {
    static RUNS: AtomicU64 = AtomicU64::new(1);
    let given = environment.iter().rev().find(|(name, _)| name == MARKER);
    let text = match given {
        Some((_, value)) => value.clone(),
        None => format!("run-{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed)),
    };
    SessionId::new(text).map_err(|_| StartError::BadEnvironment { name: MARKER.to_owned() })
}
