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
    /// How much of the end of standard output, or of the last message, is searched for a result; also the largest
    /// result file.
    pub result_bytes_max: usize,
    /// Most tokens that the model may read and write, as far as the agent tells while it works.
    pub tokens_max: Option<u64>,
    /// Most that it may cost, in millionths of a US dollar, as far as the agent tells while it works.
    pub cost_micros_max: Option<u64>,
    /// Most turns the agent may take, as far as it tells while it works.
    pub turns_max: Option<u32>,
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
            // What a piece of work is worth is for its owner to say.
            tokens_max: None,
            cost_micros_max: None,
            turns_max: None,
        }
    }
}
