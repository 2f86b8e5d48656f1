//! The workload W4: many runs of three steps, submitted at once.
//!
//! They are ordered in one append. A subscriber reads the log as anybody would, and notes when it sees the end of
//! each run; that is its latency.

use crate::canned;
use crate::error::Error;
use crate::measure::{self, percentile, rate, round};
use crate::place;
use regatta_core::AnyEvent;
use regatta_core::run::Event;
use regatta_engine::runs::{self, Listed, NewRun, Origin, Playing, RoleOutcome, RoleRequest, Roles};
use regatta_engine::{Engine, Journal, Project, Stop};
use regatta_flow::Folder;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The workflow, with its files.
const FILES: [(&str, &str); 4] = [
    ("workflow.toml", include_str!("../workflows/three/workflow.toml")),
    ("state.schema.json", include_str!("../workflows/three/state.schema.json")),
    ("roles/writer.md", include_str!("../workflows/three/roles/writer.md")),
    ("roles/writer.output.json", include_str!("../workflows/three/roles/writer.output.json")),
];

/// As many steps as a run has.
const STEPS: usize = 3;

/// As many bytes as a step writes.
const TEXT_BYTES: usize = 200;

/// How long the log may stand still before the workload counts as stuck.
const STILL_MAX: Duration = Duration::from_secs(30);

/// Plays the runs and measures them.
pub(crate) fn measure(folder: &Path, count: usize) -> Result<Value, Error> {
    let runtime = place::start_runtime()?;
    let latencies = runtime.block_on(async {
        let project = place::ensure_project(folder).await?;
        let engine = Engine::start_with(Arc::clone(&project), Arc::new(Writer::new())).await?;
        // The first run compiles the workflow; the others find it compiled, as in any engine that has been up.
        play(&project, 1).await?;
        let latencies = play(&project, count).await?;
        engine.stop(Stop::WhenDone).await?;
        Ok::<_, Error>(latencies)
    })?;
    let took = latencies.last().copied().unwrap_or_default();
    Ok(json!({
        "runs": count,
        "secs": round(took.as_secs_f64()),
        "runs_per_s": rate(count, took),
        "p50_ms": percentile(&latencies, 0.5),
        "p99_ms": percentile(&latencies, 0.99),
        "rss_mb": round(measure::peak_memory()?),
    }))
}

/// Plays so many runs, and returns when the end of each was seen, in order.
async fn play(project: &Project, count: usize) -> Result<Vec<Duration>, Error> {
    let mut journal = Journal::at_end(project).await?;
    let new = vec![new_run(); count];
    let caller = place::caller();
    let begin = Instant::now();
    let order = runs::create_many(project, &caller, new);
    let ends = see_ends(&mut journal, count, begin);
    let (ordered, ends) = tokio::join!(order, ends);
    Error::unless_equal("the number of runs", ordered?.len(), count)?;
    ends
}

async fn see_ends(journal: &mut Journal<'_>, count: usize, begin: Instant) -> Result<Vec<Duration>, Error> {
    let mut latencies = Vec::with_capacity(count);
    let mut bytes = 0;
    while latencies.len() < count {
        let entries = journal.wait(STILL_MAX).await?;
        let seen = begin.elapsed();
        if entries.is_empty() {
            let what = format!("{} of {count} runs have ended", latencies.len());
            return Err(Error::Stuck { seconds: STILL_MAX.as_secs(), what });
        }
        for entry in entries {
            let AnyEvent::Run(event) = entry.event else { continue };
            match event {
                Event::RunStepped { output, .. } => bytes += text_bytes(&output["text"]),
                Event::RunCompleted { .. } => latencies.push(seen),
                Event::RunFailed { error, .. } => {
                    return Err(Error::Wrong {
                        what: "a run",
                        found: error.message,
                        wanted: "completed".to_owned(),
                    });
                }
                _ => {}
            }
        }
    }
    Error::unless_equal("the number of bytes", bytes, count * STEPS * TEXT_BYTES)?;
    Ok(latencies)
}

fn text_bytes(text: &Value) -> usize {
    text.as_str().map_or(0, str::len)
}

fn new_run() -> NewRun {
    let folder: Folder = FILES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let workflow = Listed { name: "three".to_owned(), origin: Origin::Binary, folder };
    NewRun { workflow, prd: None, level: None, input: Value::Null, board: false, recording: None }
}

/// The one role: it writes 200 bytes.
struct Writer {
    text: String,
}

impl Writer {
    fn new() -> Self {
        Writer { text: canned::code(TEXT_BYTES) }
    }
}

impl Roles for Writer {
    fn reads_prompts(&self) -> bool {
        false
    }

    fn play<'a>(&'a self, _: RoleRequest<'a>) -> Playing<'a> {
        Box::pin(std::future::ready(Ok(RoleOutcome::Returned(json!({ "text": self.text })))))
    }
}
