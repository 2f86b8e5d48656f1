//! A cycle that is made again from its files.

use super::{analyse, begin, begun, document, exploration, iterate, plan, requirements, workflow};
use crate::run::tests::stage::{RUN, Stage, order};
use crate::run::{Command, Event, ImportNote, ImportedFile, Inputs, import};
use crate::{Fact, run::Run};
use expect_test::expect;
use proptest::prelude::*;
use regatta_flow::Imported;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The names of the files, in the order of the workflow, without those that are not read back.
const FILES: [&str; 8] = [
    "requirement_changes",
    "cycle",
    "requirements",
    "decisions",
    "exploration",
    "plan",
    "changes",
    "test_results",
];

/// Reads the files of a run back, as far as there are any.
fn read_back(stage: &mut Stage, names: &[&str]) -> Imported {
    let place = |name: &&str| workflow().files.iter().position(|file| file.name == **name).unwrap();
    let files =
        names.iter().map(|name| (place(name), stage.file(name))).filter(|(_, value)| !value.is_null());
    let views = BTreeMap::from([("cycle_id".to_owned(), "cycle-v1-20260122T100000-abc123".to_owned())]);
    let files = files.collect();
    workflow().import(&views, files, Map::new())
}

fn make(found: Imported) -> Result<Stage, crate::Refusal> {
    let at = "2026-02-01T00:00:00Z".parse().unwrap();
    let variables = crate::run::first_facts(workflow(), Some(RUN), at);
    let inputs =
        Inputs { workflow: workflow(), variables: &variables, seen: 0, now_millis: at.as_millisecond() };
    let file = ImportedFile { path: "c.json".to_owned(), digest: "00".to_owned() };
    let note = ImportNote { folder: "/cycles".to_owned(), files: vec![file], left_out: Vec::new() };
    let events = import(inputs, RUN, order(workflow(), Value::Null), (found, note))?;
    let read_back: Vec<Event> = events
        .iter()
        .map(|event| serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap())
        .collect();
    assert_eq!(read_back, events);
    Ok(Stage::of(workflow(), events, at))
}

/// What differs because it is another run: who is at work, and when something last happened.
fn comparable(mut document: Value) -> Value {
    let fields = document.as_object_mut().unwrap();
    for name in ["agents", "updated_at", "current_phase", "completed_phases"] {
        fields.remove(name);
    }
    document
}

#[test]
fn one_that_had_ended_is_the_same_again_and_can_be_extended() {
    let mut stage = begun();
    iterate(&mut stage, &["a.ts"], &["retry"]);
    stage.at("2026-01-22T11:00:00+08:00");
    iterate(&mut stage, &["b.ts"], &[]);
    stage.land();
    let before = document(&mut stage);
    let found = read_back(&mut stage, &FILES);
    assert_eq!(found.faults, []);
    let mut again = make(found).unwrap();
    let after = document(&mut again);
    assert_eq!(again.place(), "completed at done");
    assert_eq!(comparable(after.clone()), comparable(before));
    assert_eq!(after["current_phase"], "complete");
    assert_eq!(after["agents"]["cd"]["iterations_completed"], 2, "it is counted from the iterations");
    for name in FILES.into_iter().filter(|name| *name != "cycle") {
        assert_eq!(again.file(name), stage.file(name), "{name}");
    }
    again.signal("extend", json!({ "text": "More" })).unwrap();
    assert_eq!(document(&mut again)["current_iteration"], 3);
    iterate(&mut again, &["c.ts"], &[]);
    again.land();
    assert_eq!(again.place(), "completed at done");
}

#[test]
fn one_that_failed_keeps_why() {
    let mut stage = begin(json!({ "max_iterations": 1 }));
    stage.give(Value::Null);
    iterate(&mut stage, &["a.ts"], &["retry"]);
    let before = document(&mut stage);
    let mut again = make(read_back(&mut stage, &FILES)).unwrap();
    let after = document(&mut again);
    assert_eq!(again.place(), "failed at limit");
    assert_eq!(
        (&after["failure_reason"], &after["created_at"]),
        (&before["failure_reason"], &before["created_at"])
    );
    again.signal("raise", json!({ "max_iterations": 2 })).unwrap();
    assert_eq!(again.place(), "running at analyse");
}

/// It starts paused, and the iteration that was under way begins again under its number, with its extension.
#[test]
fn one_that_was_under_way_starts_paused() {
    let mut stage = begun();
    iterate(&mut stage, &["a.ts"], &[]);
    stage.land();
    stage.signal("extend", json!({ "text": "Also log out" })).unwrap();
    stage.member("ra", requirements());
    stage.member("explore", exploration());
    stage.give(plan(&["TASK-002"]));
    let mut again = make(read_back(&mut stage, &FILES)).unwrap();
    let waiting = document(&mut again);
    assert_eq!((&waiting["status"], &waiting["current_iteration"]), (&json!("paused"), &json!(1)));
    assert_eq!(waiting["plan"]["version"], "1.1.0");
    again.tell(&Command::Resume).unwrap();
    again.give(Value::Null);
    let document = document(&mut again);
    assert_eq!((again.place().as_str(), &document["current_iteration"]), ("running at analyse", &json!(2)));
    assert_eq!(document["iterations"][1]["extension"], "Also log out");
    assert_eq!(document["task_history"], json!([super::TITLE, "Also log out"]));
}

