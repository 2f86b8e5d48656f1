//! One task file for a while: an engine, verbs, an agent, three editors and a reader, all at once.
//!
//! In the end every token whose write has ended is in the file, in a version that the log has, or in a kept conflict.
//! `REGATTA_CONCURRENCY_SECONDS` sets another time.

use crate::endpoint::{END, Endpoint, NOTES, lock, tokens};
use crate::invariants;
use crate::task_file::{TaskFile, apply, left_overs};
use crate::world::{Event, World};
use regatta_testkit::is_full;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

/// Enough for several hundred writes of each kind; a minute with the full suites.
const SECONDS: u64 = 20;
const SECONDS_FULL: u64 = 60;

/// A reader that is this slow saw nothing.
const READS_MIN: u64 = 100;

fn find_span() -> Duration {
    let asked = std::env::var("REGATTA_CONCURRENCY_SECONDS").ok();
    Duration::from_secs(asked.and_then(|text| text.parse().ok()).unwrap_or(if is_full() {
        SECONDS_FULL
    } else {
        SECONDS
    }))
}

/// Adds what the versions in the log hold, as they come.
fn follow_log(world: &World, endpoint: &Endpoint) {
    let mut command = world.project.command(&["--json", "events", "--follow"]);
    command.stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("the binary can be started");
    let lines = BufReader::new(child.stdout.take().expect("stdout is a pipe")).lines();
    let mut text = String::new();
    for line in lines {
        let event =
            Event(serde_json::from_str(&line.expect("the log can be read")).expect("a line is one event"));
        if event.kind() == "file:changed" {
            text = apply(&text, &event);
            lock(&endpoint.logged).extend(tokens(&text));
        }
        if endpoint.is_over() {
            break;
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn log_progress(world: &World, endpoint: &Endpoint) {
    for number in 1.. {
        if endpoint.is_over() {
            return;
        }
        let token = format!("@progress-{number}@");
        world.done(&["task", "progress", "1", "--did", &token, "--next", "more"]);
        endpoint.note(&token);
    }
}

fn tick(world: &World, endpoint: &Endpoint) {
    for option in ["--check", "--uncheck"].iter().cycle() {
        if endpoint.is_over() {
            return;
        }
        world.done(&["task", "criteria", "1", option, "1"]);
    }
}

/// Ends the others when one of them fails, so that the failure is seen at once.
fn run<T>(endpoint: &Endpoint, work: impl FnOnce() -> T) -> T {
    struct EndOnPanic<'a>(&'a Endpoint);
    impl Drop for EndOnPanic<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                self.0.end();
            }
        }
    }
    let _guard = EndOnPanic(endpoint);
    work()
}

/// Returns every token that is somewhere, after a last look at the file.
fn find_kept(world: &World) -> BTreeSet<String> {
    let file = TaskFile::of(world);
    let mut kept: BTreeSet<String> = tokens(&(file.read() + &file.read_conflicts())).collect();
    let mut text = String::new();
    for event in world.events().iter().filter(|event| event.kind() == "file:changed") {
        text = apply(&text, event);
        kept.extend(tokens(&text));
    }
    kept
}

#[test]
fn on_one_file_at_once() {
    let world = World::new("");
    world.done(&["task", "add", "a task", "--criterion", "it works"]);
    let file = TaskFile::of(&world);
    std::fs::write(file.path(), format!("{}\n{NOTES}\n\n{END}\n", file.read()))
        .expect("the file can be written");
    world.done(&["task", "criteria", "1"]);
    let up = world.up();
    let endpoint = Endpoint::new(file.path());
    let reads = std::thread::scope(|scope| {
        scope.spawn(|| run(&endpoint, || follow_log(&world, &endpoint)));
        scope.spawn(|| run(&endpoint, || log_progress(&world, &endpoint)));
        scope.spawn(|| run(&endpoint, || tick(&world, &endpoint)));
        scope.spawn(|| run(&endpoint, || endpoint.append_sessions()));
        scope.spawn(|| run(&endpoint, || endpoint.append_notes()));
        scope.spawn(|| run(&endpoint, || endpoint.truncate_and_write()));
        scope.spawn(|| run(&endpoint, || endpoint.rename_over()));
        let reader = scope.spawn(|| run(&endpoint, || endpoint.read_on()));
        let begin = Instant::now();
        while begin.elapsed() < find_span() && !endpoint.is_over() {
            crate::endpoint::pass(Duration::from_millis(50));
        }
        endpoint.end();
        let reads = reader.join().expect("every read was of a whole version");
        // The follower ends with the next event.
        world.done(&["task", "criteria", "1", "--check", "1", "--uncheck", "1"]);
        world.done(&["task", "progress", "1", "--did", "the last", "--next", "nothing"]);
        reads
    });
    up.stop();
    world.done(&["task", "criteria", "1"]);
    let written = lock(&endpoint.written).clone();
    let kept = find_kept(&world);
    println!("{reads:?}, {} tokens, {} events", written.len(), world.events().len());
    let lost: Vec<&String> = written.difference(&kept).collect();
    assert_eq!(lost, Vec::<&String>::new(), "of {} tokens", written.len());
    assert_eq!(left_overs(&world), Vec::<String>::new());
    assert!(reads.judged > READS_MIN, "{reads:?}");
    for writer in ["agent", "append", "truncate", "rename", "progress"] {
        let is_by = |token: &&String| token.starts_with(&format!("@{writer}-"));
        assert!(written.iter().any(|token| is_by(&token)), "{writer} wrote nothing");
    }
    invariants::check(&world);
}
