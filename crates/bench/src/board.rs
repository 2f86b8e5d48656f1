//! The workload `board`: a project of many tasks; what it costs to list them, and to keep an idle engine
//! running.
//!
//! `regatta task list` is timed beside `sqlite3`, which reads the same rows of the same file, in turn, so
//! that other load on the machine affects both alike. Then `regatta up` is started, and its CPU time is
//! measured while nothing happens. `regatta` is the one beside this program.

use crate::error::Error;
use crate::measure::{percentile, round};
use crate::place;
use regatta_core::{Create, Priority};
use regatta_engine::orders;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Each program is run so often, after as many runs to warm up as are named second.
const ROUNDS: usize = 21;
const ROUNDS_TO_WARM_UP: usize = 3;

/// How long an engine is watched while nothing happens, twice: right after it is ready, and later.
const IDLE_SPAN: Duration = Duration::from_secs(20);

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
    let up = watch_up(&regatta, folder)?;
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

fn ensure_tasks(folder: &Path, tasks: usize) -> Result<(), Error> {
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

/// Starts an engine, and returns how long it took until it was ready and how much of a core it used afterwards.
fn watch_up(regatta: &Path, folder: &Path) -> Result<Value, Error> {
    let mut up = Command::new(regatta);
    up.arg("-C").arg(folder).arg("up").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let began = Instant::now();
    let mut child = up.spawn().map_err(Error::io("run", regatta))?;
    let watched = watch_child(&mut child, began);
    // However it went, it must not stay.
    let _ = child.kill();
    let _ = child.wait();
    watched
}

fn watch_child(child: &mut Child, began: Instant) -> Result<Value, Error> {
    let mut line = String::new();
    let stderr = child.stderr.take().map(BufReader::new);
    let mut stderr = stderr.ok_or_else(|| wrong("the errors of `up`", "nothing"))?;
    stderr.read_line(&mut line).map_err(Error::io("read", "the errors of `up`"))?;
    let ready = began.elapsed();
    if !line.contains("engine up") {
        let _ = stderr.read_to_string(&mut line);
        return Err(wrong("the first line of `up`", &line));
    }
    let mut shares = Vec::new();
    let at_ready = cpu_seconds(child.id())?;
    let mut before = at_ready;
    for _ in 0..2 {
        std::thread::sleep(IDLE_SPAN);
        let now = cpu_seconds(child.id())?;
        shares.push(round((now - before) / IDLE_SPAN.as_secs_f64() * 100.0));
        before = now;
    }
    let status = read(&format!("/proc/{}/status", child.id()))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: f64 = peak.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or_default();
    Ok(json!({
        "ready_ms": round(ready.as_secs_f64() * 1_000.0),
        "cpu_until_ready_s": at_ready,
        "first_percent": shares[0],
        "later_percent": shares[1],
        "rss_mb": round(peak / 1_024.0),
    }))
}

/// Returns how long a process has been on a processor.
fn cpu_seconds(pid: u32) -> Result<f64, Error> {
    /// The kernel counts in this unit, wherever it runs.
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = read(&format!("/proc/{pid}/stat"))?;
    // The name of the program may hold anything, but stands in brackets.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
    match (ticks(11), ticks(12)) {
        (Some(user), Some(system)) => Ok((user + system) / TICKS_PER_SECOND),
        _ => Err(wrong("the time of a process", &text)),
    }
}

fn read(path: &str) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(Error::io("read", path))
}

fn wrong(what: &'static str, found: &str) -> Error {
    Error::Wrong {
        what,
        found: found.to_owned(),
        wanted: "what the program prints when all is well".to_owned(),
    }
}

/// Returns the program that is built beside this one.
fn find_regatta() -> Result<PathBuf, Error> {
    let own = std::env::current_exe().map_err(Error::io("find", "this program"))?;
    let found = own.with_file_name("regatta");
    if found.is_file() { Ok(found) } else { Err(wrong("the program `regatta` beside this one", "nothing")) }
}
