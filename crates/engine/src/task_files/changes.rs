//! What an edit of a task file means to the rules.

use crate::core::{CriterionNote, FileChange, ProgressNote, is_title};
use regatta_files::{Change, SessionEntry, TaskFile, Title, changes, disk};

/// The words that mark an entry which the engine wrote.
pub(crate) const BY_ENGINE: &str = "(written by the engine)";
/// The summary is shown to every dependent in every session, so it must not grow with the output.
const SUMMARY_CHARACTERS_MAX: usize = 2_000;

/// Returns the news in the step from one version to another.
pub(crate) fn between(old: &TaskFile, new: &TaskFile) -> Vec<FileChange> {
    let changes = changes(old, new);
    let is_reshaped = |change: &Change| {
        matches!(
            change,
            Change::CriterionAdded { .. }
                | Change::CriterionRemoved { .. }
                | Change::CriterionReworded { .. }
        )
    };
    let mut found: Vec<FileChange> = Vec::new();
    if changes.iter().any(is_reshaped) {
        found.push(FileChange::CriteriaSet { criteria: new.criteria().iter().map(note_of).collect() });
        found.extend(
            changes.iter().filter(|change| !is_criterion(change)).filter_map(|change| change_of(change, new)),
        );
    } else {
        found.extend(changes.iter().filter_map(|change| change_of(change, new)));
    }
    found
}

/// Returns the news that a chain output was written, as the file now has it.
pub(crate) fn output_of(file: &TaskFile) -> FileChange {
    match file.chain_output() {
        None => FileChange::OutputRemoved,
        Some(output) => {
            let summary = file.summary_of_output().unwrap_or(output);
            FileChange::OutputWritten {
                digest: disk::Digest::of(output.as_bytes()).as_str().to_owned(),
                summary: summary.chars().take(SUMMARY_CHARACTERS_MAX).collect(),
            }
        }
    }
}

/// Returns the news that a file came with sessions that were archived elsewhere.
pub(crate) fn archived_of(old: &TaskFile, new: &TaskFile) -> Option<FileChange> {
    let summary = new.archived()?;
    let is_new = old.archived().is_none_or(|known| known.last < summary.last);
    is_new.then_some(FileChange::Archived { first: summary.first, last: summary.last, bytes: 0 })
}

/// Returns the news of one entry of the progress log.
pub(crate) fn progress_of(entry: &SessionEntry) -> FileChange {
    FileChange::ProgressLogged(ProgressNote {
        number: entry.number,
        at: entry.at.clone(),
        did: entry.did.clone(),
        issues: entry.issues.clone(),
        next: entry.next.clone(),
        by_engine: entry.text.contains(BY_ENGINE),
    })
}

fn is_criterion(change: &Change) -> bool {
    matches!(change, Change::CriterionTicked { .. } | Change::CriterionUnticked { .. })
}

fn change_of(change: &Change, new: &TaskFile) -> Option<FileChange> {
    let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    Some(match change {
        Change::CriterionTicked { index, text } => {
            FileChange::CriterionChecked { index: number(*index), text: text.clone() }
        }
        Change::CriterionUnticked { index, text } => {
            FileChange::CriterionUnchecked { index: number(*index), text: text.clone() }
        }
        Change::SessionAppended(entry) => progress_of(entry),
        Change::ChainOutputWritten | Change::ChainOutputChanged | Change::ChainOutputRemoved => {
            output_of(new)
        }
        Change::TitleEdited => {
            let title = new.title().map(Title::plain).filter(|title| is_title(title))?;
            FileChange::TitleEdited { title }
        }
        Change::RequirementsEdited => {
            FileChange::RequirementsEdited { text: new.requirements().unwrap_or_default().to_owned() }
        }
        _ => return None,
    })
}

pub(crate) fn note_of(criterion: &regatta_files::Criterion) -> CriterionNote {
    CriterionNote { text: criterion.text.clone(), checked: criterion.checked, check: criterion.check.clone() }
}
