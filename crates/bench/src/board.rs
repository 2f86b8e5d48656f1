//! The workload `board`: a project of many tasks; what it costs to list them, and to keep an idle engine
//! running.
//!
//! `regatta task list` is timed beside `sqlite3`, which reads the same rows of the same file, in turn, so
//! that other load on the machine affects both alike. Then `regatta up` is started, and its CPU time is
//! measured while nothing happens.

use crate::error::Error;
use crate::measure::{percentile, round};
use crate::place;
use crate::up::{Up, find_regatta};
use regatta_core::{Create, Priority};
use regatta_engine::orders;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Each program is run so often, after as many runs to warm up as are named second.
const ROUNDS: usize = 21;
const ROUNDS_TO_WARM_UP: usize = 3;

/// The rows that the table is made of.
const ROWS: &str = "SELECT key, data FROM rows WHERE list = 'board' ORDER BY key";

/// Makes the tasks that are missing, and measures.
pub(crate) fn measure(folder: &Path, tasks: usize) -> Result<Value, Error> {
    let regatta = find_regatta()?;
    ensure_tasks(folder, tasks)?;
    let list = || run(Command::new(&regatta).arg("-C").arg(folder).args(["task", "list"]));
    let rows = || run(Command::new("sqlite3").arg("-readonly").arg(place::database(folder)).arg(ROWS));
    let (mut listed, mut read) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + ROUNDS_TO_WARM_UP {
        let took = (list()?, rows()?);
        if round >= ROUNDS_TO_WARM_UP {
            listed.push(took.0);
            read.push(took.1);
        }
    }
    listed.sort_unstable();
    read.sort_unstable();
    let (list_ms, rows_ms) = (percentile(&listed, 0.5), percentile(&read, 0.5));
    let up = Up::start(folder)?.watch_idle()?;
    Ok(json!({
        "tasks": tasks,
        "list_ms": list_ms,
        "sqlite3_ms": rows_ms,
        "ratio": round(list_ms / rows_ms),
        "list_least_ms": percentile(&listed, 0.0),
        "sqlite3_least_ms": percentile(&read, 0.0),
        "up": up,
    }))
}

/// Adds tasks until there are so many.
pub(crate) fn ensure_tasks(folder: &Path, tasks: usize) -> Result<(), Error> {
    place::start_runtime()?.block_on(async {
        let project = place::ensure_project(folder).await?;
        let there = regatta_engine::list_rows(&project).await?.len();
        for number in there + 1..=tasks {
            let title = format!("Make the part number {number} of the whole");
            let description = format!("What part {number} has to do, in a sentence or two.");
            let criteria = vec!["It is done".to_owned(), "It is tested".to_owned()];
            let create = Create::new(title, description, criteria, [].into(), Priority::Medium);
            let create = create.map_err(orders::invalid)?;
            orders::create(&project, &place::caller(), create).await?;
        }
        Ok(())
    })
}

/// Runs a program to its end with its output thrown away, and returns how long it took.
fn run(command: &mut Command) -> Result<Duration, Error> {
    let name = PathBuf::from(command.get_program());
    let began = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let took = began.elapsed();
    let status = status.map_err(Error::io("run", &name))?;
    if status.success() {
        return Ok(took);
    }
    let wanted = "an end with 0".to_owned();
    Err(Error::Wrong {
        what: "the status of a program",
        found: format!("{}: {status}", name.display()),
        wanted,
    })
}
