//! A run that is killed again and again: no step is lost, and none is done twice whose result was stored.
//!
//! The processes are killed with SIGKILL at random moments, some counted from their start (so that recovery itself is
//! hit) and some from their first step. What agents did is in the list that they wrote, which outlives them. What was
//! stored is in the log: it is read after each kill, from a copy, so that the next process finds the log as the kill
//! left it. A step may be repeated only if it was the last one under way at a kill and was not stored by then. In the end
//! every step is in the log exactly once.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use regatta_core::{AnyEvent, run};
use regatta_engine::{Journal, Project};
use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// As many tasks as a run has: long enough to be hit a hundred times.
const TASKS: usize = 200;
/// As many kills as there are in all.
const KILLS: usize = 200;
/// How long a process may live after its start or its first step.
const LIFE_MILLISECONDS: Range<u64> = 5..60;
/// Only a run that hangs takes so long: with two idle cores all the kills take less than one minute.
const KILLING_MAX: Duration = Duration::from_secs(1_800);
/// Names the seed to repeat a failure with.
const SEED: &str = "REGATTA_KILL_SEED";

#[test]
fn a_run_that_is_killed_again_and_again_loses_nothing() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let given = std::env::var(SEED).ok().map(|text| text.parse().expect("the seed is a number"));
    let seed: u64 = given.unwrap_or(now.as_nanos() as u64);
    println!("{SEED}={seed}");
    let mut random = Random(seed | 1);
    let begin = Instant::now();
    let (mut kills, mut rounds) = (0, 0);
    while kills < KILLS && begin.elapsed() < KILLING_MAX {
        let round = Round::new();
        kills += round.play(&mut random, KILLS - kills, begin);
        rounds += 1;
    }
    println!("{kills} kills over {rounds} runs");
    assert_eq!(kills, KILLS, "the kills took more than {KILLING_MAX:?}");
}

/// One run in a folder of its own.
struct Round {
    folder: tempfile::TempDir,
}

/// The list of agent runs, cut where processes were killed.
struct Executed {
    keys: Vec<String>,
    cuts: Vec<Cut>,
}

/// What was there when a process had been killed.
#[derive(Clone, Copy)]
struct Cut {
    /// How many keys were in the list.
    lines: usize,
    /// How many steps were in the log.
    stored: usize,
}

impl Round {
    fn new() -> Self {
        Round { folder: tempfile::tempdir().unwrap() }
    }

    /// Kills the run until it completes or there were enough kills, lets it complete, and checks everything.
    fn play(&self, random: &mut Random, kills_max: usize, begin: Instant) -> usize {
        let mut cuts = Vec::new();
        let mut child = self.spawn("w3start");
        // The first process makes the project, and git does not like to be cut off in that.
        self.wait_for_step(&mut child, 0);
        while cuts.len() < kills_max && begin.elapsed() < KILLING_MAX {
            let life = Duration::from_millis(random.within(LIFE_MILLISECONDS));
            if has_ended_within(&mut child, life) {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            cuts.push(self.cut());
            child = self.spawn("w3resume");
            if random.within(0..2) == 0 {
                self.wait_for_step(&mut child, self.list().len());
            }
        }
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the run did not complete after {} kills: {said}", cuts.len());
        let kills = cuts.len();
        Executed { keys: self.list(), cuts }.check();
        check_stored(&stored_in(&self.project_path()));
        kills
    }

    /// Looks at what a killed process left, without touching it.
    fn cut(&self) -> Cut {
        let copy = tempfile::tempdir().unwrap();
        copy_folder(&self.project_path(), copy.path());
        let stored = stored_in(copy.path());
        check_beginning(&stored);
        Cut { lines: self.list().len(), stored: stored.len() }
    }

    fn spawn(&self, verb: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_regatta-bench"));
        command.env_clear().env("HOME", self.folder.path()).env("EXEC_LOG", self.list_path());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.arg(verb).arg(self.project_path()).arg(TASKS.to_string());
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started")
    }

    /// Waits until an agent has run since the list had so many lines, or the process has ended.
    fn wait_for_step(&self, child: &mut Child, lines: usize) {
        regatta_testkit::wait::until("an agent has run", || {
            child.try_wait().unwrap().is_some() || self.list().len() > lines
        });
    }

    fn project_path(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn list_path(&self) -> PathBuf {
        self.folder.path().join("exec.log")
    }

    /// Returns the keys of all agent runs so far.
    fn list(&self) -> Vec<String> {
        read_keys(&self.list_path())
    }
}

/// Returns every step in the log of a project, in its order, as number and node.
fn stored_in(project: &Path) -> Vec<(u64, String)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let project = Project::open(project).await.unwrap();
        let (mut journal, mut steps) = (Journal::after(&project, 0), Vec::new());
        loop {
            let page = journal.read().await.unwrap();
            if page.is_empty() {
                return steps;
            }
            steps.extend(page.into_iter().filter_map(|entry| match entry.event {
                AnyEvent::Run(run::Event::RunStepped { step, node, .. }) => Some((step, node.to_string())),
                _ => None,
            }));
        }
    })
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), &place).unwrap();
        }
    }
}

