//! One change of a state: a place and its new value.
//!
//! A value that is the output, or a part of it, is stored as a reference: the output is in the same event, so a
//! thousand tasks are in the log only once. Applying a patch touches nothing but its place.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::path::{PathStep, ResolvedPath, find_along_mut};

/// What a place is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assigned {
    /// What the node returned: the part of it at that path, or all of it if the path is empty.
    Output(ResolvedPath),
    /// A value.
    Value(Value),
}

impl Assigned {
    /// Returns the value itself. A part that the output does not have is null.
    pub fn value<'v>(&'v self, output: &'v Value) -> &'v Value {
        match self {
            Assigned::Output(path) => path.find(output).unwrap_or(&Value::Null),
            Assigned::Value(value) => value,
        }
    }
}

/// One change of a state.
///
/// In the log it is a short list, since a step has several: the place and the value; the place and nothing and the
/// part of the output; or the place alone for all of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The place.
    pub place: ResolvedPath,
    /// What it is set to.
    pub assigned: Assigned,
}

impl Serialize for Patch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.assigned {
            Assigned::Value(value) => (&self.place, value).serialize(serializer),
            Assigned::Output(all) if all.steps().is_empty() => (&self.place,).serialize(serializer),
            Assigned::Output(part) => (&self.place, (), part).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Patch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;

        impl<'de> Visitor<'de> for Parts {
            type Value = Patch;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter
                    .write_str("a place and its value, a place, null and a part of the output, or a place")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Patch, A::Error> {
                let place = parts.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
                let assigned = match parts.next_element()? {
                    None => Assigned::Output(ResolvedPath::default()),
                    Some(value) => parts.next_element()?.map_or(Assigned::Value(value), Assigned::Output),
                };
                Ok(Patch { place, assigned })
            }
        }

        deserializer.deserialize_seq(Parts)
    }
}

/// A place that cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceFault {
    /// What it would be in is not there.
    #[error("`{place}` cannot be set because `{parent}` is {found}: give it a default, or set it first")]
    Absent {
        /// The place.
        place: ResolvedPath,
        /// The first part of the way that is not there.
        parent: ResolvedPath,
        /// What is there instead: null, or nothing.
        found: &'static str,
    },
    /// What it would be in has no such fields or items.
    #[error("`{place}` cannot be set because `{parent}` is {found}")]
    Misfit {
        /// The place.
        place: ResolvedPath,
        /// The first part of the way that has no such parts.
        parent: ResolvedPath,
        /// What it is, such as `a list`.
        found: &'static str,
    },
    /// The list is too short; only the next item can be added.
    #[error("`{place}` is beyond the end of a list of {length}")]
    BeyondEnd {
        /// The place.
        place: ResolvedPath,
        /// How many items the list has.
        length: usize,
    },
}

/// Applies patches one after the other. It stops at the first that cannot be applied.
pub fn apply(root: &mut Value, patches: &[Patch], output: &Value) -> Result<(), PlaceFault> {
    patches
        .iter()
        .try_for_each(|patch| set(root, &patch.place, patch.assigned.value(output).clone()).map(drop))
}

/// Sets a place and returns what was there.
pub(crate) fn set(root: &mut Value, place: &ResolvedPath, value: Value) -> Result<Option<Value>, PlaceFault> {
    let Some((last, parents)) = place.steps().split_last() else { return Err(explain(root, place)) };
    match (find_along_mut(root, parents), last) {
        (Some(Value::Object(fields)), PathStep::Key(name)) => Ok(match fields.get_mut(&**name) {
            Some(field) => Some(std::mem::replace(field, value)),
            None => fields.insert((**name).to_owned(), value),
        }),
        (Some(Value::Array(items)), PathStep::Index(index)) => {
            let length = items.len();
            if *index == length {
                items.push(value);
                return Ok(None);
            }
            let item = items.get_mut(*index).ok_or(PlaceFault::BeyondEnd { place: place.clone(), length })?;
            Ok(Some(std::mem::replace(item, value)))
        }
        _ => Err(explain(root, place)),
    }
}

