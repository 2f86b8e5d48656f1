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

    /// Returns what the n-th session for an item at a node plays, from 1; the last part repeats. Of the parts that fit,
    /// those are played that say most precisely what they are for.
    pub(crate) fn part(&self, number: u32, item: Option<&str>, node: Option<&str>) -> &Part {
        let mut parts: Vec<&Part> = self.parts.iter().filter(|part| part.fits(item, node)).collect();
        let precision = parts.iter().map(|part| part.precision()).max();
        parts.retain(|part| Some(part.precision()) == precision);
        let place = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        let last = parts.len().saturating_sub(1);
        parts.get(place.min(last)).copied().unwrap_or(&self.parts[0])
    }
}

impl Part {
    fn fits(&self, item: Option<&str>, node: Option<&str>) -> bool {
        let fits = |own: &Option<String>, asked: Option<&str>| own.is_none() || own.as_deref() == asked;
        fits(&self.item, item) && fits(&self.node, node)
    }

    /// What is for an item comes before what is for a node, and what is for both before either.
    fn precision(&self) -> u32 {
        2 * u32::from(self.item.is_some()) + u32::from(self.node.is_some())
    }
}
