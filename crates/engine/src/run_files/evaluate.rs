//! Finds the files of a family that are out of date, and evaluates them in a thread of their own.

use crate::core::RunId;
use crate::core::run::{Known, ShownFault};
use crate::error::Error;
use crate::runs::driver::find_within;
use crate::runs::facts::Held;
use regatta_flow::{StateFile, Workflow};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What this process has evaluated of a family: for each file the counter of the last change that it has seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The family in memory that the counters are of.
    family: u64,
    counters: HashMap<RunId, Vec<Option<u64>>>,
}

impl Seen {
    /// Lets a file be evaluated again.
    pub(super) fn forget(&mut self, run: RunId, number: usize) {
        if let Some(counter) = self.counters.get_mut(&run).and_then(|counters| counters.get_mut(number)) {
            *counter = None;
        }
    }

    /// Tells whether this process has looked at a run.
    pub(super) fn knows(&self, run: RunId) -> bool {
        self.counters.contains_key(&run)
    }
}

/// Which files to evaluate.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// Those of one run; without it, of all runs of the family.
    pub(super) run: Option<RunId>,
    /// Also those that have not changed.
    pub(super) all: bool,
    /// Runs that need no first look.
    pub(super) finished: Vec<RunId>,
}

/// The files of a run that were evaluated.
pub(super) struct Due {
    pub(super) run: RunId,
    /// Whether the run had ended.
    pub(super) is_over: bool,
    pub(super) files: Vec<DueFile>,
    definition: Arc<Workflow>,
    within: Vec<String>,
}

/// A file that was evaluated.
pub(super) struct DueFile {
    /// Which of the workflow's files it is.
    pub(super) number: usize,
    /// Its folder and path.
    pub(super) path: String,
    pub(super) value: Result<Option<Value>, ShownFault>,
}

impl Due {
    /// Returns the file of the workflow.
    pub(super) fn file(&self, number: usize) -> &StateFile {
        &find_within(&self.definition, &self.within).files[number]
    }
}

/// Evaluates what is out of date. The answer is as of the event.
pub(super) async fn evaluate(
    held: Held,
    mut seen: Seen,
    question: Question,
) -> Result<(u64, Vec<Due>, Seen), Error> {
    // It may take a tenth of a second, which no thread that serves others has.
    let evaluated = tokio::task::spawn_blocking(move || {
        let mut held = held;
        let family = held.family();
        if seen.family != family.id() {
            seen = Seen { family: family.id(), counters: HashMap::new() };
        }
        let due = find_due(&mut family.known, &mut seen, &question);
        (family.known.seen(), due, seen)
    });
    evaluated.await.map_err(|panic| Error::LogUnsound { seq: 0, why: format!("a file of a run: {panic}") })
}

/// A run that has files.
struct Member {
    run: RunId,
    is_over: bool,
    within: Vec<String>,
    paths: BTreeMap<String, String>,
}

fn find_due(known: &mut Known, seen: &mut Seen, question: &Question) -> Vec<Due> {
    let definition = Arc::clone(known.definition());
    let is_asked = |run: RunId| question.run.is_none_or(|asked| asked == run);
    let with_files = known.runs().filter(|run| !run.files.is_empty() && is_asked(run.id));
    let runs: Vec<Member> = with_files
        .map(|run| Member {
            run: run.id,
            is_over: run.is_over(),
            within: run.within.clone(),
            paths: run.files.clone(),
        })
        .collect();
    let mut found = Vec::new();
    for Member { run, is_over, within, paths } in runs {
        let files = &find_within(&definition, &within).files;
        let now: Vec<u64> = files.iter().map(|file| known.changed_at(run, &file.reads)).collect();
        let is_finished = !seen.knows(run) && !question.all && question.finished.contains(&run);
        let counters = seen.counters.entry(run).or_insert_with(|| match is_finished {
            true => now.iter().copied().map(Some).collect(),
            false => vec![None; now.len()],
        });
        let is_due = |number: &usize| question.all || counters[*number] != Some(now[*number]);
        let numbers: Vec<usize> = (0..now.len()).filter(is_due).collect();
        counters.clone_from(&now.into_iter().map(Some).collect());
        if numbers.is_empty() {
            continue;
        }
        let path = |number: usize| paths.get(&files[number].name).cloned();
        let evaluated = known.evaluate_files(run, &numbers).into_iter();
        let due = evaluated.filter_map(|shown| {
            Some(DueFile { number: shown.place, path: path(shown.place)?, value: shown.value })
        });
        let files = due.collect();
        found.push(Due { run, is_over, files, definition: Arc::clone(&definition), within });
    }
    found
}
