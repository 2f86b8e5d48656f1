//! The edits of a recorded run's files, and how a replay gets them at the same steps.
//!
//! What an edit came to is recorded, and not the file: a replay has files of its own.

use crate::commands::run_edits;
use crate::core::Fact;
use crate::core::run::{EditContent, EditMark, Event, FoundEdit, Run};
use crate::error::Error;
use crate::project::Project;
use crate::recording::signals::find_signals;
use regatta_flow::Patch;
use serde::{Deserialize, Serialize};

/// An edit of a file of a recorded run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedEdit {
    /// The step that the run was at.
    pub step: u64,
    /// How many signals it had got before.
    #[serde(default)]
    pub signals: usize,
    /// Which edit it was.
    #[serde(flatten)]
    pub mark: EditMark,
    /// What it changed.
    pub set: Vec<Patch>,
}

/// Finds the edits that a run took in, in their order.
pub(crate) fn find_edits(facts: &[Fact<Event>]) -> Vec<RecordedEdit> {
    let edit = |(number, fact): (usize, &Fact<Event>)| match &fact.event {
        Event::RunEdited { step, mark, set, .. } => Some(RecordedEdit {
            step: *step,
            signals: find_signals(&facts[..number]).len(),
            mark: mark.clone(),
            set: set.clone(),
        }),
        _ => None,
    };
    facts.iter().enumerate().filter_map(edit).collect()
}

/// Gives a replay the next edit that the recorded run took in at the step that it is at, after as many signals; tells
/// whether there was one.
pub(crate) async fn give_due(
    project: &Project,
    (run, facts): (&Run, &[Fact<Event>]),
    recorded: &[RecordedEdit],
    signals: usize,
) -> Result<bool, Error> {
    let given = facts.iter().filter(|fact| matches!(fact.event, Event::RunEdited { .. })).count();
    let is_due = |next: &&RecordedEdit| next.step == run.step && next.signals == signals && !run.is_over();
    let Some(next) = recorded.get(given).filter(is_due) else { return Ok(false) };
    let content = EditContent::Patches(next.set.clone());
    let events = run_edits::give(project, run.id, FoundEdit { mark: next.mark.clone(), content }).await?;
    Ok(!events.is_empty())
}
