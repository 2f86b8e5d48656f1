//! How a session ended, and what it left as its result.

use std::fmt;
use std::time::Duration;

use crate::failure::Failure;
use crate::stop::StopReason;
use crate::usage::Usage;

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The agent did its work and ended by itself.
    Finished,
    /// Somebody stopped it.
    Stopped(StopReason),
    /// It went wrong.
    Failed(Failure),
}

/// Where a result was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultFrom {
    /// In the result file, [`RESULT_FILE`](crate::RESULT_FILE).
    File,
    /// In the agent's last message, or in what it printed.
    Message,
}

/// The end of a session; no process of it is left.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// How many turns the agent took, at least 1.
    pub turns: u32,
    /// The result the agent gave, if any.
    pub result: Option<serde_json::Value>,
    /// Where the result was found.
    pub result_from: Option<ResultFrom>,
    /// The agent's own summary of its work, if any.
    pub summary: Option<String>,
    /// What it used, as far as the agent told.
    pub usage: Usage,
    /// The agent's own name for the session, by which it can be taken up again; none if it cannot, or if the one that
    /// was to be taken up is gone.
    pub agent_session: Option<String>,
    /// How much was printed in all, also what was skipped or not kept.
    pub output_bytes: u64,
    /// How long the session took.
    pub duration: Duration,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Finished => formatter.write_str("finished"),
            Outcome::Stopped(reason) => write!(formatter, "stopped: {reason}"),
            Outcome::Failed(failure) => write!(formatter, "failed: {failure}"),
        }
    }
}
