//! What must hold whenever nothing is under way, whatever happened before.

use crate::task_file;
use crate::world::World;
use regatta_testkit::wait::until;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Fails unless log, tasks, repository, files and processes add up.
pub(crate) fn check(world: &World) {
    let tasks = world.tasks();
    check_sessions(world);
    check_merges(world, &tasks);
    check_worktrees(world, &tasks);
    check_salvages(world, &tasks);
    check_nothing_left(world);
    check_files(world, &tasks);
    check_doctor(world);
}

/// Tells whether the file of a task is what the log says.
pub(crate) fn is_in_line(world: &World, task: u64) -> bool {
    let newest = task_file::versions(&world.events(), task).pop();
    std::fs::read_to_string(task_file::path(world, task)).ok() == newest
}

/// Returns how many merge commits of the target's own line name each task.
pub(crate) fn count_merges(world: &World) -> BTreeMap<u64, usize> {
    let format = "--format=%(trailers:key=Regatta-Task,valueonly,separator=%x2C)";
    let log = world.project.repo.git(&["log", "--first-parent", "--merges", format, "main"]);
    let mut counts = BTreeMap::new();
    for line in log.lines().filter(|line| !line.is_empty()) {
        let task: u64 = line.trim().parse().expect("a merge commit names one task");
        *counts.entry(task).or_default() += 1;
    }
    counts
}

/// What was set aside for a session is given back, also when nobody heard its end.
fn check_sessions(world: &World) {
    let mut open = BTreeSet::new();
    for event in world.events() {
        let session = event.0["session"].to_string();
        match event.kind() {
            "session:opened" => drop(open.insert(session)),
            "session:closed" => drop(open.remove(&session)),
            _ => {}
        }
    }
    assert_eq!(open, BTreeSet::new(), "sessions that nobody closed");
}

fn check_merges(world: &World, tasks: &[Value]) {
    let verified = tasks.iter().filter(|task| task["column"] == "verified");
    let expected: BTreeMap<u64, usize> =
        verified.filter_map(|task| Some((task["id"].as_u64()?, 1))).collect();
    assert_eq!(
        count_merges(world),
        expected,
        "every verified task has one merge commit, and no other has one"
    );
}

/// Only a task in work has a worktree, a folder and a branch.
fn check_worktrees(world: &World, tasks: &[Value]) {
    let is_in_work = |task: &&Value| task["column"] == "in_progress" || task["column"] == "waiting_approval";
    let mut owners: Vec<String> =
        tasks.iter().filter(is_in_work).map(|task| task["id"].to_string()).collect();
    owners.sort();
    let list = world.project.repo.git(&["worktree", "list", "--porcelain"]);
    let linked = list.lines().filter_map(|line| line.strip_prefix("worktree ")).map(PathBuf::from);
    // The user may have worktrees too.
    let own = linked.filter(|path| path.starts_with(world.project.path().join(".regatta")));
    assert_eq!(numbers(own), owners, "git's worktrees");
    let folders = std::fs::read_dir(world.project.path().join(".regatta/worktrees")).into_iter().flatten();
    assert_eq!(numbers(folders.flatten().map(|entry| entry.path())), owners, "folders of worktrees");
    let format = "--format=%(refname)";
    let refs = world.project.repo.git(&["for-each-ref", format, "refs/heads/task/"]);
    assert_eq!(numbers(refs.lines().map(|name| PathBuf::from(name.replace("task/", "task-")))), owners);
}

/// What the log says was set aside is there, and what is there is in the log.
fn check_salvages(world: &World, tasks: &[Value]) {
    let format = "--format=%(refname) %(objectname)";
    let refs = world.project.repo.git(&["for-each-ref", format, "refs/regatta/salvage/"]);
    let mut found: Vec<String> = refs.lines().map(str::to_owned).collect();
    found.sort();
    let salvages = tasks.iter().filter_map(|task| task["salvages"].as_array()).flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut known: Vec<String> =
        salvages.map(|salvage| format!("{} {}", text(&salvage["ref"]), text(&salvage["commit"]))).collect();
    known.sort();
    assert_eq!(found, known, "salvage refs, and salvages in the log");
}

/// What belongs in our folder of the git folder when nobody is at work: locks that stay, the log, transcripts, the keys
/// of the server, and the note that the config is its user's own.
const KEPT: [&str; 9] =
    ["serial", "moving", "guards", "server", "sessions", "trusted", "log.db", "log.db-wal", "log.db-shm"];

/// No lock file, no note of something half made, no process.
fn check_nothing_left(world: &World) {
    let git = world.project.path().join(".git");
    let mut files = Vec::new();
    list_files(&git, &mut files);
    let is_leftover = |path: &&PathBuf| {
        let below = path.strip_prefix(git.join("regatta")).ok();
        let is_own = below.is_some_and(|below| !KEPT.iter().any(|kept| below.starts_with(kept)));
        path.extension().is_some_and(|extension| extension == "lock") || is_own
    };
    assert_eq!(files.iter().filter(is_leftover).collect::<Vec<_>>(), Vec::<&PathBuf>::new());
    // A process that was killed a moment ago may still be seen while the kernel takes it down.
    until("no process of an agent is left", || world.agent_processes().is_empty());
}

/// Every task file is what the log says, and nothing is left beside it.
fn check_files(world: &World, tasks: &[Value]) {
    assert_eq!(task_file::left_overs(world), Vec::<String>::new());
    let events = world.events();
    for task in tasks.iter().filter_map(|task| task["id"].as_u64()) {
        let newest = task_file::versions(&events, task).pop();
        let file = std::fs::read_to_string(task_file::path(world, task)).ok();
        assert_eq!(file, newest, "the file of task #{task}, and the log");
    }
}

fn check_doctor(world: &World) {
    let outcome = world.project.run(&["--json", "doctor"]);
    assert_eq!((outcome.code, outcome.stdout.trim()), (Some(0), "[]"), "{outcome:?}");
}

/// Returns the numbers at the end of names such as `task-7`, in the order of their text.
fn numbers(paths: impl Iterator<Item = PathBuf>) -> Vec<String> {
    let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let number = |name: String| name.strip_prefix("task-").map_or(name.clone(), str::to_owned);
    let mut numbers: Vec<String> = paths.filter_map(name).map(number).collect();
    numbers.sort();
    numbers
}

fn list_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => list_files(&entry.path(), files),
            _ => files.push(entry.path()),
        }
    }
}
