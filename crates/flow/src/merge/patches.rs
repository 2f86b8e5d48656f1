//! The patches that turn one value into another, each as small as a patch can be: a patch sets, and never removes.

use serde_json::Value;

use super::items::id_of;
use crate::patch::{Assigned, Patch};
use crate::path::{PathStep, ResolvedPath};

/// Returns what makes the value at a place another one.
pub(super) fn between(place: &ResolvedPath, before: Option<&Value>, after: &Value) -> Vec<Patch> {
    let mut patches = Vec::new();
    collect(&mut place.clone(), before, after, &mut patches);
    patches
}

fn collect(at: &mut ResolvedPath, before: Option<&Value>, after: &Value, patches: &mut Vec<Patch>) {
    match (before, after) {
        (Some(before), after) if before == after => {}
        (Some(Value::Object(before)), Value::Object(after))
            if before.keys().all(|name| after.contains_key(name)) =>
        {
            for (name, value) in after {
                at.0.push(PathStep::Key(name.as_str().into()));
                collect(at, before.get(name), value, patches);
                at.0.pop();
            }
        }
        (Some(Value::Array(before)), Value::Array(after)) if keeps_items(before, after) => {
            for (index, value) in after.iter().enumerate() {
                at.0.push(PathStep::Index(index));
                collect(at, before.get(index), value, patches);
                at.0.pop();
            }
        }
        (_, after) => patches.push(Patch { place: at.clone(), assigned: Assigned::Value(after.clone()) }),
    }
}

/// Tells whether the items of a list are the first of the other, as they are or with other fields.
fn keeps_items(before: &[Value], after: &[Value]) -> bool {
    let is_same = |(before, after): (&Value, &Value)| {
        before == after || id_of(before).is_some_and(|id| id_of(after) == Some(id))
    };
    before.len() <= after.len() && before.iter().zip(after).all(is_same)
}
