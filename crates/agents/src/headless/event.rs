//! Reads fields of an event: what is missing or of another type is empty, because agents change their events often.

use serde_json::Value;

/// Returns the text at a place such as `/message/id`, or an empty one.
pub(crate) fn text<'a>(event: &'a Value, pointer: &str) -> &'a str {
    event.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the count at a place, or 0.
pub(crate) fn count(event: &Value, pointer: &str) -> u64 {
    event.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// Returns the sum of counts, which an agent may make up.
pub(crate) fn sum<const N: usize>(counts: [u64; N]) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// Returns whether the flag at a place is set.
pub(crate) fn is_set(event: &Value, pointer: &str) -> bool {
    event.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
}

/// Returns the elements of the list at a place.
pub(crate) fn list<'a>(event: &'a Value, pointer: &str) -> &'a [Value] {
    event.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the US dollars at a place in millionths.
pub(crate) fn micros(event: &Value, pointer: &str) -> Option<u64> {
    event.pointer(pointer)?.as_f64().map(micros_of)
}

/// Returns US dollars in millionths.
pub(crate) fn micros_of(dollars: f64) -> u64 {
    // A conversion from a float saturates, and takes what is not a number for 0.
    (dollars * 1_000_000.0).round() as u64
}

/// Returns the text of content in any of its usual forms: a string, a block, or a list of blocks.
pub(crate) fn flat_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<String> = blocks.iter().map(flat_text).filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        Value::Object(_) => text(content, "/text").to_owned(),
        _ => String::new(),
    }
}
