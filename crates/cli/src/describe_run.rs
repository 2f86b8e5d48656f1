//! Events of runs in a person's words, one line each.
//!
//! What a role returned may be of any size, so it is not shown: a step is described by where it led, and by what the edge
//! that was taken saw.

use crate::screen::{GREEN, RED, YELLOW};
use anstyle::Style;
use regatta_engine::core::run::{Begin, ChildEnd, Choice, Event, MemberCame, Next};
use regatta_engine::core::{Failure, RunId};
use regatta_engine::runs::describe_next;
use regatta_flow::Seen;
use serde_json::Value;
use std::fmt::Display;

/// A line that is longer says no more to a person; `regatta events --json` has the rest.
const LINE_CHARACTERS_MAX: usize = 240;

/// More names than this do not help a reader.
const NAMES_MAX: usize = 8;

/// More values than this do not make a choice clearer.
const SEEN_MAX: usize = 3;

/// The longest value that is shown whole.
const VALUE_CHARACTERS_MAX: usize = 40;

/// Says what happened to a run; `item` is what its node worked on, where that is known.
pub(crate) fn describe_run(event: &Event, item: Option<&str>) -> String {
    shorten(&say(event, item), LINE_CHARACTERS_MAX)
}

fn say(event: &Event, item: Option<&str>) -> String {
    match event {
        Event::WorkflowKept { name, files, .. } => {
            format!("workflow {name} kept ({})", count(files.len(), "file", "files"))
        }
        Event::RunCreated { plan, .. } => say_begin(plan),
        Event::RunPublished { tasks, .. } if tasks.is_empty() => "on the board: nothing new".to_owned(),
        Event::RunPublished { tasks, .. } => {
            let names = tasks.iter().map(|(key, task)| format!("{key} is #{task}"));
            format!("on the board: {}", list(names))
        }
        Event::RunStepped { step, node, choice, next, outcome, .. } => {
            let on = outcome.as_ref().map_or_else(String::new, |outcome| format!(" ({})", outcome.on));
            let item = item.map_or_else(String::new, |item| format!(" {item}"));
            let seen = if let Next::Ask { .. } = next { String::new() } else { say_seen(choice) };
            format!("step {step}: {node}{item}{on}, {} → {}{seen}", say_edge(choice), describe_next(next))
        }
        Event::RunMemberEnded { step, node, came, .. } => match came {
            MemberCame::Returned { .. } => format!("step {step}: {node} has ended"),
            MemberCame::Refused { faults, asks } => format!(
                "step {step}: the answer of {node} does not fit its schema, asked again ({asks}): {}",
                list(faults)
            ),
            MemberCame::Failed { error } => format!("step {step}: {node} failed: {}", say_error(error)),
        },
        Event::RunOutputRefused { step, faults, asks, .. } => {
            format!("step {step}: the answer does not fit its schema, asked again ({asks}): {}", list(faults))
        }
        Event::RunAgentRefused { agent_id, what, .. } => format!("{agent_id} was denied {what}"),
        Event::RunChildrenStarted { children, .. } => {
            format!("children: {}", list(children.iter().map(|(key, run)| format!("{key} is run {run}"))))
        }
        Event::RunChildEnded { item, child, .. } => match child {
            ChildEnd::Completed { .. } => format!("child {item} completed"),
            ChildEnd::Failed { error } => format!("child {item} failed: {}", say_error(error)),
            ChildEnd::Skipped => format!("child {item} skipped: what it depends on did not complete"),
        },
        Event::RunLanded { task_id, next, .. } => format!("#{task_id} is merged → {}", describe_next(next)),
        Event::RunSentBack { task_id, feedback, next, .. } => {
            format!("#{task_id} was sent back → {}: {feedback}", describe_next(next))
        }
        Event::RunSignalled { signal, from, next: Some(next), .. } => {
            format!("signal {signal} from {from} → {}", describe_next(next))
        }
        Event::RunSignalled { signal, from, next: None, .. } => format!("signal {signal} from {from}"),
        Event::RunEdited { mark, set, .. } => {
            let places: Vec<String> = set.iter().map(|patch| patch.place.to_string()).collect();
            format!("{} was edited: {}", mark.path, list(places))
        }
        Event::RunEditKept { kept, error, .. } => format!("edit kept as {kept}: {}", say_error(error)),
        Event::RunHeld { error, .. } => format!("held: {}", say_error(error)),
        Event::RunPutOff { step, .. } => format!("paused before step {step}"),
        Event::RunPaused { .. } => "paused".to_owned(),
        Event::RunResumed { .. } => "resumed".to_owned(),
        Event::RunParentPaused { .. } => "paused with the run that waits for it".to_owned(),
        Event::RunParentResumed { .. } => "resumed with the run that waits for it".to_owned(),
        Event::RunStopping { reason: Some(reason), .. } => format!("stopping: {reason}"),
        Event::RunStopping { reason: None, .. } => "stopping".to_owned(),
        Event::RunCompleted { .. } => "completed".to_owned(),
        Event::RunFailed { error, .. } => format!("failed: {}", say_error(error)),
    }
}

