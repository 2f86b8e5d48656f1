//! An edit of a document that follows a place of the state, merged with what the place holds by now.
//!
//! Three values are compared: the document as it was last written, as somebody edited it, and the place as it is now.
//! Objects are compared by field, lists of objects by their `id`, one text by line, and everything else as one value. What
//! only one side changed is kept; where both sides changed the same thing differently, the run's value stays and the place
//! is reported. Nothing here reads a file, and nothing knows a schema: the caller tries the patches.

mod held;
mod items;
mod lines;
mod patches;
#[cfg(test)]
mod tests;

pub use held::{Gone, find_gone, holds_gone, holds_value};

use serde_json::{Map, Value};

use crate::patch::Patch;
use crate::path::{PathStep, ResolvedPath};

/// The three sides of a merge; nothing where a side does not have the value.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'v> {
    /// The value as it was last written.
    pub base: Option<&'v Value>,
    /// The value as somebody edited it.
    pub edited: Option<&'v Value>,
    /// The value in the state as it is now.
    pub now: Option<&'v Value>,
}

/// An edit, merged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merged {
    /// What makes the state that is there now the merged one.
    pub patches: Vec<Patch>,
    /// What both sides changed differently, in which the state stays as it is.
    pub conflicts: Vec<ResolvedPath>,
}

/// Merges an edit of a place; `body` is the field of the place that is a text compared by line.
pub fn merge_place(place: &ResolvedPath, sides: Sides<'_>, body: Option<&str>) -> Merged {
    let mut body_path = body.map(|_| place.clone());
    if let (Some(path), Some(body)) = (&mut body_path, body) {
        path.0.push(PathStep::Key(body.into()));
    }
    let mut merger = Merger { at: place.clone(), body: body_path, conflicts: Vec::new() };
    let merged = merger.merge(sides);
    let patches = match &merged {
        Some(merged) => patches::between(place, sides.now, merged),
        // A place that is gone cannot be told by a patch; null is what a state has instead.
        None if sides.now.is_some_and(|now| !now.is_null()) => {
            patches::between(place, sides.now, &Value::Null)
        }
        None => Vec::new(),
    };
    Merged { patches, conflicts: merger.conflicts }
}

/// Returns what adds the items that somebody added at the end of a list, which only grows; nothing if the list was changed in
/// another way.
pub fn merge_list(list: &ResolvedPath, sides: Sides<'_>) -> Option<Vec<Patch>> {
    let items = |side: Option<&'_ Value>| side.and_then(Value::as_array).cloned().unwrap_or_default();
    let (base, edited, mut now) = (items(sides.base), items(sides.edited), items(sides.now));
    let added = edited.strip_prefix(base.as_slice())?;
    if added.is_empty() {
        return Some(Vec::new());
    }
    now.extend_from_slice(added);
    Some(patches::between(list, sides.now, &now.into()))
}

struct Merger {
    at: ResolvedPath,
    body: Option<ResolvedPath>,
    conflicts: Vec<ResolvedPath>,
}

impl Merger {
    /// Merges one value; nothing if the result does not have it.
    fn merge(&mut self, sides: Sides<'_>) -> Option<Value> {
        let Sides { base, edited, now } = sides;
        if edited == base || edited == now {
            return now.cloned();
        }
        if now == base {
            return edited.cloned();
        }
        if let (Some(Value::Object(edited)), Some(Value::Object(now))) = (edited, now) {
            let none = Map::new();
            return match base {
                Some(Value::Object(base)) => Some(self.merge_fields(base, edited, now)),
                // Both sides made it; what they agree on is no conflict.
                None => Some(self.merge_fields(&none, edited, now)),
                Some(_) => self.conflict(sides),
            };
        }
        if let Some(merged) = self.merge_items(sides).or_else(|| self.merge_text(sides)) {
            return Some(merged);
        }
        self.conflict(sides)
    }

    fn conflict(&mut self, sides: Sides<'_>) -> Option<Value> {
        self.conflicts.push(self.at.clone());
        sides.now.cloned()
    }

    fn within(&mut self, step: PathStep, sides: Sides<'_>) -> Option<Value> {
        self.at.0.push(step);
        let merged = self.merge(sides);
        self.at.0.pop();
        merged
    }

    fn merge_fields(
        &mut self,
        base: &Map<String, Value>,
        edited: &Map<String, Value>,
        now: &Map<String, Value>,
    ) -> Value {
        let mut merged = Map::new();
        let added = edited.keys().filter(|name| !now.contains_key(*name));
        for name in now.keys().chain(added) {
            let sides = Sides { base: base.get(name), edited: edited.get(name), now: now.get(name) };
            if let Some(value) = self.within(PathStep::Key(name.as_str().into()), sides) {
                merged.insert(name.clone(), value);
            }
        }
        merged.into()
    }

    fn merge_text(&mut self, sides: Sides<'_>) -> Option<Value> {
        if self.body.as_ref() != Some(&self.at) {
            return None;
        }
        let text = |side: Option<&'_ Value>| side.and_then(Value::as_str).map(str::to_owned);
        let (edited, now) = (text(sides.edited)?, text(sides.now)?);
        let merged = lines::merge(&text(sides.base).unwrap_or_default(), &edited, &now);
        if merged.is_conflict {
            self.conflicts.push(self.at.clone());
        }
        Some(merged.text.into())
    }
}
