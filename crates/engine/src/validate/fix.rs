//! The likely fix of what a schema does not allow, from what stands beside it.

use crate::core::find_nearest;
use regatta_flow::{PathStep, SchemaFault};
use serde_json::Value;

/// Returns what would most likely be right.
pub(super) fn find(fault: &SchemaFault, root: &Value, steps: &[PathStep]) -> Option<String> {
    let value = follow(root, steps);
    let message = &fault.message;
    if let Some((_, options)) = message.split_once(" is not one of ") {
        return name_option(value?, options);
    }
    if let Some(name) = message.strip_suffix(" is a required property") {
        return Some(name_missing(value, name.trim_matches('"')));
    }
    if message.starts_with("Additional properties are not allowed") {
        return Some("remove it, or correct its name".to_owned());
    }
    let (_, kind) = message.split_once(" is not of type")?;
    name_type(value?, kind)
}

/// One of a few words was expected.
fn name_option(value: &Value, options: &str) -> Option<String> {
    let options: Vec<Value> = serde_json::from_str(options).ok()?;
    let names: Vec<&str> = options.iter().filter_map(Value::as_str).collect();
    let given = value.as_str()?;
    let folded = given.to_lowercase().replace(['-', ' '], "_");
    let nearest =
        names.iter().copied().find(|name| *name == folded).or_else(|| find_nearest(given, names))?;
    Some(format!("write \"{nearest}\""))
}

/// A field is missing: it may be there under another name.
fn name_missing(value: Option<&Value>, name: &str) -> String {
    let keys = value.and_then(Value::as_object).into_iter().flatten().map(|(key, _)| key.as_str());
    let folded = |text: &str| text.to_lowercase().replace(['_', '-', ' '], "");
    let keys: Vec<&str> = keys.collect();
    let same = keys.iter().copied().find(|key| folded(key) == folded(name));
    let is_alike =
        |key: &&str| key.as_bytes().first() == name.as_bytes().first() && key.len().abs_diff(name.len()) <= 2;
    match same.or_else(|| find_nearest(name, keys).filter(is_alike)) {
        Some(key) => format!("rename \"{key}\" to \"{name}\""),
        None => format!("add \"{name}\""),
    }
}

/// A value of another type was expected.
fn name_type(value: &Value, kind: &str) -> Option<String> {
    let is_wanted = |name: &str| kind.contains(&format!("\"{name}\""));
    match value {
        Value::String(text) if is_wanted("integer") || is_wanted("number") => {
            text.trim().parse::<f64>().ok().map(|_| format!("write {} without quotes", text.trim()))
        }
        Value::String(text) if is_wanted("boolean") && ["true", "false"].contains(&text.as_str()) => {
            Some(format!("write {text} without quotes"))
        }
        Value::Number(_) | Value::Bool(_) if is_wanted("string") => Some(format!("write \"{value}\"")),
        Value::String(_) | Value::Number(_) if is_wanted("array") => Some(format!("write [{value}]")),
        Value::Null => Some("leave it out".to_owned()),
        _ => None,
    }
}

fn follow<'v>(root: &'v Value, steps: &[PathStep]) -> Option<&'v Value> {
    steps.iter().try_fold(root, |value, step| match step {
        PathStep::Key(name) => value.get(&**name),
        PathStep::Index(index) => value.get(*index),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_likely_fix_is_named() {
        let root = json!({ "status": "Done", "priority": "hgih", "dependsOn": [], "count": "8", "files": "a.rs", "end": null });
        let fix = |path: &str, message: &str| {
            let fault = SchemaFault { path: path.to_owned(), message: message.to_owned() };
            let steps: Vec<PathStep> =
                if path.is_empty() { vec![] } else { vec![PathStep::Key(path.into())] };
            find(&fault, &root, &steps)
        };
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(fix("status", r#""Done" is not one of ["open","done"]"#), is(r#"write "done""#));
        assert_eq!(fix("priority", r#""hgih" is not one of ["high","low"]"#), is(r#"write "high""#));
        assert_eq!(
            fix("", r#""depends_on" is a required property"#),
            is(r#"rename "dependsOn" to "depends_on""#)
        );
        assert_eq!(fix("", r#""description" is a required property"#), is(r#"add "description""#));
        assert_eq!(fix("count", r#""8" is not of type "integer""#), is("write 8 without quotes"));
        assert_eq!(fix("files", r#""a.rs" is not of type "array""#), is(r#"write ["a.rs"]"#));
        assert_eq!(fix("end", r#"null is not of type "string""#), is("leave it out"));
        assert_eq!(fix("count", "it is odd"), None);
    }
}