/// Without the master document, the title has to be given, and what only it had is gone.
#[test]
fn the_parts_are_enough_for_what_they_hold() {
    let mut stage = begun();
    iterate(&mut stage, &["a.ts"], &["retry"]);
    let parts: Vec<&str> = FILES.into_iter().filter(|name| *name != "cycle").collect();
    let found = read_back(&mut stage, &parts);
    let refused = make(found.clone()).err().expect("it has no title").explain();
    assert_eq!(refused.why, [r#"`input` "title" is a required property"#]);
    let mut found = found;
    found.input.insert("title".to_owned(), "OAuth".into());
    let mut again = make(found).unwrap();
    let document = document(&mut again);
    assert_eq!(
        (&document["cycle_id"], &document["current_iteration"]),
        (&json!("cycle-v1-20260122T100000-abc123"), &json!(1))
    );
    assert_eq!(document["changes"]["total_files"], 1);
    assert_eq!(document["test_results"]["pass_rate"], 85);
    assert_eq!(document["iterations"], json!([]));
}

#[test]
fn what_cannot_be_taken_over_is_in_the_event() {
    let place = |name: &str| workflow().files.iter().position(|file| file.name == name).unwrap();
    let broken = json!({
        "title": "T", "description": "D", "task_history": ["T"], "status": "resting", "created_at": "yesterday",
        "max_iterations": 3, "iterations": [{ "number": "one", "completed_at": "2026-01-22T10:00:00Z" }],
        "phase_errors": [], "plan": { "version": "1.0.0", "tasks": [{ "id": "A" }] },
        "coordination": { "feedback_log": ["hello", { "content": "Hi", "timestamp": "late", "source": "user" }] },
    });
    let found = workflow().import(&BTreeMap::new(), vec![(place("cycle"), broken)], Map::new());
    let stage = make(found).unwrap();
    assert_eq!(stage.place(), "paused at begin");
    let note = stage.run.imported.clone().unwrap();
    expect![[r#"
        cycle: iterations: iterations[0].number: "one" is not of type "integer"
        cycle: plan: plan.tasks[0]: "description" is a required property; plan.tasks[0]: "effort" is a required property; plan.tasks[0]: "status" is a required property
        `yesterday` is no time
        `resting` is no status of a run: it starts paused
        message 1: it has no from
        message 2: it has no to"#]].assert_eq(&note.left_out.join("\n"));
    let fact = Fact { at: stage.at, actor: crate::testing::user(), event: Event::RunResumed { run_id: RUN } };
    assert!(Run::try_evolve(Some(stage.run), &fact).is_some());
}

/// One iteration of a random play: how many files, whether a test fails, and what is asked for after the end.
type Turn = (usize, bool, Option<String>);

/// Plays iterations until one ends the cycle for good; what is under way then is played as far as `depth` says.
fn play(turns: &[Turn], depth: usize) -> Stage {
    const NAMES: [&str; 3] = ["a.ts", "b.ts", "c.ts"];
    let mut stage = begun();
    for (number, (files, is_failing, extension)) in turns.iter().enumerate() {
        stage.at(&format!("2026-01-22T{:02}:00:00+08:00", 11 + number));
        iterate(&mut stage, &NAMES[..*files], if *is_failing { &["retry"] } else { &[] });
        if !is_failing {
            stage.land();
        }
        match extension {
            Some(text) if !stage.place().starts_with("running") => {
                let more = json!({ "text": text, "max_iterations": 5 + number });
                stage.signal("extend", more).unwrap();
            }
            _ if stage.place().starts_with("running") => {}
            _ => return stage,
        }
    }
    match depth {
        0 => {}
        1 => stage.member("ra", requirements()),
        _ => analyse(&mut stage),
    }
    stage
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever was played: what the files show is shown again by the run that is made of them.
    #[test]
    fn any_play_shows_the_same_again(
        turns in prop::collection::vec((1_usize..4, any::<bool>(), prop::option::of("[a-z]{1,8}")), 1..4),
        depth in 0_usize..3,
    ) {
        let mut stage = play(&turns, depth);
        let before = document(&mut stage);
        let found = read_back(&mut stage, &FILES);
        prop_assert_eq!(&found.faults, &[]);
        let mut again = make(found).unwrap();
        let is_over = !stage.place().starts_with("running");
        if is_over {
            prop_assert_eq!(again.place(), stage.place());
            prop_assert_eq!(comparable(document(&mut again)), comparable(before.clone()));
        } else {
            prop_assert_eq!(&document(&mut again)["status"], "paused");
            again.tell(&Command::Resume).unwrap();
            again.give(Value::Null);
            let after = document(&mut again);
            for name in [
                "cycle_id", "title", "description", "task_history", "status", "created_at", "max_iterations",
                "current_iteration", "requirements", "exploration", "plan", "changes", "test_results", "phase_errors",
            ] {
                prop_assert_eq!(&after[name], &before[name], "{}", name);
            }
            let closed = |document: &Value| {
                let mut iterations = document["iterations"].as_array().unwrap().clone();
                iterations.pop();
                iterations
            };
            prop_assert_eq!(closed(&after), closed(&before));
        }
        for name in FILES.into_iter().filter(|name| *name != "cycle") {
            prop_assert_eq!(again.file(name), stage.file(name), "{}", name);
        }
    }
}
