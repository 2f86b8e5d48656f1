//! Names that cannot be wrong: each is parsed once, at the border.
//!
//! A name in letters is shared by its clones: facts, states and effects all hold the same few.

use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The number of a task, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct TaskId(u32);

/// The name of an agent: the key of its entry in the config.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct AgentId(Arc<str>);

/// The number of a run, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct RunId(u32);

/// The number of an epic, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct EpicId(u32);

/// The number of a message, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct MessageId(u32);

/// The name of a PRD in links and commands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct PrdSlug(Arc<str>);

/// The full hexadecimal name of a commit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct CommitId(Arc<str>);

/// Why a text is not a valid id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Id {
    /// The text is not a task number.
    #[error("`{0}` is not a task number; task numbers are 1, 2, 3 …")]
    Task(String),
    /// The text is not an agent name.
    #[error(
        "`{0}` is not an agent name; use letters, digits, `-`, `_` and `.`, at most 64, a letter or digit first"
    )]
    Agent(String),
    /// The text is not a run number.
    #[error("`{0}` is not a run number; run numbers are 1, 2, 3 …")]
    Run(String),
    /// The text is not the number of an epic.
    #[error("`{0}` is not the number of an epic; epics are 1, 2, 3 …")]
    Epic(String),
    /// The text is not the number of a message.
    #[error("`{0}` is not the number of a message; messages are 1, 2, 3 …")]
    Message(String),
    /// The text is not the slug of a PRD.
    #[error(
        "`{0}` is not the slug of a PRD; use lower-case letters, digits and `-`, at most 64, a letter or digit first and last"
    )]
    Prd(String),
    /// The text is not a commit id.
    #[error("`{0}` is not a commit id of 40 or 64 hexadecimal digits")]
    Commit(String),
}

impl AgentId {
    /// The name that stands for whichever agent is free first; no agent of the config has it.
    pub const ANY: &str = "any";

    /// Returns the name that stands for whichever agent is free first.
    pub fn any() -> Self {
        AgentId(Self::ANY.into())
    }

    /// Tells whether it stands for whichever agent is free first.
    pub fn is_any(&self) -> bool {
        self.as_str() == Self::ANY
    }

    const BYTES_MAX: usize = 64;

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PrdSlug {
    /// A slug is part of a path and of a stream's name, and is typed by hand.
    pub const BYTES_MAX: usize = 64;

    /// Returns the slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl CommitId {
    /// Returns the hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first digits, as people quote them.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

impl FromStr for PrdSlug {
    type Err = Id;

    fn from_str(text: &str) -> Result<Self, Id> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_sized = (1..=Self::BYTES_MAX).contains(&text.len());
        if is_sized && text.bytes().all(allowed) && !text.starts_with('-') && !text.ends_with('-') {
            Ok(PrdSlug(text.into()))
        } else {
            Err(Id::Prd(text.to_owned()))
        }
    }
}

impl FromStr for AgentId {
    type Err = Id;

    fn from_str(text: &str) -> Result<Self, Id> {
        let starts_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if starts_well && text.len() <= Self::BYTES_MAX && text.bytes().all(allowed) {
            Ok(AgentId(text.into()))
        } else {
            Err(Id::Agent(text.to_owned()))
        }
    }
}

impl FromStr for CommitId {
    type Err = Id;

    fn from_str(text: &str) -> Result<Self, Id> {
        let hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if matches!(text.len(), 40 | 64) && text.bytes().all(hexadecimal) {
            Ok(CommitId(text.into()))
        } else {
            Err(Id::Commit(text.to_owned()))
        }
    }
}

macro_rules! number_id {
    ($name:ident, $bad:path) => {
        impl $name {
            /// The first one of a project.
            pub const FIRST: $name = $name(1);

            /// Returns the id with this number; zero is not one.
            pub fn new(number: u32) -> Result<Self, Id> {
                if number == 0 { Err($bad(number.to_string())) } else { Ok($name(number)) }
            }

            /// Returns the number.
            pub fn number(self) -> u32 {
                self.0
            }

            /// Returns the id that follows this one.
            pub fn next(self) -> Self {
                $name(self.0.saturating_add(1))
            }
        }

        impl FromStr for $name {
            type Err = Id;

            /// Accepts `12` and `#12`.
            fn from_str(text: &str) -> Result<Self, Id> {
                let digits = text.strip_prefix('#').unwrap_or(text);
                let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                let number = if plain { digits.parse().ok() } else { None };
                number.and_then(|number| $name::new(number).ok()).ok_or_else(|| $bad(text.to_owned()))
            }
        }

        impl TryFrom<u32> for $name {
            type Error = Id;

            fn try_from(number: u32) -> Result<Self, Id> {
                $name::new(number)
            }
        }

        impl From<$name> for u32 {
            fn from(id: $name) -> u32 {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }
    };
}

macro_rules! text_id {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = Id;

            fn try_from(text: String) -> Result<Self, Id> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.as_str().to_owned()
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }
    };
}

number_id!(TaskId, Id::Task);
number_id!(RunId, Id::Run);
number_id!(EpicId, Id::Epic);
number_id!(MessageId, Id::Message);
text_id!(AgentId);
text_id!(PrdSlug);
text_id!(CommitId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_numbers_start_at_one_and_take_a_hash() {
        assert_eq!("12".parse(), Ok(TaskId(12)));
        assert_eq!("#12".parse(), Ok(TaskId(12)));
        for bad in ["", "#", "0", "-1", "+1", "1.0", "12a", "4294967296", "##1", " 1"] {
            assert_eq!(bad.parse::<TaskId>(), Err(Id::Task(bad.to_owned())), "{bad:?}");
        }
    }

    #[test]
    fn an_epic_is_not_a_task() {
        assert_eq!("#3".parse(), Ok(EpicId(3)));
        assert_eq!("0".parse::<EpicId>(), Err(Id::Epic("0".to_owned())));
        assert_eq!((EpicId::FIRST.next().number(), EpicId(3).to_string().as_str()), (2, "3"));
    }

    #[test]
    fn a_slug_can_stand_in_a_path_and_a_link() {
        for good in ["a", "user-auth", "2026-plan", "a--b", &"a".repeat(64)] {
            assert_eq!(good.parse::<PrdSlug>().unwrap().as_str(), good);
        }
        for bad in ["", "-a", "a-", "User", "a b", "a_b", "a.md", "../a", "a/b", "é", &"a".repeat(65)] {
            assert_eq!(bad.parse::<PrdSlug>(), Err(Id::Prd(bad.to_owned())), "{bad:?}");
        }
    }

    #[test]
    fn agent_names_cannot_be_paths_or_options() {
        assert!("claude-2.1_fast".parse::<AgentId>().is_ok());
        for bad in ["", "-rf", "../x", "a/b", "a b", ".hidden", "é", &"a".repeat(65)] {
            assert_eq!(bad.parse::<AgentId>(), Err(Id::Agent(bad.to_owned())), "{bad:?}");
        }
    }

    #[test]
    fn commit_ids_are_whole_and_lower_case() {
        assert!("a".repeat(40).parse::<CommitId>().is_ok());
        assert!("0".repeat(64).parse::<CommitId>().is_ok());
        for bad in [String::new(), "a".repeat(39), "A".repeat(40), "g".repeat(40)] {
            assert!(bad.parse::<CommitId>().is_err(), "{bad:?}");
        }
    }
}
