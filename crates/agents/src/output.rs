//! What a session says while it runs, in one vocabulary for all kinds of agent.
//!
//! Texts are as the agent gave them, cut to a bound where the vocabulary is not text itself: a tool may be called with
//! a whole file. The transcript has what was printed word for word.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::usage::Usage;

/// One piece of what a session says or does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// What the agent says, or text of standard output, as it came; a piece may end within a line.
    Text(String),
    /// What the agent thinks before it says something.
    Thinking(String),
    /// Text of standard error, as it came.
    Error(String),
    /// A tool was called.
    ToolCalled {
        /// The agent's name for this call.
        id: String,
        /// The tool.
        name: String,
        /// What it is about, in one line: a command, a file, the words that are looked for.
        about: String,
        /// The file or folder it is about, from the working folder if it lies there.
        path: Option<String>,
    },
    /// A tool came back.
    ToolReturned {
        /// The agent's name for the call.
        id: String,
        /// Whether the tool failed.
        is_error: bool,
        /// The beginning of what it returned.
        text: String,
    },
    /// A file of the working folder was changed.
    Edited {
        /// The file, relative to the working folder.
        path: String,
        /// What changed in it, where the agent says so.
        change: Option<Change>,
    },
    /// A commit was made.
    Committed {
        /// Its message.
        message: String,
    },
    /// The agent's plan, whole, as it now is.
    Planned(Vec<PlanStep>),
    /// The agent asked for permission to do something, and was answered.
    PermissionAsked {
        /// What it wants to do, in one line.
        what: String,
        /// What it was answered.
        answer: PermissionAnswer,
        /// Who or what decided.
        by: String,
    },
    /// What was used so far.
    Used(Usage),
    /// The provider asks to come back later; the agent may wait and continue by itself.
    RateLimited {
        /// What was said.
        message: String,
        /// When to come back, if that was said.
        until: Option<Timestamp>,
    },
    /// Output that was left out here because the reader was slow, or because a line was too long to be read.
    Skipped {
        /// How much was left out.
        bytes: u64,
    },
}

/// One step of an agent's plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: PlanState,
}

/// How far a step of a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum PlanState {
    Pending,
    UnderWay,
    Done,
}

/// What an agent that asks for permission is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum PermissionAnswer {
    Allowed,
    Denied,
}

impl Output {
    /// Tells whether it is text that may be left out when the reader is slow.
    pub(crate) fn is_text(&self) -> bool {
        use Output::{Error, Text, Thinking, ToolReturned};
        matches!(self, Text(_) | Thinking(_) | Error(_) | ToolReturned { .. })
    }

    /// Returns how many bytes of text it holds.
    pub(crate) fn length(&self) -> usize {
        match self {
            Output::Text(text) | Output::Thinking(text) | Output::Error(text) => text.len(),
            Output::ToolCalled { id, name, about, path } => {
                id.len() + name.len() + about.len() + path.as_ref().map_or(0, String::len)
            }
            Output::ToolReturned { id, text, .. } => id.len() + text.len(),
            Output::Edited { path, change } => {
                let lines = change.iter().flat_map(|change| &change.lines);
                path.len() + lines.map(String::len).sum::<usize>()
            }
            Output::Committed { message } | Output::RateLimited { message, .. } => message.len(),
            Output::Planned(steps) => steps.iter().map(|step| step.text.len()).sum(),
            Output::PermissionAsked { what, by, .. } => what.len() + by.len(),
            Output::Used(_) | Output::Skipped { .. } => 0,
        }
    }
}