/// Reads the keys of all lines that are whole: a kill may cut one where a page of the file ends.
fn read_keys(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let words = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    words.filter(|words| words.len() == 3).map(|words| words[0].to_owned()).collect()
}

impl Executed {
    fn check(&self) {
        let done: HashSet<&str> = self.keys.iter().map(String::as_str).collect();
        let model = model();
        let lost: Vec<&String> = model.iter().filter(|key| !done.contains(key.as_str())).collect();
        assert!(lost.is_empty(), "steps were lost: {lost:?}");
        assert_eq!(done.len(), model.len(), "agents ran for steps that do not exist");
        let repeated = self.keys.len() - done.len();
        let kills = self.cuts.len();
        assert!(repeated <= kills, "{repeated} repetitions after {kills} kills");
        self.check_stored_once(&model);
        self.check_repetitions();
    }

    /// A step that was stored at a kill may not be in the list after it.
    fn check_stored_once(&self, model: &[String]) {
        for cut in &self.cuts {
            let stored: HashSet<&String> = model[..cut.stored].iter().collect();
            let again: Vec<&String> =
                self.keys[cut.lines..].iter().filter(|key| stored.contains(key)).collect();
            assert!(again.is_empty(), "done again though they were stored: {again:?}");
        }
    }

    /// A key may come again only when it was the last before a kill.
    fn check_repetitions(&self) {
        for (index, key) in self.keys.iter().enumerate() {
            let Some(before) = self.keys[..index].iter().rposition(|other| other == key) else { continue };
            let is_last_before_a_kill = self.cuts.iter().any(|cut| cut.lines == before + 1);
            assert!(
                is_last_before_a_kill,
                "{key} (line {}) was done again at line {}",
                before + 1,
                index + 1
            );
        }
    }
}

/// Each step of the model is in the log once, in its place, and nothing else is.
fn check_stored(stored: &[(u64, String)]) {
    check_beginning(stored);
    assert_eq!(stored.len(), model().len(), "the log has fewer or more steps than the run");
}

/// What is in the log is what the model begins with.
fn check_beginning(stored: &[(u64, String)]) {
    let node = |key: &str| match key.split(':').next() {
        Some("s") => "spec".to_owned(),
        Some("c") => "coder".to_owned(),
        _ => "reviewer".to_owned(),
    };
    let expected: Vec<(u64, String)> = (1..).zip(model().iter().map(|key| node(key))).collect();
    let differs = stored.iter().zip(&expected).find(|(stored, expected)| stored != expected);
    assert!(
        differs.is_none(),
        "the log has {:?} in the place of {:?}",
        differs.unwrap().0,
        differs.unwrap().1
    );
    assert!(stored.len() <= expected.len(), "the log has more steps than the run");
}

/// Lets a process live for this long, or until it ends on its own.
fn has_ended_within(child: &mut Child, life: Duration) -> bool {
    let begin = Instant::now();
    let mut has_ended = false;
    regatta_testkit::wait::until("the process has lived", || {
        has_ended = child.try_wait().unwrap().is_some();
        has_ended || begin.elapsed() >= life
    });
    has_ended
}

/// Returns the key of every step of the run.
fn model() -> Vec<String> {
    let of_task = |task: usize| {
        ["c:T:0", "c:T:1", "r:T:2", "c:T:2", "r:T:3"].map(|key| key.replace(":T:", &format!(":T{task:04}:")))
    };
    std::iter::once("s".to_owned()).chain((0..TASKS).flat_map(of_task)).collect()
}

/// A generator that gives the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn within(&mut self, range: Range<u64>) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        range.start + self.0 % (range.end - range.start)
    }
}

#[test]
fn a_repetition_of_a_stored_step_is_noticed() {
    let mut keys = model();
    keys.insert(5, keys[2].clone());
    let check = |cut| Executed { keys: keys.clone(), cuts: vec![cut] }.check();
    let is_noticed = |cut| std::panic::catch_unwind(|| check(cut)).is_err();
    assert!(is_noticed(Cut { lines: 5, stored: 2 }), "it was not the last before the kill");
    let mut keys = model();
    keys.insert(3, keys[2].clone());
    let check = |cut| Executed { keys: keys.clone(), cuts: vec![cut] }.check();
    let is_noticed = |cut| std::panic::catch_unwind(|| check(cut)).is_err();
    assert!(is_noticed(Cut { lines: 3, stored: 3 }), "it was the last, and stored by then");
    check(Cut { lines: 3, stored: 2 });
}

#[test]
fn a_step_that_is_stored_twice_or_left_out_is_noticed() {
    let node = |key: &String| ["spec", "coder", "reviewer"]["scr".find(&key[..1]).unwrap()].to_owned();
    let stored: Vec<(u64, String)> = (1..).zip(model().iter().map(node)).collect();
    check_stored(&stored);
    let mut twice = stored.clone();
    twice.insert(7, stored[6].clone());
    let mut gap = stored.clone();
    gap.remove(7);
    let cut = stored[..stored.len() - 1].to_vec();
    for bad in [twice, gap, cut] {
        assert!(std::panic::catch_unwind(|| check_stored(&bad)).is_err());
    }
}
