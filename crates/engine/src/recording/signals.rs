//! The signals that a recorded run got, and how a replay gets them at the same steps.
//!
//! Nobody waits in a replay, so a signal that came while a role worked is given before the role plays its answer, and so is
//! an edit of a file.

use crate::commands::orders::Caller;
use crate::commands::run_orders::load_facts;
use crate::commands::signals::signal_from;
use crate::core::message::Party;
use crate::core::run::{Event, RecordingMode, Run};
use crate::core::{Actor, Fact};
use crate::error::Error;
use crate::project::Project;
use crate::recording::edits;
use crate::recording::recorder::Recording;
use crate::runs::path::find_path;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// A signal that a recorded run got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedSignal {
    /// The step that it was at.
    pub step: u64,
    /// The name of the signal.
    pub signal: String,
    /// What came with it.
    pub input: Value,
    /// Who sent it.
    pub from: Party,
    /// Whether the run had ended, and continued.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continued: bool,
}

/// Finds the signals that a run got, in their order.
pub(crate) fn find_signals(facts: &[Fact<Event>]) -> Vec<RecordedSignal> {
    let signal = |fact: &Fact<Event>| match &fact.event {
        Event::RunSignalled { step, signal, input, from, next, .. } => Some(RecordedSignal {
            step: *step,
            signal: signal.clone(),
            input: input.clone(),
            from: from.clone(),
            continued: next.is_some(),
        }),
        _ => None,
    };
    facts.iter().filter_map(signal).collect()
}

/// Gives a replay the next signal or edit that the recorded run got at the step that it is at; tells whether there was one.
pub(crate) async fn give_due(project: &Project, run: &Run) -> Result<bool, Error> {
    let Some(RecordingMode::Replay(folder)) = &run.recording else { return Ok(false) };
    let head = Recording::at(Path::new(folder)).head()?;
    let Some(recorded) = head.find_run(&find_path(project, run).await?) else { return Ok(false) };
    if recorded.signals.is_empty() && recorded.edits.is_empty() {
        return Ok(false);
    }
    let facts = load_facts(project, run.id).await?;
    let given = find_signals(&facts).len();
    if edits::give_due(project, (run, &facts), &recorded.edits, given).await? {
        return Ok(true);
    }
    let is_due = |next: &&RecordedSignal| next.step == run.step && next.continued == run.is_over();
    let Some(next) = recorded.signals.get(given).filter(is_due) else { return Ok(false) };
    let input = (next.signal.as_str(), next.input.clone());
    signal_from(project, &Caller::new(Actor::Engine), run.id, input, next.from.clone()).await?;
    Ok(true)
}
