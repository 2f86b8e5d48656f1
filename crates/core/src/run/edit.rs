//! An edit of a file of a run, made by a person or a program.
//!
//! It is merged with the state as it is now, and becomes one event, also while a step is under way: nothing is interrupted,
//! and what the step sets sees the edited state. What cannot be taken in is kept beside the file, under a name that the
//! event has. The engine reads and writes the files; this decides what an edit comes to.
//!
//! A prompt shows the state as it was when it was made. So the report of a step says how many edits its prompt knew, and a
//! step that replaces what a later edit had changed makes that edit a conflict: the run's value stays.

use super::{Event, Inputs, Run, nesting};
use crate::{Code, Failure, Problem};
use regatta_flow::{
    Content, Gone, Merged, Occasion, Patch, ResolvedPath, Sides, StateFile, find_gone, holds_gone,
    holds_value, merge_list, merge_place,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// As many edits that were not taken in are kept in mind, the newest; the log has all.
const KEPT_MAX: usize = 20;

/// As many edits of one step are held against it, the newest: far more than a person makes while a role works.
const FRESH_MAX: usize = 200;

/// An edit that was found in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundEdit {
    /// Which one.
    pub mark: EditMark,
    /// What it is.
    pub content: EditContent,
}

/// Which edit of which file: the same one found twice, as after a crash, is taken in once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditMark {
    /// The name of the file in the workflow.
    pub file: String,
    /// Where it is, as people see it.
    pub path: String,
    /// The number of the last event of the log that the file followed when it was last written.
    pub written: u64,
    /// The SHA-256 of the bytes that were found.
    pub digest: String,
}

/// What was found in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum EditContent {
    /// A document, or the items of a list.
    Value {
        /// As it was last written; null if there was none.
        base: Value,
        /// As it is now.
        edited: Value,
    },
    /// What the edit came to in a run that is played again.
    Patches(Vec<Patch>),
    /// Nothing that could be taken in.
    Unusable(Failure),
}

/// What a run remembers of the edits of its files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edits {
    /// How many were taken in.
    pub count: u64,
    /// Those that were taken in since the step began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fresh: Vec<FreshEdit>,
    /// The last one of each file, whatever it came to: the number of the event that the file followed, and the digest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub last: BTreeMap<String, (u64, String)>,
    /// Those that were not taken in, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptEdit>,
}

/// An edit that was taken in while a step was under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreshEdit {
    /// How many had been taken in with it.
    pub number: u64,
    /// Which it was.
    #[serde(flatten)]
    pub mark: EditMark,
    /// What it set.
    pub places: Vec<ResolvedPath>,
    /// What it took out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<Gone>,
}

/// An edit that was not taken in, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptEdit {
    /// Which it was.
    #[serde(flatten)]
    pub mark: EditMark,
    /// The step at which it came, or was overtaken.
    pub step: u64,
    /// Where it is kept, beside the file.
    pub kept: String,
    /// Why.
    pub error: Failure,
}

impl Edits {
    /// Tells whether there was never one.
    pub fn is_empty(&self) -> bool {
        *self == Edits::default()
    }

    /// Tells whether an edit is the last one of its file: it is in the log, whatever it came to.
    pub fn knows(&self, mark: &EditMark) -> bool {
        self.last
            .get(&mark.file)
            .is_some_and(|(written, digest)| (*written, digest) == (mark.written, &mark.digest))
    }

    /// Takes in that an edit was taken into a state, or that it was not.
    pub(super) fn take_in(&mut self, event: &Event, before: &Value) {
        let (Event::RunEdited { mark, .. } | Event::RunEditKept { mark, .. }) = event else { return };
        self.last.insert(mark.file.clone(), (mark.written, mark.digest.clone()));
        match event {
            Event::RunEdited { set, .. } => {
                self.count += 1;
                let places = set.iter().map(|patch| patch.place.clone()).collect();
                let gone = find_gone(before, set);
                self.fresh.push(FreshEdit { number: self.count, mark: mark.clone(), places, gone });
                self.fresh.drain(..self.fresh.len().saturating_sub(FRESH_MAX));
            }
            Event::RunEditKept { step, kept, error, .. } => {
                let (step, kept, error) = (*step, kept.clone(), error.clone());
                self.kept.push(KeptEdit { mark: mark.clone(), step, kept, error });
                self.kept.drain(..self.kept.len().saturating_sub(KEPT_MAX));
            }
            _ => {}
        }
    }
}

