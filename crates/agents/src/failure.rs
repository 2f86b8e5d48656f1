//! Why a session went wrong, in classes that each have their own answer.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A class of failure, which decides whether and when to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The model's provider asks to come back later.
    RateLimit,
    /// The provider could not be reached.
    Network,
    /// The program ended with an error or by a signal.
    Crash,
    /// The session ran longer than its wall limit.
    Timeout,
    /// Nothing was printed for too long.
    Silence,
    /// What the agent gave cannot be understood.
    InvalidOutput,
    /// The agent said that it failed, is blocked or declines, or its provider refused the request.
    Refused,
    /// The session used up its tokens or its money.
    Budget,
}

/// How a session failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{class}: {message}")]
pub struct Failure {
    /// The class of the failure.
    pub class: FailureClass,
    /// What went wrong, in one sentence.
    pub message: String,
    /// The exit code, if the program gave one.
    pub exit: Option<i32>,
    /// The signal that ended the program, if one did.
    pub signal: Option<i32>,
    /// The last lines of output, bounded.
    pub tail: String,
    /// When to try again, if the provider said so.
    pub until: Option<Timestamp>,
}

impl FailureClass {
    /// Returns the name used in logs and scripts.
    pub fn name(self) -> &'static str {
        match self {
            FailureClass::RateLimit => "rate_limit",
            FailureClass::Network => "network",
            FailureClass::Crash => "crash",
            FailureClass::Timeout => "timeout",
            FailureClass::Silence => "silence",
            FailureClass::InvalidOutput => "invalid_output",
            FailureClass::Refused => "refused",
            FailureClass::Budget => "budget",
        }
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Failure {
    /// Makes a failure that has no exit, signal or tail yet.
    pub(crate) fn new(class: FailureClass, message: impl Into<String>) -> Failure {
        Failure { class, message: message.into(), exit: None, signal: None, tail: String::new(), until: None }
    }
}
