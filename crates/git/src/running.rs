//! A running git, and how it is stopped.
//!
//! It is asked to end before it is killed: git removes its lock files and half-made worktrees when it is
//! asked to end, and leaves them behind when it is killed. The signal goes to the whole process group, since
//! git starts helpers of its own.

use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

/// Removing what it has half made takes git well under this.
const GRACE: Duration = Duration::from_secs(5);

/// A started git; dropped before it has ended, it is stopped.
pub(crate) struct Running {
    /// Nothing once it was waited for: its number may then be given to others.
    child: Option<Child>,
    /// The process group it leads.
    pub(crate) group: Option<Pid>,
}

impl Running {
    pub(crate) fn new(child: Child) -> Self {
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { child: Some(child), group }
    }

    pub(crate) fn take_pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        match &mut self.child {
            Some(child) => (child.stdin.take(), child.stdout.take(), child.stderr.take()),
            None => (None, None, None),
        }
    }

    /// Waits for the end; must be called once.
    pub(crate) async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        let Some(child) = &mut self.child else { return Err(std::io::ErrorKind::NotFound.into()) };
        let status = child.wait().await?;
        self.child = None;
        Ok(status)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let group = self.group;
        signal(group, Signal::TERM);
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
                    signal(group, Signal::KILL);
                    let _ = child.wait().await;
                }
            })),
            Err(_) => signal(group, Signal::KILL),
        }
    }
}

/// Sends a signal to a group, which may have just ended.
pub(crate) fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        let _ = kill_process_group(group, signal);
    }
}
