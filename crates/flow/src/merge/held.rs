//! Whether a later state still has what an edit put into an earlier one.
//!
//! A step that derives a value from the edited one keeps the edit: it may add fields and items, and move items that have an
//! `id`. A step that replaces it does not.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::items::id_of;
use crate::patch::{Assigned, Patch};
use crate::path::{PathStep, ResolvedPath};

/// What an edit took out of an object or a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    /// The object or the list.
    pub place: ResolvedPath,
    /// The name of the field, or the `id` of the item as JSON.
    pub name: String,
}

/// Finds what patches take out of a state.
pub fn find_gone(before: &Value, patches: &[Patch]) -> Vec<Gone> {
    let mut gone = Vec::new();
    for Patch { place, assigned } in patches {
        if let (Some(before), Assigned::Value(after)) = (place.find(before), assigned) {
            collect_gone(&mut place.clone(), before, after, &mut gone);
        }
    }
    gone
}

fn collect_gone(at: &mut ResolvedPath, before: &Value, after: &Value, gone: &mut Vec<Gone>) {
    let take_out = |at: &ResolvedPath, name: String| Gone { place: at.clone(), name };
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in before {
                match after.get(name) {
                    None => gone.push(take_out(at, name.clone())),
                    Some(now) => {
                        at.0.push(PathStep::Key(name.as_str().into()));
                        collect_gone(at, value, now, gone);
                        at.0.pop();
                    }
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            let ids: std::collections::BTreeMap<String, usize> =
                after.iter().enumerate().filter_map(|(index, item)| Some((id_of(item)?, index))).collect();
            for item in before {
                let Some(id) = id_of(item) else { continue };
                match ids.get(&id) {
                    None => gone.push(take_out(at, id)),
                    Some(index) => {
                        at.0.push(PathStep::Index(*index));
                        collect_gone(at, item, &after[*index], gone);
                        at.0.pop();
                    }
                }
            }
        }
        _ => {}
    }
}

/// Tells whether a later state has what an earlier one has at a place.
pub fn holds_value(earlier: &Value, later: &Value, place: &ResolvedPath) -> bool {
    match follow(earlier, later, place) {
        (Some(earlier), Some(later)) => contains(later, earlier),
        (earlier, _) => earlier.is_none(),
    }
}

/// Tells whether what was taken out of an earlier state is still not in a later one.
pub fn holds_gone(earlier: &Value, later: &Value, gone: &Gone) -> bool {
    match follow(earlier, later, &gone.place).1 {
        Some(Value::Object(fields)) => !fields.contains_key(&gone.name),
        Some(Value::Array(items)) => !items.iter().any(|item| id_of(item).as_ref() == Some(&gone.name)),
        _ => true,
    }
}

/// Returns what is at a place in both states; an item that has an id is found by it.
fn follow<'v>(
    earlier: &'v Value,
    later: &'v Value,
    place: &ResolvedPath,
) -> (Option<&'v Value>, Option<&'v Value>) {
    let mut found = (Some(earlier), Some(later));
    for step in place.steps() {
        let next = |value: Option<&'v Value>| match (value?, step) {
            (Value::Object(fields), PathStep::Key(name)) => fields.get(&**name),
            (Value::Array(items), PathStep::Index(index)) => items.get(*index),
            _ => None,
        };
        let before = next(found.0);
        let after = match (before.and_then(id_of), found.1) {
            (Some(id), Some(Value::Array(items))) => {
                items.iter().find(|item| id_of(item).as_ref() == Some(&id))
            }
            _ => next(found.1),
        };
        found = (before, after);
    }
    found
}

fn contains(later: &Value, earlier: &Value) -> bool {
    match (earlier, later) {
        (Value::Object(earlier), Value::Object(later)) => {
            earlier.iter().all(|(name, value)| later.get(name).is_some_and(|now| contains(now, value)))
        }
        (Value::Array(before), Value::Array(now)) => {
            let by_id: std::collections::BTreeMap<String, &Value> =
                now.iter().filter_map(|item| Some((id_of(item)?, item))).collect();
            let has = |(index, item): (usize, &Value)| match id_of(item) {
                Some(id) => by_id.get(&id).is_some_and(|now| contains(now, item)),
                None => now.get(index) == Some(item),
            };
            before.iter().enumerate().all(has)
        }
        _ => earlier == later,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(steps: Value) -> ResolvedPath {
        serde_json::from_value(steps).unwrap()
    }

    #[test]
    fn what_is_derived_from_an_edit_holds_it() {
        let earlier = json!({ "p": { "t": "mine", "l": [{ "id": 1, "t": "x" }, { "id": 2 }], "n": [1, 2] } });
        let holds = |later: Value, place: Value| holds_value(&earlier, &json!({ "p": later }), &path(place));
        assert!(holds(json!({ "t": "mine", "more": 1 }), json!(["p", "t"])));
        assert!(!holds(json!({ "t": "other" }), json!(["p", "t"])));
        let moved = json!({ "l": [{ "id": 2, "done": true }, { "id": 1, "t": "x", "done": true }] });
        assert!(holds(moved.clone(), json!(["p", "l", 0])));
        assert!(holds(moved.clone(), json!(["p", "l", 0, "t"])));
        assert!(holds(moved, json!(["p", "l"])));
        assert!(!holds(json!({ "l": [{ "id": 2 }] }), json!(["p", "l", 0, "t"])));
        assert!(!holds(json!({ "l": [{ "id": 2 }] }), json!(["p", "l"])));
        assert!(holds(json!({ "n": [1, 2, 3] }), json!(["p", "n"])));
        assert!(!holds(json!({ "n": [2, 3] }), json!(["p", "n"])));
        assert!(!holds(json!(null), json!(["p"])));
    }

    #[test]
    fn what_an_edit_took_out_may_not_come_back() {
        let before = json!({ "p": { "t": 1, "l": [{ "id": 1, "x": 1 }, { "id": 2 }] } });
        let edited = json!({ "l": [{ "id": 1 }] });
        let gone = find_gone(
            &before,
            &[Patch { place: path(json!(["p"])), assigned: Assigned::Value(edited.clone()) }],
        );
        let names: Vec<String> = gone.iter().map(|gone| format!("{} {}", gone.place, gone.name)).collect();
        assert_eq!(names, ["p t", "p.l[0] x", "p.l 2"]);
        let earlier = json!({ "p": edited });
        let held = |later: Value| -> Vec<bool> {
            gone.iter().map(|gone| holds_gone(&earlier, &json!({ "p": later }), gone)).collect()
        };
        assert_eq!(held(json!({ "l": [{ "id": 1, "done": true }, { "id": 3 }] })), [true, true, true]);
        assert_eq!(held(before["p"].clone()), [false, false, false]);
    }
}
