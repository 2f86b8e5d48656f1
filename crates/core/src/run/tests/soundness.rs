//! A log from which an event is missing, or in which two have changed places, is named by `replay`.
//!
//! What is listed below is not, because what is left is a log as it could have been: a pause and the step that was
//! under way may stand in either order, and so may the ends of two children; a pause that nobody needed leaves no trace;
//! how often a role was asked is not in its step. The store numbers events without a gap, and would notice there.

use super::maps;
use super::play::Play;
use super::script::played;
use super::workflows::speckit;
use crate::run::Event;
use crate::{Fact, replay_run};
use expect_test::{Expect, expect};

fn check_changes(play: &Play, expected: Expect) {
    let facts = &play.facts;
    assert_eq!(replay_run(facts), Ok(Some(play.run.clone())));
    let mut text = String::new();
    for index in 0..facts.len() - 1 {
        let mut without = facts.clone();
        let lost = without.remove(index);
        tell_unnamed(&mut text, "without", index, &lost.event, &without);
        let mut swapped = facts.clone();
        swapped.swap(index, index + 1);
        tell_unnamed(&mut text, "swapped", index, &lost.event, &swapped);
        let mut doubled = facts.clone();
        doubled.insert(index, lost.clone());
        tell_unnamed(&mut text, "doubled", index, &lost.event, &doubled);
    }
    expected.assert_eq(&text);
}

/// Notes a change of the log that nobody would notice.
fn tell_unnamed(text: &mut String, how: &str, index: usize, event: &Event, facts: &[Fact<Event>]) {
    match replay_run(facts) {
        Err(unsound) => assert!(unsound.index >= index, "what stands before it is sound"),
        Ok(_) => text.push_str(&format!("{how} {index} {}\n", event.kind())),
    }
}

#[test]
fn steps() {
    let script =
        "begin; spec T001,T002; coder fail; coder pass; review no; coder pass; review yes; coder blocked
                  answer yes so; coder fail; coder fail; coder fail";
    check_changes(&played(&speckit(), &format!("{script}; coder fail")), expect![""]);
}

#[test]
fn outputs_that_were_refused() {
    check_changes(
        &played(&speckit(), "begin; coder broken; coder broken; coder broken"),
        expect![[r#"
        without 2 run:output_refused
    "#]],
    );
    check_changes(
        &played(&speckit(), "begin; coder broken; coder broken; spec T001; coder pass"),
        expect![[r#"
        without 2 run:output_refused
    "#]],
    );
}

#[test]
fn tasks_on_the_board() {
    let script =
        "begin board; spec T001,T002; publish; coder pass; review yes; back no; coder pass; review yes; land
                  coder pass; review yes; land";
    check_changes(&played(&speckit(), script), expect![[""]]);
}

#[test]
fn holds() {
    let paused = "begin; spec T001; pause; coder fail; resume; coder pass; pause; resume; review yes";
    check_changes(
        &played(&speckit(), paused),
        expect![[r#"
        swapped 2 run:paused
        swapped 3 run:stepped
        swapped 5 run:stepped
        without 7 run:resumed
        swapped 7 run:resumed
    "#]],
    );
    let held = "begin; fail IO_FAILED; resume; spec T001; pause; fail IO_FAILED; resume; coder pass";
    check_changes(
        &played(&speckit(), held),
        expect![[r#"
        without 4 run:paused
        without 5 run:held
    "#]],
    );
    check_changes(
        &played(&speckit(), "begin; spec T001; stop; stopped"),
        expect![[r#"
        without 1 run:stepped
    "#]],
    );
    check_changes(&played(&speckit(), "begin; spec T001; pause; coder pass; stop"), expect![[""]]);
}

#[test]
fn children() {
    let script = "begin; start; child a ok 1; start; child b ok 2; child c ok 3; start; child d fail";
    check_changes(
        &played(&maps::five_parts(), script),
        expect![[r#"
        swapped 3 run:children_started
        swapped 4 run:child_ended
        swapped 5 run:child_ended
        swapped 7 run:child_ended
    "#]],
    );
}

#[test]
fn a_log_begins_with_its_creation_and_is_about_one_run() {
    let play = played(&speckit(), "begin; spec T001");
    assert_eq!(replay_run([]), Ok(None));
    assert_eq!(replay_run(&play.facts[1..]).unwrap_err().index, 0);
    let mut facts = play.facts.clone();
    let Event::RunStepped { run_id, .. } = &mut facts[1].event else { panic!("it is a step") };
    *run_id = run_id.next();
    let unsound = replay_run(&facts).unwrap_err();
    expect!["event 1 of its stream, `run:stepped`, does not follow from the events before it"]
        .assert_eq(&unsound.to_string());
}

#[test]
fn a_value_without_a_place_is_named() {
    let play = played(&speckit(), "begin; spec T001; coder pass");
    let mut facts = play.facts.clone();
    let Event::RunStepped { set, .. } = &mut facts[2].event else { panic!("it is a step") };
    set[0].place = serde_json::from_value(serde_json::json!(["tasks", 7, "status"])).unwrap();
    assert_eq!(replay_run(&facts).unwrap_err().index, 2);
}
