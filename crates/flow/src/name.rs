//! The names of nodes and edges, checked when they are made.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

/// The longest name, in characters: it is a label in a drawing and a part of file names.
pub const NAME_CHARACTERS_MAX: usize = 64;

/// A name that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is not a valid name: use letters, digits, `_` and `-`, starting with a letter, at most {NAME_CHARACTERS_MAX} characters"
)]
pub struct BadName {
    /// What was given.
    pub name: String,
}

/// Returns whether a text can be a name: letters, digits, `_` and `-`, beginning with a letter.
pub(crate) fn is_name(text: &str) -> bool {
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.len() <= NAME_CHARACTERS_MAX
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(rest)
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Cheap to clone: it is in every event of a run.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks a text and makes a name of it.
            pub fn parse(text: &str) -> Result<$name, BadName> {
                $name::try_from(text.to_owned())
            }

            /// Returns the name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadName;

            fn try_from(name: String) -> Result<$name, BadName> {
                if is_name(&name) { Ok($name(name.into())) } else { Err(BadName { name }) }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// The name of a node.
    NodeName
}
name! {
    /// The id of an edge.
    EdgeId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_also_when_they_are_read() {
        assert!(NodeName::parse("coder-2_b").is_ok());
        for bad in ["", "2b", "a b", "ä", "a.b", &"a".repeat(65)] {
            assert!(EdgeId::parse(bad).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<NodeName>("\"a b\"").is_err());
        assert_eq!(serde_json::to_string(&NodeName::parse("a").unwrap()).unwrap(), "\"a\"");
    }
}
