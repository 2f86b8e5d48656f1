//! What an agent may see and change of the machine, held by bubblewrap.
//!
//! A [`Sandbox`] is plain data: which paths are writable, read-only, hidden, or something else than they are outside.
//! [`Sandbox::for_work`] builds the usual one from paths, `arguments` turns it into bubblewrap's words, and [`probe`] says
//! whether bubblewrap works here at all. Nothing here starts an agent, and nothing decides whether one may run without.
//!
//! bubblewrap rather than Landlock: only namespaces can hide, and only a PID namespace ends with its first process.

mod arguments;
mod hidden;
mod probe;
mod workplace;

use std::path::PathBuf;

pub use probe::{Sandboxing, probe};
pub use workplace::Workplace;

pub(crate) use arguments::{PROGRAM, arguments};
pub(crate) use hidden::find_hidden;

/// The view of the machine that a session has; what is not named is read-only.
///
/// Where two entries apply to a file, the one with the longer path counts, so their order does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sandbox {
    /// What it may change: files and folders with all that is below them. What is missing is passed over.
    pub writable: Vec<PathBuf>,
    /// What is read-only although it lies below something writable or hidden.
    pub read_only: Vec<PathBuf>,
    /// What is not there for it: a folder looks empty, a file too.
    pub hidden: Vec<PathBuf>,
    /// What is something else for it than outside.
    pub replaced: Vec<Replacement>,
    /// Variables that it gets whatever else its environment says, because they name places inside.
    pub environment: Vec<(String, String)>,
    /// Whether it reaches the network; without, only its own loopback.
    pub has_network: bool,
}

/// A path that shows something else inside a sandbox than outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The path inside.
    pub path: PathBuf,
    /// The file or folder outside that is shown there.
    pub by: PathBuf,
    /// Whether it may be changed.
    pub is_writable: bool,
}
