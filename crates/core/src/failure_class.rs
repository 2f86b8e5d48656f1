//! Why a session broke off, in classes that each have their own answer.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A class of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The model's provider asks to come back later.
    RateLimit,
    /// The provider could not be reached.
    Network,
    /// The program ended with an error or by a signal.
    Crash,
    /// The session ran longer than it may.
    Timeout,
    /// Nothing was heard for too long.
    Silence,
    /// What the agent gave cannot be understood.
    InvalidOutput,
    /// The agent, or its provider, declined the work.
    Refused,
    /// The session used up its tokens, its money or its time.
    Budget,
}

impl FailureClass {
    /// Every class there is.
    pub const ALL: [FailureClass; 8] = [
        FailureClass::RateLimit,
        FailureClass::Network,
        FailureClass::Crash,
        FailureClass::Timeout,
        FailureClass::Silence,
        FailureClass::InvalidOutput,
        FailureClass::Refused,
        FailureClass::Budget,
    ];

    /// Returns the name that is used in the log.
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

    /// Returns the class of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
