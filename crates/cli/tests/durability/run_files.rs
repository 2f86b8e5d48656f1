//! The files of runs: killed at each point that a write passes, and read all the time while engines are killed.
//!
//! At rest every file holds what follows from the log, and nothing is left beside it.

use crate::world::{SIGKILL, World};
use regatta_flow::{Content, Folder, Workflow};
use regatta_testkit::is_full;
use regatta_testkit::wait::until;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The points that a write passes.
pub(crate) const POINTS: &[&str] = &[
    "run_file.before",
    "run_file.prepared",
    "run_file.exchanged",
    "run_file.after",
    "run_file.extending",
    "run_file.extended",
];

/// How many of them are of documents.
const OF_DOCUMENTS: usize = 4;

/// A reader looks as often as this.
const READ_EVERY: Duration = Duration::from_millis(5);

/// Each answer of a person adds an item, and a long one twenty of them.
const KEPT: &str = r#"
name = "kept"
start = "ask"
folder = "shelf"

[files.log]
path = "log.jsonl"
append = "log"

[files.status]
path = "status.json"
value = "{ 'items': $count(log), 'status': $run.status }"

[files.last]
path = "last.json"
place = "last"

[nodes.ask]
kind = "approval"
question = "'More?'"

[nodes.ask.set]
last = "{ 'text': output.text }"
"log[+]" = "output.text = 'long' ? [1..10].{ 'n': $, 'text': $pad('', 20000, 'x') } : { 'text': output.text }"

[nodes.done]
kind = "end"

[[edges]]
id = "again"
from = "ask"
to = "ask"
when = "output.approved"
maxIterations = 100
overrides = ["enough"]

[[edges]]
id = "enough"
from = "ask"
to = "done"
"#;

const STATE: &str = r#"{
  "type": "object",
  "properties": {
    "log": { "type": "array", "default": [] },
    "last": { "type": ["object", "null"], "default": null }
  }
}"#;

/// What every role of a cycle may return: each takes what its schema names. The second visit finds nothing to do.
const ANALYST: &str = r##"
[[session]]
step = [{ result = { summary = "One", specification = "# Login\n\nWith a password.\n", edge_cases = ["empty"], architecture_summary = "Small.", integration_points = ["main"], identified_risks = [], tasks = [{ id = "T1", description = "Write it", effort = "small", files = ["work.txt"] }], total_estimated_effort = "1 h", critical_path = ["T1"], pass_rate = 50, coverage = 50, failed_tests = ["login"], total_tests = 2, issues_found = ["too short"] } }]

[[session]]
step = [{ result = { summary = "Two", specification = "# Login\n\nWith a long password.\n", edge_cases = ["empty", "long"], architecture_summary = "Small still.", integration_points = ["main"], identified_risks = [], tasks = [{ id = "T2", description = "Fix it", effort = "small", files = ["work.txt"] }], total_estimated_effort = "1 h", critical_path = ["T2"], pass_rate = 100, coverage = 80, failed_tests = [], total_tests = 2, issues_found = [] } }]
"##;

const DEVELOPER: &str = r#"
[[session]]
step = [{ write = { path = "work.txt", text = "visit ${visit}\n" } }, { result = { summary = "Written", completed_tasks = ["T1", "T2"] } }]
"#;

const ROLES: &str = r#"
[agents.analyst]
kind = "scripted"
script = ".regatta/scripts/analyst.toml"
instances = 4

[agents.developer]
kind = "scripted"
script = ".regatta/scripts/developer.toml"

[roles]
ra = "analyst"
ep = "analyst"
vas = "analyst"
cd = "developer"
"#;

fn kept() -> World {
    let world = World::new("");
    for (name, text) in [("workflow.toml", KEPT), ("state.schema.json", STATE)] {
        world.project.repo.write(&format!(".regatta/workflows/kept/{name}"), text);
    }
    world
}

