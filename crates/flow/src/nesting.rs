//! How deep a value may be nested.
//!
//! A JSON parser gives up at 128 levels, so a value that arrives at 120 and is stored inside an event, a snapshot or
//! a state could be written and never be read again. Values from outside must be much flatter than that.

use serde_json::Value;

/// The deepest nesting of what a role returns: far above what any schema asks for, and half of what a reader takes, so
/// that there is room for what it is put into.
pub const OUTPUT_LEVELS_MAX: usize = 64;

/// Tells whether arrays and objects stand within each other more than `levels_max` times.
pub fn is_nested_deeper(value: &Value, levels_max: usize) -> bool {
    let is_deeper = |inner: &Value| is_nested_deeper(inner, levels_max.saturating_sub(1));
    match value {
        Value::Array(_) | Value::Object(_) if levels_max == 0 => true,
        Value::Array(items) => items.iter().any(is_deeper),
        Value::Object(fields) => fields.values().any(is_deeper),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn levels_are_counted_along_the_deepest_way() {
        for (value, levels) in [(json!(1), 0), (json!([]), 1), (json!([1, { "a": [2] }, []]), 3)] {
            assert!(!is_nested_deeper(&value, levels), "{value}");
            assert!(levels == 0 || is_nested_deeper(&value, levels - 1), "{value}");
        }
    }
}
