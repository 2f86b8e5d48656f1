//! A path to one place in a value, with nothing left to evaluate.
//!
//! Following it costs the same in a list of ten and of ten thousand. In the log it is an array of names and numbers.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::place::is_plain_name;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PathStep {
    /// The field of that name, which paths of one workflow share.
    Key(Arc<str>),
    /// The item with that number, from 0.
    Index(usize),
}

/// A path from the top of a value to one place in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResolvedPath(pub Vec<PathStep>);

impl ResolvedPath {
    /// Returns the steps.
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    /// Returns what is there, if anything is.
    pub fn find<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        find_along(root, &self.0)
    }
}

/// Follows steps from a value.
pub(crate) fn find_along<'v>(root: &'v Value, steps: &[PathStep]) -> Option<&'v Value> {
    steps.iter().try_fold(root, |value, step| match (value, step) {
        (Value::Object(fields), PathStep::Key(name)) => fields.get(&**name),
        (Value::Array(items), PathStep::Index(index)) => items.get(*index),
        _ => None,
    })
}

/// Follows steps from a value that is to be changed.
pub(crate) fn find_along_mut<'v>(root: &'v mut Value, steps: &[PathStep]) -> Option<&'v mut Value> {
    steps.iter().try_fold(root, |value, step| match (value, step) {
        (Value::Object(fields), PathStep::Key(name)) => fields.get_mut(&**name),
        (Value::Array(items), PathStep::Index(index)) => items.get_mut(*index),
        _ => None,
    })
}

impl fmt::Display for ResolvedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_steps(f, &self.0)
    }
}

/// Writes steps as `tasks[0].status`, and a name that is not plain as `a["odd name"]`.
fn write_steps(f: &mut fmt::Formatter<'_>, steps: &[PathStep]) -> fmt::Result {
    for (number, step) in steps.iter().enumerate() {
        match step {
            PathStep::Index(index) => write!(f, "[{index}]")?,
            PathStep::Key(name) if !is_plain_name(name) => write!(f, "[{}]", Value::from(&**name))?,
            PathStep::Key(name) if number == 0 => f.write_str(name)?,
            PathStep::Key(name) => write!(f, ".{name}")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_is_followed_and_told() {
        let path: ResolvedPath = serde_json::from_value(json!(["tasks", 1, "odd name"])).unwrap();
        assert_eq!(path.to_string(), "tasks[1][\"odd name\"]");
        let state = json!({ "tasks": [{}, { "odd name": 5 }] });
        assert_eq!(path.find(&state), Some(&json!(5)));
        assert_eq!(path.find(&json!({ "tasks": { "1": 0 } })), None);
        assert_eq!(serde_json::to_value(&path).unwrap(), json!(["tasks", 1, "odd name"]));
    }
}
