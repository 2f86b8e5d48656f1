//! The sender or the recipient of a message: an agent, a role, a task, a person, or the engine as a sender.
//!
//! A party is written as its kind and its name, `role:reviewer` or `task:12`, both in the log and on the
//! command line.

use crate::{AgentId, RunId, TaskId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Longer names are texts.
const NAME_CHARACTERS_MAX: usize = 64;

/// One end of a message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Party {
    /// An agent of the config, whatever it works on.
    Agent(AgentId),
    /// The agent that plays a role of a workflow.
    Role(String),
    /// The agent that works on a task.
    Task(TaskId),
    /// A person.
    Person(String),
    /// The engine, which only sends: what an edge says that leaves no role.
    Engine,
}

/// Where a message lies: the inbox of a party, or that of a role in one run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// Whose it is.
    pub party: Party,
    /// The run that the role belongs to.
    pub run: Option<RunId>,
}

impl From<Party> for Address {
    fn from(party: Party) -> Self {
        Address { party, run: None }
    }
}

/// A text that names no party.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is nobody; write `agent:NAME`, `role:NAME`, `task:NUMBER` or `person:NAME`")]
pub struct PartyFault {
    /// The text.
    pub text: String,
}

impl Party {
    /// Returns the kind, as it is written before the name.
    pub fn kind(&self) -> &'static str {
        match self {
            Party::Agent(_) => "agent",
            Party::Role(_) => "role",
            Party::Task(_) => "task",
            Party::Person(_) => "person",
            Party::Engine => "engine",
        }
    }
}

impl FromStr for Party {
    type Err = PartyFault;

    fn from_str(text: &str) -> Result<Self, PartyFault> {
        let fault = || PartyFault { text: text.to_owned() };
        if text == Party::Engine.kind() {
            return Ok(Party::Engine);
        }
        if text.starts_with('#') {
            return text.parse().map(Party::Task).map_err(|_| fault());
        }
        let (kind, name) = text.split_once(':').ok_or_else(fault)?;
        let is_sized = (1..=NAME_CHARACTERS_MAX).contains(&name.chars().count());
        let is_plain = is_sized && name.trim() == name && !name.chars().any(char::is_control);
        match kind {
            "agent" => name.parse().map(Party::Agent).map_err(|_| fault()),
            "task" => name.parse().map(Party::Task).map_err(|_| fault()),
            "role" if is_plain => Ok(Party::Role(name.to_owned())),
            "person" if is_plain => Ok(Party::Person(name.to_owned())),
            _ => Err(fault()),
        }
    }
}

impl TryFrom<String> for Party {
    type Error = PartyFault;

    fn try_from(text: String) -> Result<Self, PartyFault> {
        text.parse()
    }
}

impl From<Party> for String {
    fn from(party: Party) -> String {
        party.to_string()
    }
}

impl fmt::Display for Party {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Party::Agent(name) => write!(out, "{kind}:{name}"),
            Party::Task(task) => write!(out, "{kind}:{task}"),
            Party::Role(name) | Party::Person(name) => write!(out, "{kind}:{name}"),
            Party::Engine => out.write_str(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_is_written_as_its_kind_and_its_name() {
        for text in ["agent:alpha", "role:qa_expert", "task:12", "person:Someone Else", "role:a:b"] {
            assert_eq!(text.parse::<Party>().unwrap().to_string(), text);
        }
        assert_eq!("#12".parse::<Party>().unwrap().to_string(), "task:12");
        let long = format!("role:{}", "é".repeat(65));
        for bad in
            ["", "alpha", "agent:", "agent:../x", "task:0", "role: a", "person:a\nb", "ship:x", "#", &long]
        {
            assert_eq!(bad.parse::<Party>(), Err(PartyFault { text: bad.to_owned() }));
        }
    }
}