/// Reads every file below a folder, by its path from there.
fn read_all(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let (Ok(bytes), Ok(below)) = (std::fs::read(&path), path.strip_prefix(folder)) {
                found.insert(below.to_owned(), bytes);
            }
        }
    }
    found
}

/// Fails unless the files are those that follow from the log, and no others.
fn check_at_rest(world: &World, folder: &str) {
    let copy = world.project.repo.outside().join("copy");
    let _ = std::fs::remove_dir_all(&copy);
    let written = world.project.json(&["state", "write", "1", &copy.display().to_string()]);
    assert!(written.as_array().is_some_and(|files| !files.is_empty()), "{written}");
    let (found, wanted) = (read_all(&world.project.path().join(folder)), read_all(&copy));
    let names: Vec<&PathBuf> = found.keys().collect();
    assert_eq!(names, wanted.keys().collect::<Vec<_>>());
    for (name, bytes) in &found {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(4_000).collect::<String>();
        assert_eq!(text(bytes), text(&wanted[name]), "{}", name.display());
        assert!(*bytes == wanted[name], "{} differs", name.display());
    }
}

#[test]
fn a_write_survives_a_crash_anywhere() {
    for point in &POINTS[..OF_DOCUMENTS] {
        let world = kept();
        let crashed = world.crash_at(point, &["run", "kept"]);
        assert_eq!(crashed.signal, Some(SIGKILL), "{point} was not reached: {crashed:?}");
        world.project.run(&["run", "--resume", "1"]);
        check_at_rest(&world, ".regatta/shelf");
        world.project.run(&["run", "answer", "1", "one"]);
        let crashed = world.crash_at(point, &["run", "answer", "1", "two"]);
        assert_eq!(crashed.signal, Some(SIGKILL), "{point} was not reached: {crashed:?}");
        world.project.run(&["run", "--resume", "1"]);
        check_at_rest(&world, ".regatta/shelf");
        let log = std::fs::read_to_string(world.project.path().join(".regatta/shelf/log.jsonl"));
        assert_eq!(log.expect("there is a log"), "{\"text\":\"one\"}\n{\"text\":\"two\"}\n", "{point}");
    }
}

#[test]
fn a_long_list_has_each_line_once_wherever_a_crash_came() {
    let world = kept();
    world.project.run(&["run", "kept"]);
    for _ in 0..6 {
        world.project.run(&["run", "answer", "1", "long"]);
    }
    for (number, point) in POINTS[OF_DOCUMENTS..].iter().enumerate() {
        let crashed = world.crash_at(point, &["run", "answer", "1", "long"]);
        assert_eq!(crashed.signal, Some(SIGKILL), "{point} was not reached: {crashed:?}");
        world.project.run(&["run", "--resume", "1"]);
        check_at_rest(&world, ".regatta/shelf");
        let log = read_all(&world.project.path().join(".regatta/shelf")).remove(Path::new("log.jsonl"));
        let lines = log.unwrap_or_default().iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines, 10 * (7 + number), "{point}");
    }
}

/// Reads the workflow as it is shipped.
fn cycle() -> Workflow {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows/cycle");
    let text = |(name, bytes): (PathBuf, Vec<u8>)| {
        (name.display().to_string(), String::from_utf8(bytes).expect("a workflow is text"))
    };
    let files = read_all(&folder).into_iter().map(text).collect();
    Workflow::load(&Folder::new(files)).expect("the workflow can be loaded")
}

