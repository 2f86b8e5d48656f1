//! The beginning of a value, for a message that says what an expression gave.
//!
//! Only what is shown is kept, so that a value of any size makes a short message. What an edge saw goes into the log,
//! and is shortened by its own rule ([`seen`](super::seen)).

use std::fmt::{self, Write};

use serde_json::Value;

/// The most bytes of a value that are shown: with the expression beside it that fills a line or two.
const SHOWN_BYTES_MAX: usize = 80;

/// A value as a message shows it: whole if it is short, otherwise its beginning and its size.
pub(crate) struct Excerpt<'v>(pub(crate) &'v Value);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut beginning = Beginning::default();
        write!(beginning, "{}", self.0)?;
        out.write_str(&beginning.kept)?;
        if beginning.bytes > beginning.kept.len() {
            write!(out, "… ({} bytes)", beginning.bytes)?;
        }
        Ok(())
    }
}

/// Tells a value in a message.
pub(crate) fn tell_value(value: &Value) -> String {
    Excerpt(value).to_string()
}

/// Keeps what is written first, and counts the rest.
#[derive(Default)]
struct Beginning {
    kept: String,
    bytes: usize,
}

impl Write for Beginning {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Once something was left out, nothing behind it is kept.
        if self.bytes == self.kept.len() {
            let room = text.len().min(SHOWN_BYTES_MAX - self.kept.len());
            let end = (0..=room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
            self.kept.push_str(&text[..end]);
        }
        self.bytes += text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_short_value_is_shown_whole_and_a_long_one_by_its_beginning() {
        let told = |value: Value| Excerpt(&value).to_string();
        assert_eq!(told(json!({ "a": [1, null] })), r#"{"a":[1,null]}"#);
        assert_eq!(told(json!("x")), r#""x""#);
        let long = told(json!(["ä".repeat(50), 1]));
        assert_eq!(long, format!("[\"{}… (106 bytes)", "ä".repeat(39)));
        assert_eq!(told(json!(vec![7; 41])), format!("[{}7… (83 bytes)", "7,".repeat(39)));
    }
}
