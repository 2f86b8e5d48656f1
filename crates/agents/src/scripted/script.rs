//! A script: for each session of a piece of work, the steps it plays.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use super::fault::ScriptError;
use super::parse::parse;
use super::template::Template;
use crate::usage::Usage;

/// Largest script file; a script is written by hand.
const SCRIPT_BYTES_MAX: u64 = 1024 * 1024;

/// A script that is known to be well-formed.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// Never empty.
    parts: Vec<Part>,
}

/// What one session plays.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// The one item that it is for.
    pub(super) item: Option<String>,
    /// The one node of a workflow that it is for.
    pub(super) node: Option<String>,
    pub(super) turns: Option<u32>,
    /// The name by which the session can be taken up again.
    pub(super) agent_session: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// One thing a script does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Say(Template),
    Write {
        path: Template,
        text: Template,
    },
    Append {
        path: Template,
        text: Template,
    },
    Replace {
        path: Template,
        from: Template,
        to: Template,
    },
    Remove(Template),
    Commit(Template),
    Delay(Duration),
    Mishap(Mishap),
    /// Uses tokens and money, in addition to what was used before.
    Use(Usage),
    /// Asks for permission to do something outside of the working folder, and continues whatever the answer is.
    Ask(Template),
    Run(Vec<Template>),
    Exit(i32),
    /// The strings within are templates.
    Result(serde_json::Value),
}

/// What a script can make go wrong; the `fault` of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mishap {
    Crash,
    Hang,
    /// The provider asks to come back, if it says so after that time.
    RateLimit {
        reset: Option<Duration>,
    },
    Network,
    Refused,
    InvalidOutput,
    Flood {
        bytes: u64,
    },
}

impl Script {
    /// Reads a script strictly; all faults are found at once.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        parse(text).map_err(|faults| ScriptError::Faulty { path: None, faults })
    }

    /// Reads a script from a file.
    pub fn load(path: &Path) -> Result<Script, ScriptError> {
        let unreadable = |source| ScriptError::Unreadable { path: path.to_owned(), source };
        let mut text = String::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(SCRIPT_BYTES_MAX + 1).read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > SCRIPT_BYTES_MAX {
            return Err(ScriptError::TooLarge { path: path.to_owned(), bytes_max: SCRIPT_BYTES_MAX });
        }
        parse(&text).map_err(|faults| ScriptError::Faulty { path: Some(path.to_owned()), faults })
    }

    pub(super) fn new(parts: Vec<Part>) -> Option<Script> {
        (!parts.is_empty()).then_some(Script { parts })
    }

    /// Returns what the n-th session of a node for an item plays, from 1; the last part repeats. The parts for that item
    /// are played, or if there are none those for no item in particular; among those, the parts for the node come first.
    pub(crate) fn part(&self, number: u32, item: Option<&str>, node: Option<&str>) -> &Part {
        let fits = |part: &Part, by_item: bool, by_node: bool| {
            let fits_item = if by_item { part.item.as_deref() == item } else { part.item.is_none() };
            let fits_node = if by_node { part.node.as_deref() == node } else { part.node.is_none() };
            part.item.is_some() == by_item && part.node.is_some() == by_node && fits_item && fits_node
        };
        let kinds = [(true, true), (true, false), (false, true), (false, false)];
        let listed = |(by_item, by_node): (bool, bool)| -> Vec<&Part> {
            self.parts.iter().filter(|part| fits(part, by_item, by_node)).collect()
        };
        let parts = kinds.into_iter().map(listed).find(|parts| !parts.is_empty()).unwrap_or_default();
        let place = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        let last = parts.len().saturating_sub(1);
        parts.get(place.min(last)).copied().unwrap_or(&self.parts[0])
    }
}
