//! What an edge saw, short enough to be kept in the log.
//!
//! Shortening reads only the first bytes of a string and the length of a list, so its cost does not depend on the size
//! of the state.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::expression::Expression;
use crate::name::EdgeId;
use crate::step::Look;

/// The longest text that is kept as it is, in bytes.
const TEXT_BYTES_MAX: usize = 80;

/// The most values that are kept for one edge; a condition that reads more is hard to read too.
const SEEN_MAX: usize = 16;

/// A value that an edge read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen(pub String, pub Value);

impl fmt::Display for Seen {
    /// Writes it as a person reads it: `count = 3`, `tasks = 2 items`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} = ", self.0)?;
        match self.1.as_object().and_then(|size| size.iter().next()) {
            Some((unit, count)) if *count == 1 => write!(out, "1 {}", unit.trim_end_matches('s')),
            Some((unit, count)) => write!(out, "{count} {unit}"),
            None => write!(out, "{}", self.1),
        }
    }
}

/// An edge that was looked at. In the log it is a short list: the edge, whether it held, and what it saw.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "(EdgeId, bool, Vec<Seen>)")]
pub struct Tried {
    /// The edge.
    pub edge: EdgeId,
    /// Whether it held.
    pub held: bool,
    /// What it read, as far as it was there: paths with their values, shortened.
    pub saw: Vec<Seen>,
}

impl From<(EdgeId, bool, Vec<Seen>)> for Tried {
    fn from((edge, held, saw): (EdgeId, bool, Vec<Seen>)) -> Self {
        Tried { edge, held, saw }
    }
}

impl Serialize for Tried {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.edge, self.held, &self.saw).serialize(serializer)
    }
}

/// Returns what an expression reads, as far as it is there.
pub(crate) fn find_seen(look: &Look<'_>, expression: &Expression) -> Vec<Seen> {
    let reads = expression.reads();
    let fields = reads.paths.iter().filter_map(|path| find_field(look.root(), path));
    let bound = reads.variables.iter().filter_map(|name| {
        let value = look.find_bound(name).ok()??;
        Some(Seen(format!("${name}"), shorten(value)))
    });
    // Of a fact only a part was read, and the whole would say nothing.
    let variables = reads.variable_paths.iter().filter_map(|path| {
        let (name, within) = path.split_first()?;
        let view = look.view(name).ok().flatten();
        let Seen(told, value) = find_field(look.find_variable(name).or(view.as_deref())?, within)?;
        let dot = if told.is_empty() { "" } else { "." };
        Some(Seen(format!("${name}{dot}{told}"), value))
    });
    fields.chain(bound).chain(variables).take(SEEN_MAX).collect()
}

/// Follows names as far as there are objects; behind a list there would be many values.
fn find_field(root: &Value, path: &[String]) -> Option<Seen> {
    let mut value = root;
    let mut told = String::new();
    for name in path {
        let Value::Object(fields) = value else { break };
        value = fields.get(name)?;
        if !told.is_empty() {
            told.push('.');
        }
        told.push_str(name);
    }
    Some(Seen(told, shorten(value)))
}

/// Returns a value as it is if it is short, otherwise what it begins with or how much it is.
pub(crate) fn shorten(value: &Value) -> Value {
    match value {
        Value::Array(items) => json!({ "items": items.len() }),
        Value::Object(fields) => json!({ "fields": fields.len() }),
        Value::String(text) if text.len() > TEXT_BYTES_MAX => {
            let mut end = TEXT_BYTES_MAX;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            Value::from(format!("{}… ({} bytes)", &text[..end], text.len()))
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_told_in_words() {
        let told = |value: Value| Seen("a.b".to_owned(), shorten(&value)).to_string();
        let values =
            [json!(3), json!("x"), json!(null), json!([1, 2]), json!([1]), json!({ "a": 1, "b": 2 })];
        let expected =
            ["a.b = 3", "a.b = \"x\"", "a.b = null", "a.b = 2 items", "a.b = 1 item", "a.b = 2 fields"];
        assert_eq!(values.map(told), expected);
    }

    #[test]
    fn long_values_are_told_by_their_size() {
        assert_eq!(shorten(&json!([1, 2])), json!({ "items": 2 }));
        assert_eq!(shorten(&json!({ "a": 1 })), json!({ "fields": 1 }));
        assert_eq!(shorten(&json!("short")), json!("short"));
        let long = "ä".repeat(50);
        assert_eq!(shorten(&json!(long)), json!(format!("{}… (100 bytes)", "ä".repeat(40))));
    }
}