/// Says why there is nothing to set a place in.
fn explain(root: &Value, place: &ResolvedPath) -> PlaceFault {
    let within = |end: usize| ResolvedPath(place.steps()[..end].to_vec());
    let leads = |end: &usize| {
        matches!(
            (within(*end).find(root), &place.steps()[*end]),
            (Some(Value::Object(_)), PathStep::Key(_)) | (Some(Value::Array(_)), PathStep::Index(_))
        )
    };
    let parent = within((0..place.steps().len()).find(|end| !leads(end)).unwrap_or_default());
    let place = place.clone();
    match parent.find(root) {
        None => PlaceFault::Absent { place, parent, found: "not there" },
        Some(Value::Null) => PlaceFault::Absent { place, parent, found: "null" },
        Some(value) => PlaceFault::Misfit { place, parent, found: kind_of(value) },
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Undoes a [`set`] that was the last change and returned `before`; returns what it had put there.
pub(crate) fn unset(root: &mut Value, place: &ResolvedPath, before: Option<Value>) -> Option<Value> {
    let (last, parents) = place.steps().split_last()?;
    match (find_along_mut(root, parents)?, last, before) {
        (Value::Object(fields), PathStep::Key(name), Some(before)) => {
            fields.get_mut(&**name).map(|field| std::mem::replace(field, before))
        }
        (Value::Object(fields), PathStep::Key(name), None) => fields.shift_remove(&**name),
        (Value::Array(items), PathStep::Index(index), Some(before)) => {
            items.get_mut(*index).map(|item| std::mem::replace(item, before))
        }
        (Value::Array(items), PathStep::Index(_), None) => items.pop(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(steps: Value) -> ResolvedPath {
        serde_json::from_value(steps).unwrap()
    }

    fn told(root: Value, place: Value) -> String {
        let mut root = root;
        let patch = Patch { place: path(place), assigned: Assigned::Value(json!(9)) };
        match apply(&mut root, &[patch], &Value::Null) {
            Ok(()) => root.to_string(),
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn a_place_is_set_added_or_refused() {
        let absent = |place: &str, parent: &str, found: &str| {
            format!(
                "`{place}` cannot be set because `{parent}` is {found}: give it a default, or set it first"
            )
        };
        assert_eq!(told(json!({"a": [1, 2]}), json!(["a", 1])), r#"{"a":[1,9]}"#);
        assert_eq!(told(json!({"a": [1, 2]}), json!(["a", 2])), r#"{"a":[1,2,9]}"#);
        assert_eq!(told(json!({"a": [1, 2]}), json!(["a", 3])), "`a[3]` is beyond the end of a list of 2");
        assert_eq!(told(json!({"a": {}}), json!(["a", "b"])), r#"{"a":{"b":9}}"#);
        assert_eq!(told(json!({"a": {}}), json!(["a", "b", "c"])), absent("a.b.c", "a.b", "not there"));
        assert_eq!(told(json!({}), json!(["a", "b", "c"])), absent("a.b.c", "a", "not there"));
        assert_eq!(told(json!({"a": null}), json!(["a", "b"])), absent("a.b", "a", "null"));
        assert_eq!(told(json!({"a": {}}), json!(["a", 0])), "`a[0]` cannot be set because `a` is an object");
        assert_eq!(
            told(json!({"a": [1]}), json!(["a", 0, "b"])),
            "`a[0].b` cannot be set because `a[0]` is a number"
        );
        assert_eq!(told(json!({}), json!([])), "`` cannot be set because `` is an object");
    }

    #[test]
    fn what_is_a_part_of_the_output_is_in_the_log_as_a_reference() {
        let patches = [
            Patch { place: path(json!(["all"])), assigned: Assigned::Output(path(json!([]))) },
            Patch { place: path(json!(["tasks"])), assigned: Assigned::Output(path(json!(["tasks"]))) },
            Patch { place: path(json!(["n"])), assigned: Assigned::Value(json!(1.5)) },
        ];
        let text = serde_json::to_string(&patches).unwrap();
        assert_eq!(text, r#"[[["all"]],[["tasks"],null,["tasks"]],[["n"],1.5]]"#);
        let read: Vec<Patch> =
            serde_json::from_str(&text.replace(r#"[["all"]]"#, r#"[["all"],null,[]]"#)).unwrap();
        assert_eq!(read, patches);
        let read: Vec<Patch> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, patches);
        let mut state = json!({});
        apply(&mut state, &read, &json!({"tasks": [7]})).unwrap();
        assert_eq!(state, json!({"all": {"tasks": [7]}, "tasks": [7], "n": 1.5}));
    }
}
