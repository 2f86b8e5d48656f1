//! What an agent may see and change of the machine.

use std::path::PathBuf;

/// The view of the machine that a session has; what is not named is read-only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sandbox {
    /// What it may change: files and folders with all that is below them.
    pub writable: Vec<PathBuf>,
    /// What is read-only although it lies below something writable.
    pub read_only: Vec<PathBuf>,
    /// What is not there for it: a folder looks empty, a file too.
    pub hidden: Vec<PathBuf>,
    /// Whether it reaches the network.
    pub has_network: bool,
}
