//! The children of a `map` node: which start, which end, and what comes of them all.

use super::step::Player;
use super::{ChildEnd, Event, Mapping, Phase};
use crate::RunId;
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl Player<'_> {
    pub(super) fn children_started(&mut self, step: u64, children: BTreeMap<String, RunId>) -> Vec<Event> {
        let run_id = self.run.id;
        let Phase::Mapping(mapping) = &self.run.phase else { return Vec::new() };
        if step != self.run.step || !self.run.is_asked {
            return Vec::new();
        }
        if mapping.is_over() {
            let output = gather(mapping);
            return self.step(output, None);
        }
        let children: BTreeMap<String, RunId> =
            children.into_iter().filter(|(key, _)| mapping.is_waiting(key)).collect();
        if children.is_empty() {
            return Vec::new();
        }
        vec![Event::RunChildrenStarted { run_id, step, children }]
    }

    pub(super) fn child_ended(&mut self, child: RunId, end: ChildEnd) -> Vec<Event> {
        let (run_id, step) = (self.run.id, self.run.step);
        let Phase::Mapping(mapping) = &self.run.phase else { return Vec::new() };
        let ended = |item: String, end| Event::RunChildEnded { run_id, step, item, child: end };
        let mut mapping = mapping.clone();
        let Some(place) = mapping.children.iter_mut().find(|other| other.run == Some(child)) else {
            return Vec::new();
        };
        if place.end.is_some() {
            return Vec::new();
        }
        place.end = Some(end.clone());
        let mut events = vec![ended(place.item.key.clone(), end)];
        // Whatever depended on it can never start, and so on.
        loop {
            let lost: Vec<String> = mapping.skippable().into_iter().map(str::to_owned).collect();
            if lost.is_empty() {
                break;
            }
            for key in lost {
                let found = mapping.children.iter_mut().find(|child| child.item.key == key);
                found.expect("it was just found").end = Some(ChildEnd::Skipped);
                events.push(ended(key, ChildEnd::Skipped));
            }
        }
        // With the last one ended the step is made; a run that is held makes it when it is resumed.
        if mapping.is_over() && !self.run.is_held() {
            events.extend(self.step(gather(&mapping), None));
        }
        events
    }
}

/// Returns what a `map` node gives: one entry per item, in their order.
fn gather(mapping: &Mapping) -> Value {
    let entry = |child: &super::Child| {
        let key = &child.item.key;
        match &child.end {
            Some(ChildEnd::Completed { result }) => {
                json!({ "key": key, "status": "completed", "result": result })
            }
            Some(ChildEnd::Failed { error }) => json!({ "key": key, "status": "failed", "error": error }),
            Some(ChildEnd::Skipped) | None => json!({ "key": key, "status": "skipped" }),
        }
    };
    mapping.children.iter().map(entry).collect()
}
