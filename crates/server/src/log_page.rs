//! A page of the log.

use regatta_engine::core::Problem;
use regatta_engine::{EventFilter, Journal, Project};
use serde_json::Value;

/// How many pages of the log one request reads at most, each of 500 events.
const PAGES_READ_MAX: usize = 20;

/// Reads a page of the log, and where the next one begins; a filter that lets little through reads on for a while.
pub(crate) async fn read(
    project: &Project,
    after: u64,
    count_max: usize,
    filter: &EventFilter,
) -> Result<(Vec<Value>, Option<u64>), Problem> {
    let mut journal = Journal::after(project, after);
    let (mut found, mut seen) = (Vec::new(), after);
    for _ in 0..PAGES_READ_MAX {
        let entries = journal.read().await?;
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
