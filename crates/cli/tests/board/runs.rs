//! Runs that are steered from their pages: signals, a pause, and nodes that work at the same time.

use crate::axe::Axe;
use crate::support::{World, command};
use regatta_testkit::wait::until;
use serde_json::{Value, json};

/// Returns at once.
const QUICK: &str = r#"cat > /dev/null; echo '{"summary": "It works"}'"#;

/// Returns when the test lets it.
const SLOW: &str = r#"cat > /dev/null; while [ -d "$HOME" ] && [ ! -e "$HOME/go" ]; do sleep 0.1; done
echo '{"summary": "It was looked at"}'"#;

const ROLES: &str = "[roles]\nworker = \"quick\"\nlooker = \"slow\"\n";

const WORKFLOW: &str = r#"
name = "together"
start = "both"
nodes.both = { kind = "parallel", nodes = ["plan", "look"] }
nodes.plan = { kind = "agent", role = "worker", writes = false }
nodes.look = { kind = "agent", role = "looker", writes = false }
nodes.work = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }
edges = [
    { id = "joined", from = "both", to = "work" },
    { id = "worked", from = "work", to = "done" },
]

[signals.extend]
title = "Add work"
input = "extend.json"
to = "work"
set = { "pending[+]" = "$signal.text", often = "$signal.max_visits" }

[signals.note]
input = "note.json"
set = { notes = "$signal" }
"#;

const EXTEND: &str = r#"{
  "type": "object",
  "required": ["text"],
  "properties": {
    "text": { "type": "string", "minLength": 3, "description": "What to do" },
    "max_visits": { "type": "integer", "minimum": 1, "description": "How often" }
  }
}"#;

const NOTE: &str = r#"{
  "type": "object",
  "required": ["tone", "about"],
  "properties": {
    "tone": { "enum": ["plain", "urgent"] },
    "about": { "type": "array", "items": { "type": "string" } },
    "loud": { "type": "boolean" },
    "more": { "type": "object" }
  }
}"#;

const STATE: &str = r#"{ "type": "object", "properties": {
    "pending": { "type": "array", "default": [] }, "often": { "default": null }, "notes": { "default": null }
} }"#;

fn world() -> Option<World> {
    let config = command("quick", QUICK) + &command("slow", SLOW) + ROLES;
    World::of(&config, |project| {
        for (file, text) in [
            ("workflow.toml", WORKFLOW),
            ("state.schema.json", STATE),
            ("extend.json", EXTEND),
            ("note.json", NOTE),
            ("roles/worker.md", "Work.\n"),
            ("roles/worker.output.json", "{}"),
            ("roles/looker.md", "Look.\n"),
            ("roles/looker.output.json", "{}"),
        ] {
            project.repo.write(&format!(".regatta/workflows/together/{file}"), text);
        }
    })
}

fn run(world: &World) -> Value {
    world.project.json(&["run", "show", "1"])
}

