//! The name of a session, as it appears in the marker variable, file names and the log.
//!
//! An id is checked once, here, so that the rest of the room may put it into an environment variable or a file
//! name without thinking of separators or `=`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest id in bytes: leaves room for a prefix and a suffix in a file name of 255 bytes.
const LENGTH_MAX: usize = 100;

/// Names one session: `[A-Za-z0-9][A-Za-z0-9._-]{0,99}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

/// A text that cannot name a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a session id: 1 to {LENGTH_MAX} of A-Z a-z 0-9 . _ - are allowed, starting with a letter or digit"
)]
pub struct InvalidSessionId {
    /// The text that was refused.
    pub text: String,
}

impl SessionId {
    /// Checks a text and takes it as an id.
    pub fn new(text: impl Into<String>) -> Result<SessionId, InvalidSessionId> {
        let text = text.into();
        let is_start_good = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_rest_good = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if is_start_good && is_rest_good && text.len() <= LENGTH_MAX {
            Ok(SessionId(text))
        } else {
            Err(InvalidSessionId { text })
        }
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::str::FromStr for SessionId {
    type Err = InvalidSessionId;

    fn from_str(text: &str) -> Result<SessionId, InvalidSessionId> {
        SessionId::new(text)
    }
}

impl TryFrom<String> for SessionId {
    type Error = InvalidSessionId;

    fn try_from(text: String) -> Result<SessionId, InvalidSessionId> {
        SessionId::new(text)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> String {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_ids() {
        for good in ["a", "0", "task-1.s_2", &"x".repeat(100)] {
            assert_eq!(SessionId::new(good).map(String::from).as_deref(), Ok(good));
        }
        for bad in ["", "-a", ".a", "a b", "a=b", "a/b", "a\n", "ä", &"x".repeat(101)] {
            assert_eq!(SessionId::new(bad), Err(InvalidSessionId { text: bad.to_owned() }));
        }
    }

    #[test]
    fn serde_checks_too() {
        assert!(serde_json::from_str::<SessionId>("\"a/b\"").is_err());
        assert_eq!(serde_json::to_string(&SessionId::new("a.1").unwrap()).unwrap(), "\"a.1\"");
    }
}
