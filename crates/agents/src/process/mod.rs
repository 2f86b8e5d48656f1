//! Starts programs so that everything they start can be found and ended again.
//!
//! Each program gets a process group of its own and the marker variable [`MARKER`]. The tree of a session is its
//! group, all descendants, and every process whose environment holds the marker: so a child that left the group
//! or lost its parent is still found, also by an engine that was started later. No pid file is kept, because a
//! number alone may by then belong to somebody else. A program that has no sandbox runs below a supervisor (`supervise`), to
//! which the kernel hands whatever lost its parent: so a child that forked twice and cleaned its environment is found too. In a sandbox the program has a PID namespace too, which the kernel
//! ends with its first process; its processes are seen from outside all the same.

mod child;
mod end;
mod environment;
mod program;
#[cfg(target_os = "linux")]
mod supervise;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(not(target_os = "linux"))]
#[path = "tree_group.rs"]
mod tree;

pub use end::{StillAlive, end_leftovers};
#[cfg(target_os = "linux")]
pub use supervise::{set_supervisor, supervise};
pub use tree::{find_leftovers, list_environments_above};

pub(crate) use child::{Bounds, Cause, Launch, Running, Stream, Watched};

use crate::session_id::SessionId;

/// What is started around a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    Sandbox,
    Supervisor,
}

/// The environment variable that marks every process of a session.
pub const MARKER: &str = "REGATTA_SESSION";

/// A process that belongs to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its process id.
    pub pid: u32,
    /// The session whose marker it carries.
    pub session: SessionId,
}
