//! How fast the board is with many tasks, and a review with many lines; the figures are printed.
//!
//! `REGATTA_TESTS_FULL` asks for the full size and holds the limits of docs/benchmarks.md. Without it there are fewer tasks,
//! and the limits are wide: they catch what became slow by itself and not a busy machine.

use crate::support::{World, command};
use regatta_core::{Actor, Create, Priority, Revise, TaskId};
use regatta_engine::Project;
use regatta_engine::orders::{self, Caller};
use regatta_testkit::browser::Browser;
use regatta_testkit::wait::until;
use serde_json::{Value, json};

const FULL: &str = "REGATTA_TESTS_FULL";

/// A page may take this long until it can be used, in milliseconds.
const READY_MS_MAX: f64 = 1_000.0;
/// So may nearly every event take until it is on the screen.
const EVENT_MS_MAX: f64 = 100.0;
/// A card that changed, with the heads of the columns.
const CARD_BYTES_MAX: f64 = 4.0 * 1024.0;
/// All script and style of the board, as they are sent.
const ASSET_BYTES_MAX: f64 = 100.0 * 1024.0;

const EVENTS: usize = 60;
const LOADS: usize = 5;

/// Writes five files of a thousand lines.
const LONG: &str = r#"cat > /dev/null; mkdir -p src
for file in 1 2 3 4 5; do
    seq 1 1000 | sed 's/.*/    let value_& = compute(&, "text of line &").unwrap_or(0);/' > src/part_$file.rs
done"#;

/// Prints lines of a hundred bytes each, as a build does that says too much.
fn loud(megabytes: usize) -> String {
    let lines = megabytes * 10_000;
    let rest = "x".repeat(88);
    format!("cat > /dev/null; seq -f '%09.0f: {rest}' 1 {lines}; echo one > loud.txt")
}

/// Notes when a title of a card is first on the screen, by the clock of the machine.
const WATCH: &str = "window.__seen = new Map(); window.__waits = new Map();
    const look = () => {
        const title = document.querySelector('#card-1 h3 a')?.textContent;
        if (!title || window.__seen.has(title)) return;
        window.__seen.set(title, null);
        requestAnimationFrame(() => {
            window.__seen.set(title, performance.timeOrigin + performance.now());
            window.__waits.get(title)?.(window.__seen.get(title));
        });
    };
    new MutationObserver(look).observe(document.getElementById('board'), { subtree: true, childList: true, characterData: true });";

/// Returns when a title was first on the screen, as soon as it was.
const WHEN: &str =
    "return window.__seen.get(TITLE) ?? new Promise((done) => window.__waits.set(TITLE, done));";

/// Brings every file of a review into view, and returns how long it took until all lines were there.
const SCROLL: &str = "const begin = performance.now();
    return new Promise((done) => {
        const step = () => {
            const later = document.querySelector('[data-later]');
            if (!later) return done(performance.now() - begin);
            later.scrollIntoView();
            requestAnimationFrame(step);
        };
        step();
    });";

struct Maker {
    runtime: tokio::runtime::Runtime,
    project: Project,
    caller: Caller,
}

impl Maker {
    fn new(world: &std::path::Path) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads start");
        let project = runtime.block_on(Project::open_own(world)).expect("the project opens");
        Maker { runtime, project, caller: Caller::new(Actor::User("tester".to_owned())) }
    }

    fn add(&self, tasks: usize) {
        self.runtime.block_on(async {
            for number in 1..=tasks {
                let title = format!("Make the part number {number} of the whole");
                let criteria = vec!["It is done".to_owned(), "It is tested".to_owned()];
                let create = Create::new(
                    title,
                    "What it has to do.".to_owned(),
                    criteria,
                    [].into(),
                    Priority::Medium,
                );
                let create = create.expect("the task is well-formed");
                orders::create(&self.project, &self.caller, create).await.expect("the task is added");
            }
        });
    }

    /// Gives the first task another title.
    fn rename(&self, title: &str) {
        let revise = Revise { title: Some(title.to_owned()), ..Revise::default() };
        let edited = orders::edit(&self.project, &self.caller, TaskId::FIRST, revise);
        self.runtime.block_on(edited).expect("the title is changed");
    }
}

fn percentile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a short list")]
    let place = ((values.len() as f64 * part).ceil() as usize).clamp(1, values.len());
    (values[place - 1] * 10.0).round() / 10.0
}

fn number(page: &Browser, script: &str) -> f64 {
    page.run(script).as_f64().unwrap_or_else(|| panic!("a number from {script}"))
}

/// Opens a page, and returns how long it took until its scripts had run, and the bytes of scripts and styles.
fn load(world: &World, path: &str) -> (f64, f64) {
    world.open(path);
    let page = &world.browser;
    page.until("the page is loaded", "performance.getEntriesByType('navigation')[0].loadEventEnd > 0");
    let ready = number(page, "return performance.getEntriesByType('navigation')[0].loadEventEnd");
    let bytes = "return performance.getEntriesByType('resource').filter((one) => one.name.includes('/assets/')) \
                 .reduce((all, one) => all + one.encodedBodySize, 0)";
    (ready, number(page, bytes))
}