/// Says what an edit comes to.
pub(super) fn take(inputs: Inputs<'_>, run: &Run, found: &FoundEdit) -> Vec<Event> {
    let FoundEdit { mark, content } = found;
    if run.edits.knows(mark) {
        return Vec::new();
    }
    let merged = match content {
        EditContent::Unusable(error) => return vec![keep(run, mark, error.clone())],
        EditContent::Patches(set) => Ok(Merged { patches: set.clone(), conflicts: Vec::new() }),
        EditContent::Value { base, edited } => merge(inputs, run, mark, (base, edited)),
    };
    match merged.and_then(|merged| check(inputs, run, &merged.patches).map(|()| merged)) {
        Err(why) => vec![keep(run, mark, refused(run, mark, why))],
        Ok(Merged { patches, conflicts }) => {
            let edited = (!patches.is_empty()).then(|| Event::RunEdited {
                run_id: run.id,
                step: run.step,
                mark: mark.clone(),
                set: patches,
            });
            let kept = (!conflicts.is_empty()).then(|| {
                let why = format!("the run has changed {} since the file was written", tell(&conflicts));
                keep(run, mark, conflicting(run, mark, why, &conflicts))
            });
            edited.into_iter().chain(kept).collect()
        }
    }
}

/// Merges an edit with the state as it is now, or says why it is none.
fn merge(
    inputs: Inputs<'_>,
    run: &Run,
    mark: &EditMark,
    (base, edited): (&Value, &Value),
) -> Result<Merged, Vec<String>> {
    let file = find_file(inputs, run, mark)?;
    let state = run.sheet.state();
    let some = |value| Some(value).filter(|value: &&Value| !value.is_null());
    let sides = |place: &ResolvedPath| Sides {
        base: some(base),
        edited: some(edited),
        now: place.find(&state).filter(|now| !now.is_null()),
    };
    match &file.content {
        Content::Place { place, body, .. } => {
            Ok(merge_place(place, sides(place), body.as_ref().map(|body| &*body.name)))
        }
        Content::Append { list, template: None, .. } => {
            let changed = "a line that the run wrote was changed or removed: only add lines at the end";
            let patches = merge_list(list, sides(list)).ok_or_else(|| vec![changed.to_owned()])?;
            Ok(Merged { patches, conflicts: Vec::new() })
        }
        Content::Append { .. } => {
            Err(vec!["its lines are made by a template, and cannot be read back".to_owned()])
        }
        Content::Value { .. } => Err(vec![derived()]),
    }
}

fn find_file<'w>(inputs: Inputs<'w>, run: &Run, mark: &EditMark) -> Result<&'w StateFile, Vec<String>> {
    if run.is_over() {
        return Err(vec![ended(run)]);
    }
    let file = inputs.workflow.files.iter().find(|file| file.name == mark.file);
    file.ok_or_else(|| vec![format!("the workflow has no file `{}`", mark.file)])
}

/// The state must fit its schema with the edit, and have a place for it.
fn check(inputs: Inputs<'_>, run: &Run, set: &[Patch]) -> Result<(), Vec<String>> {
    if run.is_over() {
        return Err(vec![ended(run)]);
    }
    if set.is_empty() {
        return Ok(());
    }
    if nesting::sets_too_deep(set, &Value::Null) {
        return Err(vec![format!(
            "the new state would be nested deeper than {} levels",
            nesting::LEVELS_MAX
        )]);
    }
    run.sheet.try_out(&mut Occasion::default(), |mut trial| {
        trial.apply(set.to_vec()).map_err(|fault| vec![fault.to_string()])?;
        trial
            .check(&inputs.workflow.schema)
            .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>())
    })
}