/// Says what is wrong with a file of a cycle, if anything is.
fn find_fault(workflow: &Workflow, path: &Path, bytes: &[u8]) -> Option<String> {
    let name = path.to_string_lossy();
    let Ok(text) = std::str::from_utf8(bytes) else { return Some("it is no text".to_owned()) };
    let is_json = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    if name.ends_with(".log") {
        let is_cut = !text.is_empty() && !text.ends_with('\n');
        let bad = text.lines().find_map(|line| is_json(line).err());
        return bad.or(is_cut.then(|| "its last line is cut off".to_owned()));
    }
    if name.ends_with(".md") {
        let is_front = name.ends_with("requirements.md") || name.ends_with("exploration.md");
        let is_front_whole = text.starts_with("---\n") && text[4..].contains("\n---\n");
        let is_whole = text.ends_with('\n') && (!is_front || is_front_whole);
        let is_empty_list = text.is_empty() && !is_front;
        return (!is_whole && !is_empty_list).then(|| format!("it is cut off: {text}"));
    }
    let value = match is_json(text) {
        Ok(value) => value,
        Err(error) => return Some(error),
    };
    if name.contains('/') {
        return None;
    }
    let document = workflow.files.iter().find(|file| file.name == "cycle")?;
    let Content::Value { schema: Some(schema), .. } = &document.content else { return None };
    schema.check(&value).err().map(|faults| format!("{faults:?}"))
}

/// Reads every file again and again until it is stopped; returns how often, or the first fault.
fn read_all_the_time(folder: PathBuf, stop: Arc<AtomicBool>) -> JoinHandle<Result<usize, String>> {
    std::thread::spawn(move || {
        let workflow = cycle();
        let mut count = 0;
        while !stop.load(Ordering::Relaxed) {
            for (path, bytes) in read_all(&folder) {
                let is_temporary =
                    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
                if let Some(fault) = find_fault(&workflow, &path, &bytes).filter(|_| !is_temporary) {
                    return Err(format!("{}: {fault}", path.display()));
                }
            }
            count += 1;
            std::thread::park_timeout(READ_EVERY);
        }
        Ok(count)
    })
}

#[test]
fn a_reader_always_finds_whole_and_valid_files() {
    let kills = if is_full() { 20 } else { 4 };
    let world = World::furnished("approval = \"auto\"", ROLES);
    world.project.repo.write(".regatta/scripts/analyst.toml", ANALYST);
    world.project.repo.write(".regatta/scripts/developer.toml", DEVELOPER);
    let stop = Arc::new(AtomicBool::new(false));
    let reader = read_all_the_time(world.project.path().join(".regatta/cycles"), Arc::clone(&stop));
    let input = r#"{"title": "Log in", "cycle_id": "c-1", "max_iterations": 30}"#;
    world.done(&["run", "cycle", "--input", input, "--no-wait"]);
    for kill in 0..kills {
        let up = world.up();
        let before = world.events().len();
        let number = kill.to_string();
        // Some come too late to be taken, and that is no harm.
        match kill % 4 {
            0 => world.project.run(&["run", "pause", "1"]),
            1 => world.project.run(&["run", "resume", "1", "--no-wait"]),
            _ => world.project.run(&["run", "signal", "1", "extend", "--text", &number, "--no-wait"]),
        };
        // Each time a little further into what happens next.
        until("something happens", || world.events().len() > before || has_ended(&world));
        std::thread::park_timeout(Duration::from_millis(37 * (kill % 7)));
        up.kill();
    }
    let up = world.up();
    world.project.run(&["run", "resume", "1", "--no-wait"]);
    until("the run has ended", || has_ended(&world));
    up.stop();
    stop.store(true, Ordering::Relaxed);
    let reads = reader.join().expect("the reader does not panic");
    let reads = reads.unwrap_or_else(|fault| panic!("{fault}"));
    assert!(reads > 20, "only {reads} reads");
    let run = world.project.json(&["run", "show", "1"]);
    assert_eq!(run["status"], "completed", "{run}");
    assert!(
        run["files"].as_array().is_some_and(|files| files.iter().all(|file| file["error"].is_null())),
        "{run}"
    );
    check_at_rest(&world, ".regatta/cycles");
}

fn has_ended(world: &World) -> bool {
    let status = &world.project.json(&["run", "show", "1"])["status"];
    status == "completed" || status == "failed"
}
