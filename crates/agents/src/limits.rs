//! What a session may use before it is ended.
//!
//! Limits are data given by the caller; this room only enforces them.

use std::time::Duration;

/// The bounds of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Longest time from start to end.
    pub wall: Duration,
    /// Longest time without a byte of output.
    pub silence: Duration,
    /// Time between asking a process to end (SIGTERM) and ending it (SIGKILL).
    pub grace: Duration,
    /// Largest transcript on disk; what comes after it is only counted.
    pub transcript_bytes_max: u64,
    /// How much of the end of standard output is searched for a result.
    pub result_bytes_max: usize,
}

impl Default for Limits {
    /// Returns bounds that a working agent stays inside.
    fn default() -> Limits {
        Limits {
            // Longer pieces of work exist, but an hour without an end is more often a loop than progress.
            wall: Duration::from_secs(60 * 60),
            // A model may think, or a build may run, for minutes without a word.
            silence: Duration::from_secs(10 * 60),
            // Enough to flush files and remove lock files.
            grace: Duration::from_secs(5),
            // Holds hours of ordinary output, and no runaway can fill a disk with it.
            transcript_bytes_max: 256 * 1024 * 1024,
            // A result is a summary and some lists; a megabyte is far above any seen.
            result_bytes_max: 1024 * 1024,
        }
    }
}
