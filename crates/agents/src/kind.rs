//! The kinds of agent there are, by the names the config uses.
//!
//! A kind is only a name: what it does lives in the file of that name.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Plays a script inside this process; no model is asked.
    Scripted,
    /// Runs any program: prompt on its standard input, result on its standard output.
    Command,
}

impl Kind {
    /// Returns the short notice shown wherever an agent of this kind appears.
    pub fn says(self) -> &'static str {
        match self {
            Kind::Scripted => "scripted (plays a script, no model)",
            Kind::Command => "command",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Kind::Scripted => "scripted",
            Kind::Command => "command",
        })
    }
}
