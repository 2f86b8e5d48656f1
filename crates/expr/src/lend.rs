//! Lets an expression name a field that its input does not have, without copying the input.
//!
//! The engine evaluates over one value. The owner of that value adds the field for the duration of a call and gets both
//! back unchanged. Copying a state of several megabytes for each edge would make the cost of a step grow with the state.

use serde_json::Value;

/// Runs `look` while `input` has `field` under `name`, then puts everything back and returns `field` too.
///
/// A field that was there under that name is hidden meanwhile, and keeps its place. An input that is no object has
/// no fields to name, and `look` sees it as it is.
pub fn lend_field<R>(
    input: &mut Value,
    name: &str,
    field: Value,
    look: impl FnOnce(&Value) -> R,
) -> (R, Value) {
    let Value::Object(fields) = &mut *input else { return (look(input), field) };
    let hidden = fields.insert(name.to_owned(), field);
    let seen = look(input);
    let Value::Object(fields) = input else { return (seen, Value::Null) };
    let lent = match hidden {
        Some(hidden) => fields.insert(name.to_owned(), hidden),
        None => fields.shift_remove(name),
    };
    (seen, lent.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_lent_field_is_seen_and_given_back() {
        let mut state = json!({ "a": 1, "b": 2 });
        let (seen, output) = lend_field(&mut state, "output", json!("x"), |input| input.to_string());
        assert_eq!(seen, r#"{"a":1,"b":2,"output":"x"}"#);
        assert_eq!((state.to_string().as_str(), output), (r#"{"a":1,"b":2}"#, json!("x")));
    }

    #[test]
    fn a_field_of_the_same_name_is_hidden_and_keeps_its_place() {
        let mut state = json!({ "output": "old", "b": 2 });
        let (seen, output) = lend_field(&mut state, "output", json!("new"), |input| input.to_string());
        assert_eq!(seen, r#"{"output":"new","b":2}"#);
        assert_eq!((state.to_string().as_str(), output), (r#"{"output":"old","b":2}"#, json!("new")));
    }

    #[test]
    fn what_has_no_fields_is_left_alone() {
        let mut state = json!([1]);
        assert_eq!(lend_field(&mut state, "output", json!(2), Value::clone), (json!([1]), json!(2)));
    }
}