#[test]
fn a_run_shows_what_works_at_the_same_time_and_pauses_after_it() {
    let Some(world) = world() else { return };
    world.project.run(&["run", "together", "--no-board", "--no-wait"]);
    let page = &world.browser;
    world.open("/runs/1");
    page.until_shown("[data-member=plan].ok");
    page.until_shown("[data-member=look]:not(.ok)");
    page.click("#run-head [data-request*=pause]");
    page.until_text("Pauses after this step of both");
    page.until_shown("#run-head [data-request*=resume]");
    world.go_on();
    until("it is paused", || run(&world)["status"] == "paused");
    page.until_gone("[data-member]");
    // What a member said is a session of its own.
    page.until_shown("#run-side a[href$='-look']");
    page.click("#run-side a[href$='-look']");
    page.until_text("It was looked at");
    page.back();
    // The palette has what the head of the page has.
    page.press(&["Control+k"]);
    page.fill("#palette input", "resume run");
    page.until_text("Run 1: Resume");
    page.press(&["Enter"]);
    until("it is over", || run(&world)["status"] == "completed");
    page.until_shown("#run-head [data-status=completed]");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn signals_are_sent_from_the_page_and_the_palette() {
    let Some(world) = world() else { return };
    world.project.run(&["run", "together", "--no-board", "--no-wait"]);
    let page = &world.browser;
    world.open("/runs/1");
    // While it works, a signal has a field for each kind of value.
    page.click("button[data-signal=note]");
    page.until_shown("#signal [name=tone]");
    assert_eq!(Axe::find().faults(page), Vec::<String>::new());
    page.choose("#signal [name=tone]", "urgent");
    page.fill("#signal [name=about]", "the till\n\nthe shelf\n");
    page.choose("#signal [name=loud]", "true");
    page.fill("#signal [name=more]", "{\"in\": ");
    page.click("#signal [type=submit]");
    page.until_text("More is not JSON");
    page.fill("#signal [name=more]", "{\"in\": 2}");
    page.click("#signal [type=submit]");
    page.until_gone("#signal");
    let sent =
        json!({ "tone": "urgent", "about": ["the till", "the shelf"], "loud": true, "more": { "in": 2 } });
    until("the signal is taken", || run(&world)["state"]["notes"] == sent);
    world.go_on();
    until("it is over", || run(&world)["status"] == "completed");
    // Only the one that continues it is left.
    page.until_gone("button[data-signal=note]");
    page.press(&["Control+k"]);
    page.fill("#palette input", "run 1 add work");
    page.until_text("Run 1: Add work");
    page.press(&["Enter"]);
    page.until_text("It continues at work");
    page.fill("#signal [name=text]", "A dark mode");
    page.fill("#signal [name=max_visits]", "0");
    page.press(&["Control+Enter"]);
    let is_valid = page.run("return document.querySelector('#signal form').checkValidity()");
    assert_eq!(is_valid, false, "the browser says what is out of bounds");
    page.fill("#signal [name=max_visits]", "3");
    page.fill("#signal [name=text]", "ab");
    page.press(&["Control+Enter"]);
    page.until(
        "the engine says what does not fit",
        "document.querySelector('#signal [data-problem]')?.textContent.length > 0",
    );
    page.fill("#signal [name=text]", "A dark mode");
    page.press(&["Control+Enter"]);
    page.until_text("Run 1 continues");
    until("it is over again", || run(&world)["status"] == "completed");
    assert_eq!(
        (&run(&world)["state"]["pending"], &run(&world)["state"]["often"]),
        (&json!(["A dark mode"]), &json!(3))
    );
    let complaints = page.complaints();
    assert!(complaints.iter().all(|complaint| complaint.contains("422")), "{complaints:?}");
}

const GROUPS: &str = r#"
name = "groups"
start = "each"
nodes.each = { kind = "map", workflow = "group", items = "input.groups", key = "id", depends = "after" }
nodes.done = { kind = "end" }
edges = [{ id = "all", from = "each", to = "done" }]
"#;

/// One group, which fails if its item says so.
const GROUP: &str = r#"
name = "group"
start = "look"
nodes.look = { kind = "agent", role = "looker", writes = false }
nodes.done = { kind = "end" }
nodes.failed = { kind = "end", status = "failed", reason = "'it is no good'" }
edges = [
    { id = "bad", from = "look", to = "failed", when = "input.bad" },
    { id = "good", from = "look", to = "done" },
]
"#;

#[test]
fn the_runs_below_a_run_are_listed_while_they_work_and_afterwards() {
    let config = command("quick", QUICK) + &command("slow", SLOW) + ROLES;
    let world = World::of(&config, |project| {
        for (file, text) in [
            ("workflow.toml", GROUPS),
            ("state.schema.json", "{\"type\": \"object\"}"),
            ("children/group/workflow.toml", GROUP),
            ("children/group/state.schema.json", "{\"type\": \"object\"}"),
            ("children/group/roles/looker.md", "Look.\n"),
            ("children/group/roles/looker.output.json", "{}"),
        ] {
            project.repo.write(&format!(".regatta/workflows/groups/{file}"), text);
        }
    });
    let Some(world) = world else { return };
    let input = json!({ "groups": [{ "id": "till" }, { "id": "shelf", "bad": true }, { "id": "shop", "after": ["till"] }] });
    world.project.run(&["run", "groups", "--no-board", "--input", &input.to_string(), "--no-wait"]);
    let page = &world.browser;
    world.open("/runs/1");
    page.until_shown("#children [data-run='2'] .ball.now");
    page.until_text("To come");
    page.until_text("0 of 3 runs ended");
    page.until(
        "the agent is at work",
        "/run [23] · at work/.test(document.getElementById('nav').textContent)",
    );
    assert!(page.text("#children").contains("shelf"), "{}", page.text("#children"));
    world.go_on();
    until("it is over", || run(&world)["status"] == "completed");
    page.until_shown("#children [data-run='4'][data-status=completed]");
    let failed = page.text("#children [data-status=failed]");
    assert!(failed.contains("shelf") && failed.contains("it is no good"), "{failed}");
    page.click("#children [data-run='4'] a");
    page.until("the run below is shown", "location.pathname === '/runs/4'");
    page.click("#run-side a[href='/runs/1']");
    page.until_shown("#children");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
