//! A run with children that is killed again and again: no step is lost, no child is doubled, and it ends.
//!
//! The items depend on each other, and three children run at once, each in two steps. Every agent is a real process that
//! writes down for which step it runs, in a list that outlives everybody. A step whose result was stored at a kill may
//! not be in the list again after it.

use regatta_testkit::binary::{Running, TestProject};
use regatta_testkit::wait::until;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// As many items as the run has.
const ITEMS: usize = 12;
/// As many kills as there are in all; a run takes about half of them.
const KILLS: usize = 30;
/// The moments are chosen from this, so that a failure comes again about as it was.
const SEED: u64 = 82_381_288;
/// How long a process may live after its start, or after an agent of it was seen, in milliseconds.
const LIFE_MAX: u64 = 400;

const PROGRAM: &str = env!("CARGO_BIN_EXE_regatta");

const CONFIG: &str = r#"
[project]
default_branch = "main"
max_concurrent_agents = 4

[agents.worker]
kind = "command"
command = ["sh", "-c", 'echo "$REGATTA_RUN_ID $REGATTA_STEP" >> "$REGATTA_PROJECT/.regatta/list"; printf {} > "$REGATTA_RESULT_FILE"']
instances = 4
"#;

const PARENT: &str = r#"
name = "fan"
start = "each"
nodes.each = { kind = "map", workflow = "one", items = "input.items", key = "key", depends = "after", max_parallel = 3, set = { results = "output" } }
nodes.done = { kind = "end" }
edges = [{ id = "all", from = "each", to = "done" }]
"#;

const CHILD: &str = r#"
name = "one"
start = "begin"
nodes.begin = { kind = "agent", role = "worker" }
nodes.finish = { kind = "agent", role = "worker" }
nodes.done = { kind = "end", result = "input.key" }
edges = [{ id = "begun", from = "begin", to = "finish" }, { id = "finished", from = "finish", to = "done" }]
"#;

const STATE: &str = r#"{"type": "object", "properties": {"results": {"type": "array", "default": []}}}"#;

/// A step of a run, by their numbers.
type Step = (u64, u64);

#[test]
fn a_run_with_children_that_is_killed_again_and_again_loses_nothing() {
    let (mut state, mut kills, mut rounds) = (SEED, 0, 0);
    while kills < KILLS {
        kills += Round::new().play(&mut state, KILLS - kills);
        rounds += 1;
        assert!(rounds <= KILLS, "a run is over before it can be killed");
    }
    println!("{kills} kills over {rounds} runs");
}

/// One run in a project of its own.
struct Round {
    project: TestProject,
}

impl Round {
    fn new() -> Self {
        let project = TestProject::new(PROGRAM, CONFIG);
        for (name, text) in [
            ("workflow.toml", PARENT),
            ("state.schema.json", STATE),
            ("children/one/workflow.toml", CHILD),
            ("children/one/state.schema.json", STATE),
            ("children/one/roles/worker.md", "Work.\n"),
            ("children/one/roles/worker.output.json", "{}"),
        ] {
            project.repo.write(&format!(".regatta/workflows/fan/{name}"), text);
        }
        let input = json!({ "items": items() }).to_string();
        project.json(&["run", "fan", "--input", &input, "--no-wait"]);
        Round { project }
    }

    /// Kills the run until it completes or there were enough kills, lets it complete, and checks everything.
    fn play(&self, state: &mut u64, kills_max: usize) -> usize {
        let mut cuts = Vec::new();
        while cuts.len() < kills_max {
            let mut running = self.resume();
            if draw(state, 2) == 0 {
                let before = self.list().len();
                until("an agent has run", || !running.is_running() || self.list().len() > before);
            }
            if has_ended_within(&mut running, Duration::from_millis(draw(state, LIFE_MAX))) {
                break;
            }
            running.kill();
            cuts.push(Cut { stored: self.stored(), lines: self.list().len() });
        }
        let ended = self.resume().wait();
        assert_eq!(ended.code, Some(0), "after {} kills: {ended:?}", cuts.len());
        self.check(&cuts);
        cuts.len()
    }

