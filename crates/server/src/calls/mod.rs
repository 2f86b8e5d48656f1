//! Every call of the engine's commands and views, so that a change of its interface touches this module alone.
//!
//! Each function returns what a handler sends, and explains the engine's errors.

pub(crate) mod documents;
pub(crate) mod messages;
pub(crate) mod project;
pub(crate) mod review;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod tasks;

use regatta_engine::core::{FieldFault, Problem};
use regatta_engine::{Error, EventFilter, Journal, Project, Versioned, find_version, orders};
use serde_json::Value;

/// How many pages of the log one request reads at most, each of 500 events.
const PAGES_READ_MAX: usize = 20;

/// Explains an error of the engine.
pub(crate) fn explain(error: Error) -> Problem {
    error.explain()
}

/// Explains what is wrong with the fields of a command.
pub(crate) fn faulty(faults: Vec<FieldFault>) -> Problem {
    orders::invalid(faults).explain()
}

/// Returns the number of the last event.
pub(crate) async fn position(project: &Project) -> Result<u64, Problem> {
    Journal::at_end(project).await.map(|journal| journal.position()).map_err(explain)
}

/// Returns the version of an object.
pub(crate) async fn version(project: &Project, of: &Versioned) -> Result<u64, Problem> {
    find_version(project, of).await.map_err(explain)
}

/// Reads a page of the log, and where the next one begins; a filter that lets little through reads on for a while.
pub(crate) async fn events(
    project: &Project,
    after: u64,
    count_max: usize,
    filter: &EventFilter,
) -> Result<(Vec<Value>, Option<u64>), Problem> {
    let mut journal = Journal::after(project, after);
    let (mut found, mut seen) = (Vec::new(), after);
    for _ in 0..PAGES_READ_MAX {
        let entries = journal.read().await.map_err(explain)?;
        if entries.is_empty() {
            return Ok((found, None));
        }
        for entry in entries {
            seen = entry.seq;
            if filter.admits(&entry) {
                found.push(entry.to_json());
            }
            if found.len() == count_max {
                return Ok((found, Some(seen)));
            }
        }
    }
    Ok((found, Some(seen)))
}
