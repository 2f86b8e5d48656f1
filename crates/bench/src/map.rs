//! One run whose `map` node has many children: what the start and the end of a child cost, and whether that grows.
//!
//! A child ends where it begins, so nothing is measured but the map. The items are free of each other, or each depends
//! on the one before it.

use crate::error::Error;
use crate::measure::{self, rate, round};
use crate::place;
use regatta_core::AnyEvent;
use regatta_core::run::Event;
use regatta_engine::runs::{self, AgentRoles, Listed, NewRun, Origin};
use regatta_engine::{Engine, Journal, Project, Stop};
use regatta_flow::Folder;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The workflow, with its files.
const FILES: [(&str, &str); 4] = [
    ("workflow.toml", include_str!("../workflows/fan/workflow.toml")),
    ("state.schema.json", include_str!("../workflows/fan/state.schema.json")),
    ("children/one/workflow.toml", include_str!("../workflows/fan/children/one/workflow.toml")),
    ("children/one/state.schema.json", include_str!("../workflows/fan/children/one/state.schema.json")),
];

/// How long the log may stand still before the workload counts as stuck.
const STILL_MAX: Duration = Duration::from_secs(30);

/// Which items depend on which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// None on any.
    Flat,
    /// Each on the one before it.
    Chain,
}

impl Shape {
    /// Returns the shape of this name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        match name {
            "flat" => Some(Shape::Flat),
            "chain" => Some(Shape::Chain),
            _ => None,
        }
    }
}

/// Plays the run and measures it.
pub(crate) fn measure(folder: &Path, count: usize, shape: Shape) -> Result<Value, Error> {
    let runtime = place::start_runtime()?;
    let took = runtime.block_on(async {
        let project = place::ensure_project(folder).await?;
        let engine = Engine::start_with(Arc::clone(&project), Arc::new(AgentRoles::default())).await?;
        let took = play(&project, count, shape).await?;
        engine.stop(Stop::WhenDone).await?;
        Ok::<_, Error>(took)
    })?;
    Ok(json!({
        "items": count,
        "secs": round(took.as_secs_f64()),
        "items_per_s": rate(count, took),
        "rss_mb": round(measure::peak_memory()?),
    }))
}

async fn play(project: &Project, count: usize, shape: Shape) -> Result<Duration, Error> {
    let mut journal = Journal::at_end(project).await?;
    let folder: Folder = FILES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let workflow = Listed { name: "fan".to_owned(), origin: Origin::Binary, folder };
    let input = json!({ "items": (0..count).map(|number| item(number, shape)).collect::<Vec<_>>() });
    let new = NewRun { workflow, prd: None, level: None, input, board: false, recording: None };
    let begin = Instant::now();
    let run = runs::create(project, &place::caller(), new).await?;
    loop {
        let entries = journal.wait(STILL_MAX).await?;
        if entries.is_empty() {
            return Err(Error::Stuck {
                seconds: STILL_MAX.as_secs(),
                what: format!("run {run} stands still"),
            });
        }
        let over = |event: &AnyEvent| matches!(event, AnyEvent::Run(Event::RunCompleted { run_id, .. } | Event::RunFailed { run_id, .. }) if *run_id == run);
        if entries.iter().any(|entry| over(&entry.event)) {
            break;
        }
    }
    let took = begin.elapsed();
    let found = runs::get_run(project, run).await?;
    Error::unless_equal("the number of children", &found.sheet.state()["count"], &json!(count))?;
    Ok(took)
}

/// An item of about 250 bytes.
fn item(number: usize, shape: Shape) -> Value {
    let key = |number: usize| format!("item-{number:05}");
    let after: Vec<String> = match shape {
        Shape::Chain if number > 0 => vec![key(number - 1)],
        Shape::Chain | Shape::Flat => Vec::new(),
    };
    json!({ "key": key(number), "after": after, "text": crate::canned::code(200) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_a_child_that_ends() {
        for shape in [Shape::Flat, Shape::Chain] {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(measure(folder.path(), 5, shape).unwrap()["items"], 5);
        }
    }
}