    fn resume(&self) -> Running {
        self.project.start(&["run", "--resume", "1"])
    }

    fn check(&self, cuts: &[Cut]) {
        let list = self.list();
        for cut in cuts {
            let again: Vec<&Step> =
                list[cut.lines..].iter().filter(|step| cut.stored.contains(step)).collect();
            assert!(again.is_empty(), "done again though they were stored: {again:?}");
        }
        let children = self.children();
        assert_eq!(children.len(), ITEMS, "there is one child for each item: {children:?}");
        let expected: Vec<Step> =
            children.values().flat_map(|run| [(*run, 1), (*run, 2)]).chain([(1, 1)]).collect();
        let stored = self.stored();
        assert_eq!(stored, sorted(expected), "each step is stored once");
        assert!(stored.iter().all(|step| step.0 == 1 || list.contains(step)), "agents ran for all of them");
        let run = self.project.json(&["run", "show", "1"]);
        let entry = |key: String| json!({ "key": key, "status": "completed", "result": key });
        let results: Vec<Value> = (0..ITEMS).map(|item| entry(key_of(item))).collect();
        assert_eq!(
            (&run["status"], &run["state"]["results"]),
            (&json!("completed"), &json!(results)),
            "{run}"
        );
        let doctor = self.project.run(&["doctor"]);
        assert_eq!(doctor.code, Some(0), "{doctor:?}");
    }

    /// Returns every step in the log, in order; one that is there twice is returned twice.
    fn stored(&self) -> Vec<Step> {
        let steps = self.events("run:stepped");
        sorted(steps.iter().map(|event| (number(&event["runId"]), number(&event["step"]))).collect())
    }

    /// Returns the run of each item; an item has one.
    fn children(&self) -> BTreeMap<String, u64> {
        let mut children = BTreeMap::new();
        for event in self.events("run:created") {
            let Some(item) = event["plan"]["parent"]["item"].as_str() else { continue };
            let before = children.insert(item.to_owned(), number(&event["runId"]));
            assert_eq!(before, None, "item {item} has two children");
        }
        children
    }

    fn events(&self, kind: &str) -> Vec<Value> {
        let all = self.project.json(&["events"]);
        let all = all.as_array().expect("the log is a list");
        all.iter().filter(|entry| entry["type"] == kind).cloned().collect()
    }

    /// Returns the steps that agents ran for so far; a line that a kill cut off is none.
    fn list(&self) -> Vec<Step> {
        let text = std::fs::read_to_string(self.project.path().join(".regatta/list")).unwrap_or_default();
        let step = |line: &str| {
            let (run, step) = line.split_once(' ')?;
            Some((run.parse().ok()?, step.parse().ok()?))
        };
        text.lines().filter_map(step).collect()
    }
}

/// What was there when a process had been killed.
struct Cut {
    stored: Vec<Step>,
    lines: usize,
}

/// The first three depend on nothing, and each of the others on two that come before it.
fn items() -> Vec<Value> {
    let after = |item: usize| match item {
        0..3 => Vec::new(),
        _ => vec![key_of(item - 3), key_of(item / 2)],
    };
    (0..ITEMS).map(|item| json!({ "key": key_of(item), "after": after(item) })).collect()
}

fn key_of(item: usize) -> String {
    format!("I{item:02}")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

fn sorted(mut steps: Vec<Step>) -> Vec<Step> {
    steps.sort_unstable();
    steps
}

/// Lets a process live so long, or until it ends by itself.
fn has_ended_within(running: &mut Running, life: Duration) -> bool {
    let begin = Instant::now();
    let mut has_ended = false;
    until("the process has lived", || {
        has_ended = !running.is_running();
        has_ended || begin.elapsed() >= life
    });
    has_ended
}

/// Returns a number below `bound`, from numbers that look random and are the same in each run.
fn draw(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}
