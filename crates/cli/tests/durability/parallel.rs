//! Many tasks at once: processes, worktrees and merges; and the limit on agents at work.

use crate::follower::Follower;
use crate::invariants::{self, count_merges};
use crate::world::{Event, World};
use regatta_testkit::binary::{Outcome, Running};
use regatta_testkit::is_full;
use regatta_testkit::wait::until;
use serde_json::Value;
use std::collections::BTreeSet;

const LIMIT: usize = 5;
const PRIORITIES: [&str; 3] = ["high", "medium", "low"];

/// Each task is a process per command and several git calls: sixty-four keep two cores busy for minutes.
fn tasks() -> u64 {
    if is_full() { 64 } else { 24 }
}

/// Gives one command for every task at the same time, each from a process of its own.
fn for_all_tasks(world: &World, verb: &[&str], options: &[&str]) -> Vec<Outcome> {
    let start = |task: u64| world.project.start(&[&["--json"], verb, &[&task.to_string()], options].concat());
    let running: Vec<Running> = (1..=tasks()).map(start).collect();
    running.into_iter().map(Running::wait).collect()
}

fn count_in(world: &World, column: &str) -> usize {
    world.tasks().iter().filter(|task| task["column"] == column).count()
}

/// Counts the tasks that wait for a person: their agents are free again, and the log says so.
fn count_ready(world: &World) -> usize {
    let is_ready = |task: &&Value| task["column"] == "waiting_approval" && task["owner"] == "you";
    world.tasks().iter().filter(is_ready).count()
}

fn assert_all_done(outcomes: &[Outcome]) {
    for outcome in outcomes {
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
}

/// Approves all tasks at once: each has its own merge commit, and no file is lost.
fn approve_all(world: &World) {
    assert_all_done(&for_all_tasks(world, &["task", "approve"], &[]));
    assert_eq!(count_in(world, "verified"), tasks() as usize);
    assert_eq!(count_merges(world).len(), tasks() as usize);
    let files = world.project.repo.git(&["ls-tree", "--name-only", "main"]);
    let files: BTreeSet<&str> = files.lines().collect();
    let missing: Vec<u64> =
        (1..=tasks()).filter(|task| !files.contains(format!("work-{task}.txt").as_str())).collect();
    assert_eq!(missing, Vec::<u64>::new());
    assert_eq!(world.project.repo.git(&["status", "--porcelain"]), "", "the clean checkout has followed");
}

#[test]
fn all_at_once() {
    let world = World::new("max_concurrent_agents = 64");
    (0..tasks()).for_each(|_| world.add("medium"));
    let mut follower = Follower::start(&world);
    // It runs everything at once; without it each command would wait for its turn.
    let up = world.up();
    assert_all_done(&for_all_tasks(&world, &["task", "assign"], &["--agent", "writer"]));
    assert_eq!(count_in(&world, "waiting_approval"), tasks() as usize);
    up.stop();
    invariants::check(&world);
    approve_all(&world);
    invariants::check(&world);
    follower.until_seen(world.events().len() as u64);
}

#[test]
fn never_more_than_the_limit() {
    let world = World::new(&format!("max_concurrent_agents = {LIMIT}"));
    (0..tasks() as usize).for_each(|index| world.add(PRIORITIES[index % 3]));
    let up = world.up();
    let outcomes = for_all_tasks(&world, &["task", "assign"], &["--agent", "gated", "--no-wait"]);
    assert_all_done(&outcomes);
    let is_queued = |outcome: &&Outcome| outcome.stdout.contains(r#""code": "CONCURRENCY_LIMIT_EXCEEDED""#);
    assert_eq!(outcomes.iter().filter(is_queued).count(), tasks() as usize - LIMIT, "{outcomes:?}");
    until("all places are taken", || counts(&world).len() == LIMIT);
    world.let_go();
    // Waited for in parts, so that a slow machine has the time for each.
    for part in 1..=8 {
        let count = tasks() as usize / 8 * part;
        until(&format!("{count} tasks are done"), || count_ready(&world) >= count);
    }
    let events = world.events();
    check_counts(&world);
    check_working(&events);
    check_order(&events);
    approve_all(&world);
    up.stop();
    invariants::check(&world);
}

/// Returns what the agents have written down so far.
fn counts(world: &World) -> Vec<usize> {
    let text = std::fs::read_to_string(world.project.path().join(".regatta/counts")).unwrap_or_default();
    text.lines().map(|line| line.trim().parse().expect("a count")).collect()
}

/// The agents themselves counted how many worked.
fn check_counts(world: &World) {
    let counts = counts(world);
    assert_eq!(counts.len(), 2 * tasks() as usize, "each agent ran once");
    assert_eq!(counts.iter().max(), Some(&LIMIT));
}

/// The log says the same.
fn check_working(events: &[Event]) {
    let mut working = BTreeSet::new();
    for event in events {
        match event.kind() {
            "task:assigned" => working.insert(event.task()),
            "agent:paused" => working.remove(&event.task()),
            _ => continue,
        };
        assert!(working.len() <= LIMIT, "{working:?} are at work at event {}", event.seq());
    }
    assert!(working.is_empty());
}

/// No place was free before all had asked, so that the queue is served by priority, then age.
fn check_order(events: &[Event]) {
    let text = |event: &Event, key: &str| event.0[key].as_str().unwrap_or_default().to_owned();
    let rank = |event: &Event| {
        let priority = text(event, "priority");
        PRIORITIES.iter().position(|known| *known == priority)
    };
    let mut queued: Vec<&Event> = events.iter().filter(|event| event.kind() == "task:queued").collect();
    queued.sort_by_key(|event| (rank(event), text(event, "at"), event.task()));
    let expected: Vec<u64> = queued.iter().map(|event| event.task()).collect();
    let assigned = events.iter().filter(|event| event.kind() == "task:assigned").map(Event::task);
    assert_eq!(assigned.skip(LIMIT).collect::<Vec<_>>(), expected);
}