/// Finds the edits that a step overtakes: it replaces what they changed, and its prompt did not know them.
///
/// There is one report for a file, since what is kept is the document as it was before the step.
pub(super) fn find_overtaken(run: &Run, prompt_knew: u64, decided: &[Event]) -> Vec<Event> {
    let is_step = |event: &Event| {
        matches!(event, Event::RunStepped { .. } | Event::RunLanded { .. } | Event::RunSentBack { .. })
    };
    let unknown = || run.edits.fresh.iter().filter(|edit| edit.number > prompt_knew);
    if unknown().next().is_none() || !decided.iter().any(is_step) {
        return Vec::new();
    }
    let mut after = run.clone();
    for event in decided {
        let _ = after.take_in(event);
    }
    let (before, after) = (run.sheet.state(), after.sheet.state());
    let mut overtaken: BTreeMap<&str, (&EditMark, Vec<ResolvedPath>)> = BTreeMap::new();
    for edit in unknown() {
        let lost = edit.places.iter().filter(|place| !holds_value(&before, &after, place));
        let come_back = edit.gone.iter().filter(|gone| !holds_gone(&before, &after, gone));
        for place in lost.chain(come_back.map(|gone| &gone.place)) {
            let (mark, places) = overtaken.entry(&edit.mark.file).or_insert_with(|| (&edit.mark, Vec::new()));
            *mark = &edit.mark;
            if !places.contains(place) {
                places.push(place.clone());
            }
        }
    }
    let report = |(mark, places): (&EditMark, Vec<ResolvedPath>)| {
        let why =
            format!("step {} replaced {}, and its prompt was made before the edit", run.step, tell(&places));
        keep(run, mark, conflicting(run, mark, why, &places))
    };
    overtaken.into_values().map(report).collect()
}

fn keep(run: &Run, mark: &EditMark, mut error: Failure) -> Event {
    let kept = name_kept(run, mark);
    error.hint = format!("the edit is kept as {kept}: make it again in {}, or delete it", mark.path);
    error.details.insert("kept".to_owned(), kept.clone().into());
    Event::RunEditKept { run_id: run.id, step: run.step, mark: mark.clone(), kept, error }
}

/// Returns a name beside the file that no other edit has.
fn name_kept(run: &Run, mark: &EditMark) -> String {
    let first = format!("{}.edit-{}", mark.path, mark.written);
    let is_taken = |name: &String| run.edits.kept.iter().any(|edit| edit.kept == *name);
    let others = (2..).map(|number: usize| format!("{first}-{number}"));
    let free = std::iter::once(first.clone()).chain(others).find(|name| !is_taken(name));
    free.unwrap_or(first)
}

fn refused(run: &Run, mark: &EditMark, why: Vec<String>) -> Failure {
    let what = format!("an edit of {} was not taken into run {}", mark.path, run.id);
    let problem = Problem { why, ..Problem::new(Code::EditRefused, what, "", "") };
    Failure::from(problem.with("file", mark.file.as_str()).with("path", mark.path.as_str()))
}

fn conflicting(run: &Run, mark: &EditMark, why: String, places: &[ResolvedPath]) -> Failure {
    let what = format!("an edit of {} was not taken into run {}, or not all of it", mark.path, run.id);
    let places: Vec<String> = places.iter().map(ToString::to_string).collect();
    let problem = Problem::new(Code::EditConflict, what, why, "").with("file", mark.file.as_str());
    Failure::from(problem.with("path", mark.path.as_str()).with("places", places))
}

fn ended(run: &Run) -> String {
    format!("run {} has ended", run.id)
}

fn derived() -> String {
    "the file is derived from the run and follows nothing that is written into it".to_owned()
}

/// More places than this do not make a report clearer; its details have them all.
const TOLD_MAX: usize = 3;

fn tell(places: &[ResolvedPath]) -> String {
    let told: Vec<String> = places.iter().take(TOLD_MAX).map(|place| format!("`{place}`")).collect();
    match places.len().checked_sub(TOLD_MAX) {
        Some(more) if more > 0 => format!("{} and {more} more", told.join(", ")),
        _ => told.join(", "),
    }
}