/// Returns how the line of an event looks.
pub(crate) fn style_of_run(event: &Event) -> Style {
    match event {
        Event::RunHeld { .. }
        | Event::RunFailed { .. }
        | Event::RunMemberEnded { came: MemberCame::Failed { .. }, .. } => RED,
        Event::RunLanded { .. } | Event::RunCompleted { .. } => GREEN,
        Event::RunStepped { next: Next::Ask { .. } | Next::Land { .. }, .. }
        | Event::RunSentBack { .. }
        | Event::RunOutputRefused { .. }
        | Event::RunMemberEnded { came: MemberCame::Refused { .. }, .. }
        | Event::RunAgentRefused { .. }
        | Event::RunEditKept { .. }
        | Event::RunPutOff { .. }
        | Event::RunPaused { .. }
        | Event::RunParentPaused { .. }
        | Event::RunStopping { .. } => YELLOW,
        _ => Style::new(),
    }
}

/// Names a run in a column, beside `#12` for a task.
pub(crate) fn name_of(run: RunId) -> String {
    format!("r{run}")
}

/// Returns the beginning of a text that is longer than `characters_max`.
pub(crate) fn shorten(text: &str, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Says how many there are, in the singular or the plural.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn say_begin(plan: &Begin) -> String {
    let Begin { workflow, level, next, .. } = plan;
    match (&plan.parent, &plan.forked) {
        (Some(parent), _) => {
            format!("{workflow} starts for {} of run {}: {}", parent.item, parent.run_id, describe_next(next))
        }
        (_, Some(fork)) => format!(
            "{workflow} continues as a fork of run {} at step {}: {}",
            fork.run_id,
            fork.step,
            describe_next(next)
        ),
        (None, None) => format!("{workflow} (level {level}) starts: {}", describe_next(next)),
    }
}

fn say_edge(choice: &Choice) -> String {
    let used_up = if choice.exhausted.is_some() { " is used up" } else { "" };
    format!("{}{used_up}", choice.edge)
}

/// Says what the edge saw that was taken.
fn say_seen(choice: &Choice) -> String {
    let taken = choice.tried.iter().find(|tried| tried.held && tried.edge == choice.edge);
    let seen = taken.map(|tried| tried.saw.as_slice()).unwrap_or_default();
    if seen.is_empty() {
        return String::new();
    }
    format!(", since {}", list_seen(seen))
}

/// Lists what an edge saw.
pub(crate) fn list_seen(seen: &[Seen]) -> String {
    let show = |seen: &Seen| match &seen.1 {
        Value::String(text) => {
            let text = shorten(&Value::from(text.as_str()).to_string(), VALUE_CHARACTERS_MAX);
            format!("{} = {text}", seen.0)
        }
        _ => seen.to_string(),
    };
    let mut told: Vec<String> = Vec::new();
    for seen in seen.iter().take(SEEN_MAX).map(show) {
        // A condition may read one place several times.
        if !told.contains(&seen) {
            told.push(seen);
        }
    }
    told.join(", ")
}

fn say_error(error: &Failure) -> String {
    format!("{}: {}", error.code, error.message)
}

fn list<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    let mut shown = all.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > NAMES_MAX {
        shown.push_str(&format!(" and {} more", all.len() - NAMES_MAX));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Event {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_step_says_where_it_led_and_what_the_edge_saw() {
        let event = read(json!({
            "type": "run:stepped", "runId": 1, "step": 2, "node": "coder", "output": { "code": "x".repeat(9_000) },
            "choice": { "edge": "coder-retry", "scope": "T001", "tried": [
                ["coder-blocked", false, [["output.status", "needs_revision"]]],
                ["coder-retry", true, [["coderOutput.selfValidation.passed", false], ["coderOutput.selfValidation.passed", false]]],
            ] },
            "next": { "do": "perform", "node": "coder", "item": "T001" },
        }));
        let told = "step 2: coder T001, coder-retry → coder for T001, since coderOutput.selfValidation.passed = false";
        assert_eq!(describe_run(&event, Some("T001")), told);
        assert_eq!(describe_run(&event, None), told.replace("coder T001,", "coder,"));
    }

    #[test]
    fn what_is_long_is_cut() {
        let tasks: serde_json::Map<String, Value> =
            (1..=20).map(|number| (format!("T{number:03}"), json!(number))).collect();
        let event = read(json!({ "type": "run:published", "runId": 1, "step": 2, "tasks": tasks }));
        assert!(
            describe_run(&event, None).ends_with("T008 is #8 and 12 more"),
            "{}",
            describe_run(&event, None)
        );
        let stopping = read(json!({ "type": "run:stopping", "runId": 1, "reason": "ä".repeat(1_000) }));
        assert_eq!(describe_run(&stopping, None).chars().count(), LINE_CHARACTERS_MAX + 1);
    }
}
