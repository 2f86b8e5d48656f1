//! Lists of objects, merged by the `id` of each.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Merger, Sides};
use crate::path::PathStep;

/// A list of objects, each with an `id` of its own.
struct Items<'v> {
    ids: Vec<String>,
    by_id: BTreeMap<String, &'v Value>,
}

impl<'v> Items<'v> {
    /// Reads a list; nothing if it is no list of objects with different ids.
    fn read(list: &'v Value) -> Option<Items<'v>> {
        let mut items = Items { ids: Vec::new(), by_id: BTreeMap::new() };
        for item in list.as_array()? {
            let id = id_of(item)?;
            items.ids.push(id.clone());
            if items.by_id.insert(id, item).is_some() {
                return None;
            }
        }
        Some(items)
    }

    fn get(&self, id: &str) -> Option<&'v Value> {
        self.by_id.get(id).copied()
    }

    /// Returns the ids that another list has too, in the order of this one.
    fn shared_with<'i>(&'i self, known: &BTreeSet<&str>) -> Vec<&'i str> {
        self.ids.iter().map(String::as_str).filter(|id| known.contains(id)).collect()
    }
}

/// Returns what tells an item from the others of its list: the number 1 and the text "1" are different.
pub(super) fn id_of(item: &Value) -> Option<String> {
    match item.as_object()?.get("id")? {
        id @ (Value::String(_) | Value::Number(_)) => Some(id.to_string()),
        _ => None,
    }
}

impl Merger {
    /// Merges lists of objects by their ids; nothing if a side is another list.
    pub(super) fn merge_items(&mut self, sides: Sides<'_>) -> Option<Value> {
        let none = Value::Array(Vec::new());
        let (edited, now) = (Items::read(sides.edited?)?, Items::read(sides.now?)?);
        let base = Items::read(sides.base.unwrap_or(&none))?;
        let mut merged: BTreeMap<&str, Value> = BTreeMap::new();
        let added = edited.ids.iter().filter(|id| now.get(id).is_none());
        for (place, id) in now.ids.iter().chain(added).enumerate() {
            let sides = Sides { base: base.get(id), edited: edited.get(id), now: now.get(id) };
            // The path leads to where the item is now, or would be added.
            if let Some(item) = self.within(PathStep::Index(place.min(now.ids.len())), sides) {
                merged.insert(id, item);
            }
        }
        let (first, second) =
            if self.is_moved_by_edit(&base, &edited, &now) { (&edited, &now) } else { (&now, &edited) };
        let order = put_in(first, second);
        Some(order.into_iter().filter_map(|id| merged.remove(id)).collect())
    }

    /// Tells whether the items are in the order of the edit: it alone moved some.
    fn is_moved_by_edit(&mut self, base: &Items<'_>, edited: &Items<'_>, now: &Items<'_>) -> bool {
        let is_everywhere = |id: &&str| edited.get(id).is_some() && now.get(id).is_some();
        let shared: BTreeSet<&str> = base.ids.iter().map(String::as_str).filter(is_everywhere).collect();
        let [before, theirs, ours] = [base, edited, now].map(|side| side.shared_with(&shared));
        if theirs != before && ours != before && theirs != ours {
            self.conflicts.push(self.at.clone());
        }
        theirs != before && ours == before
    }
}

/// Returns the ids of a list, with those that only the other has behind the ones that they follow there.
fn put_in<'i>(list: &'i Items<'_>, other: &'i Items<'_>) -> Vec<&'i str> {
    let mut added: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    let mut before: Option<&str> = None;
    for id in &other.ids {
        if list.by_id.contains_key(id) {
            before = Some(id);
        } else {
            added.entry(before).or_default().push(id);
        }
    }
    let mut order = added.remove(&None).unwrap_or_default();
    let mut waiting: Vec<&str> = Vec::new();
    for id in &list.ids {
        // What this list has behind the same item comes first.
        if other.by_id.contains_key(id) {
            order.append(&mut waiting);
            waiting = added.remove(&Some(id)).unwrap_or_default();
        }
        order.push(id);
    }
    order.append(&mut waiting);
    order
}
