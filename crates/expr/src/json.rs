//! Guards JSON input against a key that `serde_json` reserves.
//!
//! If any part of a program enables the feature `raw_value`, `serde_json` reads an object whose first key is that
//! mark as JSON inside JSON, each nested to the full depth again: forty kilobytes of them overflow the stack. So text
//! with the mark is not read, and a value with it is not stored, because stored values are read again later.

use serde::de::Error as _;
use serde_json::{Error, Value};

/// The key that makes `serde_json` read what follows as a text of JSON.
const MARK: &str = "$serde_json::private::RawValue";

/// Reads a text of JSON of which nobody knows who wrote it.
pub fn read_json(text: &str) -> Result<Value, Error> {
    if is_deceptive(text) {
        return Err(Error::custom(format!("the key `{MARK}` is reserved")));
    }
    serde_json::from_str(text)
}

/// Tells whether a text of JSON has a string that is the mark, however it is escaped.
pub fn is_deceptive(text: &str) -> bool {
    let quoted = format!("\"{MARK}\"");
    if text.contains("\\u") { decode(text).contains(&quoted) } else { text.contains(&quoted) }
}

/// Tells whether a key is the mark.
pub fn is_mark(key: &str) -> bool {
    key == MARK
}

/// Tells whether an object within a value has the mark as a key.
pub fn has_mark(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(key, value)| is_mark(key) || has_mark(value)),
        Value::Array(items) => items.iter().any(has_mark),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns a text with its escapes by number decoded, as far as they stand for ASCII, as all of the mark is.
fn decode(text: &str) -> String {
    let mut pieces = text.split("\\u");
    let mut decoded = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let number = piece.get(..4).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match number.filter(u8::is_ascii) {
            Some(byte) => {
                decoded.push(char::from(byte));
                decoded.push_str(&piece[4..]);
            }
            None => decoded.push_str(piece),
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_mark_is_found_however_it_is_written() {
        for deceptive in [
            r#"{"$serde_json::private::RawValue":"1"}"#,
            r#"[{"a":"\\"},{"\u0024serde_json::private::RawValue":"1"}]"#,
            r#"{"$serde_json::priv\u0061te::R\u0061wValu\u0065":"[]"}"#,
        ] {
            assert!(is_deceptive(deceptive), "{deceptive}");
            assert!(read_json(deceptive).is_err());
        }
        for harmless in [
            r#"{"text":"const TOKEN = \"$serde_json::private::RawValue\";"}"#,
            r#"{"text":"$serde_json::private::RawValues","other":"\u0024serde_json \u00e4 \u12"}"#,
            r#"{"a":1}"#,
            "",
        ] {
            assert!(!is_deceptive(harmless), "{harmless}");
        }
        assert_eq!(read_json(r#"{"a":"\u00e4"}"#).unwrap(), json!({ "a": "ä" }));
    }

    #[test]
    fn the_mark_is_found_in_values() {
        let mut marked = json!({});
        marked[MARK] = json!("1");
        assert!(has_mark(&json!([{ "a": marked }])));
        assert!(!has_mark(&json!([{ "a": MARK }])));
    }
}
