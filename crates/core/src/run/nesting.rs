//! Keeps values out of the log that could not be read back.
//!
//! A JSON parser gives up at 128 levels. What a role returns is bounded when it is judged; what expressions
//! and children make of it is checked here, in the events that would record it.

use super::{Event, Next, Run, failure};
use regatta_flow::{Patch, is_nested_deeper};
use serde_json::Value;

/// The deepest nesting of a state, and of what a run is given or leaves: an event, a snapshot and the list of a `map`
/// put less than twenty levels around it, which keeps below what a reader takes.
pub(super) const LEVELS_MAX: usize = 100;

/// Returns the events as they are, or with a failure of the run in the place of the first that could not be read back.
pub(super) fn keep_readable(run: &Run, mut events: Vec<Event>) -> Vec<Event> {
    let Some(first) = events.iter().position(is_too_deep) else { return events };
    let (output, outcome) = match events.drain(first..).next() {
        Some(Event::RunStepped { output, outcome: None, .. }) => (Some(output), None),
        Some(Event::RunStepped { outcome, .. }) => (None, outcome),
        _ => (None, None),
    };
    let error = failure::too_deep(run);
    events.push(Event::RunFailed { run_id: run.id, error, output, outcome, seen: None });
    events
}

/// Tells whether an event could be written and not be read again.
pub(super) fn is_too_deep(event: &Event) -> bool {
    if let Some(mail) = event.mail()
        && mail.data().any(|data| is_nested_deeper(data, LEVELS_MAX))
    {
        return true;
    }
    match event {
        Event::RunStepped { output, set, next, .. } => sets_too_deep(set, output) || hands_on_too_deep(next),
        Event::RunLanded { set, next, .. } | Event::RunSentBack { set, next, .. } => {
            sets_too_deep(set, &Value::Null) || hands_on_too_deep(next)
        }
        Event::RunSignalled { set, next, .. } => {
            sets_too_deep(set, &Value::Null) || next.as_ref().is_some_and(hands_on_too_deep)
        }
        Event::RunEdited { set, .. } => sets_too_deep(set, &Value::Null),
        Event::RunCreated { plan, .. } => {
            let of_files =
                plan.imported.iter().flat_map(|import| import.messages.iter().chain([&plan.state]));
            [&plan.input].into_iter().chain(of_files).any(|value| is_nested_deeper(value, LEVELS_MAX))
                || hands_on_too_deep(&plan.next)
        }
        Event::RunCompleted { result, .. } => is_nested_deeper(result, LEVELS_MAX),
        _ => false,
    }
}

pub(super) fn sets_too_deep(set: &[Patch], output: &Value) -> bool {
    set.iter().any(|patch| {
        let levels_max = LEVELS_MAX.checked_sub(patch.place.steps().len());
        levels_max.is_none_or(|levels_max| is_nested_deeper(patch.assigned.value(output), levels_max))
    })
}

fn hands_on_too_deep(next: &Next) -> bool {
    let Next::Map { items, .. } = next else { return false };
    items.iter().any(|item| is_nested_deeper(&item.input, LEVELS_MAX))
}
