//! Streams: the named strands of the log, and what is loaded of one.
//!
//! A stream is the unit of the optimistic check: an append states the version of every stream its decision
//! read. A snapshot only saves work on loading; the events alone always suffice.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Recorded, Version};

/// The longest stream name in bytes; it bounds the index of names and fits any database's key.
const NAME_BYTES_MAX: usize = 120;

/// The name of a stream, such as `task/12`: `[a-z0-9][a-z0-9/_.-]*`, at most 120 bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StreamName(String);

/// Tells why a text is not a stream name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StreamNameError {
    /// The name has no characters.
    #[error("a stream name may not be empty")]
    Empty,
    /// The name passes the limit.
    #[error("the stream name `{name}` has {bytes} bytes, {max} are allowed", max = NAME_BYTES_MAX)]
    TooLong {
        /// The refused name.
        name: String,
        /// Its length.
        bytes: usize,
    },
    /// A character stands where it may not.
    #[error("the stream name `{name}` may not have {found:?} at byte {at}")]
    BadCharacter {
        /// The refused name.
        name: String,
        /// The offending character.
        found: char,
        /// The byte where it stands.
        at: usize,
    },
}

/// A snapshot to be kept with an append: of its stream as it is after that append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSnapshot {
    /// The stream whose state this is; the append must expect it.
    pub stream: StreamName,
    /// The format of `data`; a loader that knows another format ignores the snapshot.
    pub format: u32,
    /// The state as JSON text.
    pub data: String,
}

/// The state of a stream at a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The version up to which events are folded in.
    pub version: Version,
    /// The format of `data`.
    pub format: u32,
    /// The state as JSON text.
    pub data: String,
}

/// A stream as loaded: a snapshot, if there is a usable one, and the events after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The stream.
    pub stream: StreamName,
    /// Its version, that of the last event of `tail`.
    pub version: Version,
    /// The latest snapshot, when it has the format asked for.
    pub snapshot: Option<Snapshot>,
    /// The events after the snapshot (all, without one), in order.
    pub tail: Vec<Recorded>,
}

impl StreamName {
    /// Parses a name, or tells what is wrong with it.
    pub fn parse(name: impl Into<String>) -> Result<Self, StreamNameError> {
        let name = name.into();
        if name.is_empty() {
            return Err(StreamNameError::Empty);
        }
        if let Some((at, found)) = name.char_indices().find(|&(at, found)| !is_allowed(at, found)) {
            return Err(StreamNameError::BadCharacter { name, found, at });
        }
        let bytes = name.len();
        if bytes > NAME_BYTES_MAX {
            return Err(StreamNameError::TooLong { name, bytes });
        }
        Ok(Self(name))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_allowed(at: usize, found: char) -> bool {
    match found {
        'a'..='z' | '0'..='9' => true,
        '/' | '_' | '.' | '-' => at > 0,
        _ => false,
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for StreamName {
    type Err = StreamNameError;

    fn from_str(name: &str) -> Result<Self, StreamNameError> {
        Self::parse(name)
    }
}

impl TryFrom<String> for StreamName {
    type Error = StreamNameError;

    fn try_from(name: String) -> Result<Self, StreamNameError> {
        Self::parse(name)
    }
}

impl From<StreamName> for String {
    fn from(name: StreamName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_or_refused_with_the_reason() {
        for good in ["a", "0", "task/12", "crew", "run/a_b.c-d", &"x".repeat(120)] {
            assert_eq!(StreamName::parse(good).unwrap().as_str(), good);
        }
        let refused = |name: &str| StreamName::parse(name).unwrap_err().to_string();
        assert_eq!(refused(""), "a stream name may not be empty");
        assert_eq!(refused("/a"), "the stream name `/a` may not have '/' at byte 0");
        assert_eq!(refused("task 1"), "the stream name `task 1` may not have ' ' at byte 4");
        assert_eq!(refused("Task"), "the stream name `Task` may not have 'T' at byte 0");
        assert!(refused(&"x".repeat(121)).ends_with("has 121 bytes, 120 are allowed"));
    }

    #[test]
    fn a_name_is_checked_when_it_is_deserialized() {
        let name: StreamName = serde_json::from_str("\"task/1\"").unwrap();
        assert_eq!(serde_json::to_string(&name).unwrap(), "\"task/1\"");
        assert!(serde_json::from_str::<StreamName>("\"a b\"").is_err());
    }
}
