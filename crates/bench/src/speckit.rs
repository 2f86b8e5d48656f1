//! The workload W1, and with a kill in between W3: one `speckit` run with canned agents.

use crate::canned::Canned;
use crate::error::Error;
use crate::exec_log::ExecLog;
use crate::measure::{self, rate, round};
use crate::place;
use regatta_core::RunId;
use regatta_core::run::{Run, Status};
use regatta_core::{AnyEvent, run};
use regatta_engine::runs::{self, NewRun};
use regatta_engine::{Engine, Journal, Project, Stop};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often a run is looked at that has not announced its last step; it may have failed.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What one play of the run cost.
struct Cost {
    took: Duration,
    peak_memory: f64,
}

/// Plays a run and measures it.
pub(crate) fn measure(folder: &Path, tasks: usize) -> Result<Value, Error> {
    let Cost { took, peak_memory } = play(folder, tasks)?;
    // The store is closed by now, and its write-ahead log is in the database.
    let steps = 1 + 5 * tasks;
    let disk = measure::database_bytes(&place::database(folder)) as f64;
    let written = measure::written_bytes()? as f64;
    Ok(json!({
        "steps": steps,
        "secs": round(took.as_secs_f64()),
        "steps_per_s": rate(steps, took),
        "disk_per_step": round(disk / steps as f64),
        "written_per_step": round(written / steps as f64),
        "rss_mb": round(peak_memory),
    }))
}

/// Plays a run that somebody means to kill.
pub(crate) fn start(folder: &Path, tasks: usize) -> Result<Value, Error> {
    measure(folder, tasks)
}

/// Continues a run that was killed.
pub(crate) fn resume(folder: &Path, tasks: usize) -> Result<Value, Error> {
    measure(folder, tasks)
}

fn play(folder: &Path, tasks: usize) -> Result<Cost, Error> {
    let canned = Arc::new(Canned::new(tasks, ExecLog::from_environment()?));
    let runtime = place::start_runtime()?;
    runtime.block_on(async {
        let project = place::ensure_project(folder).await?;
        let engine = Engine::start_with(Arc::clone(&project), canned.clone()).await?;
        let begin = Instant::now();
        let run = ensure_run(&project).await?;
        wait_for_end(&project, &engine, &canned, run).await?;
        let took = begin.elapsed();
        let peak_memory = measure::peak_memory()?;
        engine.stop(Stop::WhenDone).await?;
        check(&runs::get_run(&project, run).await?, tasks)?;
        Ok(Cost { took, peak_memory })
    })
}

/// Returns the one run of the project, and begins it if there is none.
async fn ensure_run(project: &Project) -> Result<RunId, Error> {
    if let Some(found) = runs::list_runs(project, 1).await?.first() {
        return Ok(found.id);
    }
    let workflow = runs::find_workflow(Some(project), "speckit")?;
    let input = json!({ "title": "A plan", "prd": "Everything that the plan asks for." });
    Ok(runs::create(
        project,
        &place::caller(),
        NewRun { workflow, prd: None, level: None, input, board: false, recording: None },
    )
    .await?)
}

/// Waits until the run is over, without looking at it while it is under way.
async fn wait_for_end(project: &Project, engine: &Engine, canned: &Canned, run: RunId) -> Result<(), Error> {
    let mut busy = engine.watch_busy();
    loop {
        tokio::select! {
            () = canned.last.notified() => wait_for_rest(&mut busy).await,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        if *busy.borrow() > 0 {
            continue;
        }
        if is_over(project).await? {
            return Ok(());
        }
        let found = runs::get_run(project, run).await?;
        if found.status() == Status::Paused || engine.is_over() {
            return Err(Error::Stuck { seconds: 0, what: format!("run {run} is held: {:?}", found.hold()) });
        }
    }
}

/// Tells whether the last event of the log ends a run: there is only one, and to load it whole would take its time.
async fn is_over(project: &Project) -> Result<bool, Error> {
    let head = Journal::at_end(project).await?.position();
    let last = Journal::after(project, head.saturating_sub(1)).read().await?;
    Ok(last.iter().any(|entry| {
        matches!(&entry.event, AnyEvent::Run(run::Event::RunCompleted { .. } | run::Event::RunFailed { .. }))
    }))
}

/// Waits until nothing is under way; an engine that has ended is at rest.
async fn wait_for_rest(busy: &mut watch::Receiver<usize>) {
    let _ = busy.wait_for(|count| *count == 0).await;
}

/// The run must have ended where the workflow says.
fn check(run: &Run, tasks: usize) -> Result<(), Error> {
    Error::unless_equal("the status of the run", run.status(), Status::Completed)?;
    let state = run.sheet.state();
    let metrics = &state["metrics"];
    let wanted = json!({
        "tasksCompleted": tasks, "tasksFailed": 0, "totalAttempts": 3 * tasks, "totalReviews": 2 * tasks,
    });
    Error::unless_equal("its metrics", metrics, &wanted)?;
    let queue = state["tasks"].as_array().map_or(&[][..], Vec::as_slice);
    let complete = queue.iter().filter(|task| task["status"] == "complete").count();
    Error::unless_equal("the number of complete tasks", complete, tasks)?;
    Error::unless_equal("the number of tasks", queue.len(), tasks)
}