fn measure_events(world: &World, maker: &Maker) -> (Value, f64, f64) {
    let page = &world.browser;
    world.open("/");
    page.until_shown("#card-1");
    page.run(WATCH);
    let mut seen = Vec::new();
    for round in 0..EVENTS {
        let title = format!("Make the first part, version {round}");
        maker.rename(&title);
        seen.push((title.clone(), number(page, &WHEN.replace("TITLE", &json!(title).to_string()))));
    }
    let events = world.project.json(&["events", "--task", "1"]);
    let event_of = |title: &str| {
        let events = events.as_array().expect("events are a list");
        let event = events.iter().find(|event| event["title"] == title).expect("its event is in the log");
        let at: jiff::Timestamp =
            event["at"].as_str().expect("a time is text").parse().expect("a time of an event");
        at.as_microsecond() as f64 / 1_000.0
    };
    let mut took: Vec<f64> = seen.iter().map(|(title, at)| at - event_of(title)).collect();
    let bytes = "return Math.max(...performance.getEntriesByType('resource').filter((one) => one.name.includes('/fragments/cards')) \
                 .map((one) => one.encodedBodySize))";
    let card = number(page, bytes);
    let p95 = percentile(&mut took, 0.95);
    (json!({ "p50_ms": percentile(&mut took, 0.5), "p95_ms": p95, "card_bytes": card }), p95, card)
}

#[test]
fn many_tasks_and_a_long_diff_are_fast() {
    let is_full = std::env::var_os(FULL).is_some();
    let (tasks, megabytes, slack) = if is_full { (10_000, 100, 1.0) } else { (200, 2, 10.0) };
    let config = command("worker", LONG) + &command("loud", &loud(megabytes));
    let world = World::of(&config, |project| Maker::new(project.path()).add(tasks));
    let Some(world) = world else { return };
    let maker = Maker::new(world.project.path());
    let (cold, asset_bytes) = load(&world, "/");
    let mut ready: Vec<f64> = (0..LOADS).map(|_| load(&world, "/").0).collect();
    let (events, event_p95, card_bytes) = measure_events(&world, &maker);
    let long = (tasks + 1).to_string();
    world.project.json(&["task", "add", "Write five long files"]);
    world.project.json(&["task", "assign", &long, "--agent", "worker"]);
    until("it is up for review", || world.task(&long)["phase"] == "ready");
    let review = format!("/tasks/{long}/review");
    let mut diff: Vec<f64> = (0..LOADS).map(|_| load(&world, &review).0).collect();
    let scrolled = number(&world.browser, SCROLL);
    assert_eq!(world.browser.count("#diffs tr[data-new]"), 5_000);
    let noisy = (tasks + 2).to_string();
    world.project.json(&["task", "add", "Print a lot"]);
    world.project.json(&["task", "assign", &noisy, "--agent", "loud"]);
    let page = format!("/tasks/{noisy}");
    let mut log: Vec<f64> = (0..LOADS).map(|_| load(&world, &page).0).collect();
    let last = format!("{:09}", megabytes * 10_000);
    assert!(world.browser.text("#log").contains(&last), "the end of the log is shown");
    // A short log is there from its beginning.
    if world.browser.count("[data-first]") > 0 {
        world.browser.click("[data-first]");
    }
    world
        .browser
        .until("the beginning is shown", "document.getElementById('log').innerText.includes('000000001')");
    let log_lines = world.browser.count("#log > li");
    let figures = json!({
        "tasks": tasks,
        "log_megabytes": megabytes,
        "log_ready_p50_ms": percentile(&mut log, 0.5),
        "log_lines_shown": log_lines,
        "board_cold_ms": cold,
        "board_ready_p50_ms": percentile(&mut ready, 0.5),
        "board_ready_max_ms": percentile(&mut ready, 1.0),
        "asset_bytes": asset_bytes,
        "events": events,
        "diff_ready_p50_ms": percentile(&mut diff, 0.5),
        "diff_ready_max_ms": percentile(&mut diff, 1.0),
        "diff_all_lines_ms": (scrolled * 10.0).round() / 10.0,
    });
    println!("{figures:#}");
    assert!(cold < READY_MS_MAX * slack, "the board takes long until it can be used: {figures}");
    assert!(event_p95 < EVENT_MS_MAX * slack, "an event takes long until it is seen: {figures}");
    assert!(percentile(&mut diff, 0.5) < READY_MS_MAX * slack, "a long diff takes long: {figures}");
    assert!(percentile(&mut log, 0.5) < READY_MS_MAX * slack, "a long log takes long: {figures}");
    assert!(card_bytes <= CARD_BYTES_MAX && (10_000.0..ASSET_BYTES_MAX).contains(&asset_bytes), "{figures}");
}
