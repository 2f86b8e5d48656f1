//! The children of a `map` node: which start, which end, and what follows from all of them.

use super::step::make_step;
use super::{ChildEnd, Event, Inputs, Mapping, Phase, Run};
use crate::RunId;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) fn children_started(
    inputs: Inputs<'_>,
    run: &Run,
    step: u64,
    children: &BTreeMap<String, RunId>,
) -> Vec<Event> {
    let run_id = run.id;
    let Some(Phase::Mapping(mapping)) = run.phase() else { return Vec::new() };
    if step != run.step || !run.is_asked() {
        return Vec::new();
    }
    if mapping.is_over() {
        return make_step(inputs, run, gather(mapping), None);
    }
    let waiting = children.iter().filter(|(key, _)| mapping.is_waiting(key));
    let children: BTreeMap<String, RunId> = waiting.map(|(key, run)| (key.clone(), *run)).collect();
    if children.is_empty() {
        return Vec::new();
    }
    vec![Event::RunChildrenStarted { run_id, step, children }]
}

pub(super) fn child_ended(inputs: Inputs<'_>, run: &Run, child: RunId, end: &ChildEnd) -> Vec<Event> {
    let (run_id, step) = (run.id, run.step);
    let Some(Phase::Mapping(mapping)) = run.phase() else { return Vec::new() };
    let Some(found) = mapping.find_run(child).filter(|found| found.end.is_none()) else {
        return Vec::new();
    };
    let key = found.item.key.clone();
    let lost = match end {
        ChildEnd::Completed { .. } => Vec::new(),
        ChildEnd::Failed { .. } | ChildEnd::Skipped => mapping.find_lost(&key),
    };
    let skipped = lost.into_iter().map(|key| (key.to_owned(), ChildEnd::Skipped));
    let ends: Vec<(String, ChildEnd)> = [(key, end.clone())].into_iter().chain(skipped).collect();
    // With the last one ended the step is made; a run that is held makes it when it is resumed.
    let is_last = mapping.count_open() == ends.len() && !run.is_held();
    let output = is_last.then(|| {
        let mut mapping = mapping.clone();
        ends.iter().for_each(|(key, end)| mapping.end(key, end.clone()));
        gather(&mapping)
    });
    let ended = |(item, child)| Event::RunChildEnded { run_id, step, item, child };
    let mut events: Vec<Event> = ends.into_iter().map(ended).collect();
    events.extend(output.into_iter().flat_map(|output| make_step(inputs, run, output, None)));
    events
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
    mapping.children().iter().map(entry).collect()
}
