//! Intents: what the world must be asked to do because of an event, and has not answered yet.
//!
//! An intent is stored with its event and stays open until an append settles it. Its id is derived from the
//! event's position, so the same intent has the same id in every run and on every machine.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Seq;

/// The identity of an intent: its event, and its place among the intents of that event. Written `41.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IntentId {
    /// The event it belongs to.
    pub seq: Seq,
    /// Its place among the intents of that event, from 0.
    pub ordinal: u32,
}

/// Tells that a text is not an intent id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an intent id, which looks like `41.0`")]
pub struct IntentIdError {
    /// The refused text.
    pub text: String,
}

/// An intent to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIntent {
    /// The event it follows from, as an index into the events of the append.
    pub event: usize,
    /// What is to be done, without white space.
    pub kind: String,
    /// The key within which intents are performed one after the other, such as `task/12`, without white space.
    pub lane: String,
    /// Its content as JSON text in one line.
    pub data: String,
}

/// An intent of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// Its identity.
    pub id: IntentId,
    /// What is to be done.
    pub kind: String,
    /// The key within which intents are performed one after the other.
    pub lane: String,
    /// Its content as JSON text.
    pub data: String,
    /// The time of its event.
    pub at: Timestamp,
}

impl fmt::Display for IntentId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.seq, self.ordinal)
    }
}

impl FromStr for IntentId {
    type Err = IntentIdError;

    fn from_str(text: &str) -> Result<Self, IntentIdError> {
        let parsed = text.split_once('.').and_then(|(seq, ordinal)| {
            Some(Self { seq: Seq(parse_digits(seq)?), ordinal: parse_digits(ordinal)? })
        });
        parsed.ok_or_else(|| IntentIdError { text: text.to_owned() })
    }
}

/// Parses plain digits: a sign or a leading zero would give one intent two spellings.
fn parse_digits<N: FromStr>(text: &str) -> Option<N> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

impl TryFrom<String> for IntentId {
    type Error = IntentIdError;

    fn try_from(text: String) -> Result<Self, IntentIdError> {
        text.parse()
    }
}

impl From<IntentId> for String {
    fn from(id: IntentId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let id = IntentId { seq: Seq(41), ordinal: 0 };
        assert_eq!(id.to_string(), "41.0");
        assert_eq!("41.0".parse(), Ok(id));
        for bad in ["", "41", "41.", ".0", "041.0", "41.00", "+41.0", "41.-1", "41.0.0", "41.4294967296"] {
            assert_eq!(bad.parse::<IntentId>(), Err(IntentIdError { text: bad.to_owned() }));
        }
    }
}
