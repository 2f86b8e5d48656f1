//! Whose turn a run is, wherever it stands.

use super::maps::five_parts;
use super::script::played;
use super::workflows::{Example, speckit};
use crate::run::Turn;
use crate::testing::id;

fn check(example: &Example, cases: &[(&str, Turn)]) {
    for (script, turn) in cases {
        assert_eq!(played(example, script).run.turn(), *turn, "after `{script}`");
    }
}

const LANDING: &str = "begin level=3 board; publish; coder pass";

#[test]
fn a_run_is_the_engines_while_something_is_under_way() {
    let cases = [
        ("begin", Turn::Engine),
        ("begin level=3 board", Turn::Engine),
        ("begin; spec T1", Turn::Engine),
        ("begin; pause", Turn::Engine),
        ("begin; stop", Turn::Engine),
    ];
    check(&speckit(), &cases);
}

#[test]
fn a_run_is_a_persons_when_it_is_held_or_asks() {
    let cases = [
        ("begin; pause; spec T1", Turn::Person),
        ("begin; fail IO_FAILED", Turn::Person),
        ("begin; spec T1; coder blocked", Turn::Person),
        ("begin; spec T1; coder blocked; pause", Turn::Person),
        ("begin; pause; spec T1; resume", Turn::Engine),
    ];
    check(&speckit(), &cases);
}

#[test]
fn a_run_that_waits_for_its_task_has_the_turn_of_the_task_even_if_it_is_paused() {
    let cases = [LANDING.to_owned(), format!("{LANDING}; pause")];
    for script in &cases {
        check(&speckit(), &[(script, Turn::Task(id(1)))]);
    }
    let sent_back = format!("{LANDING}; pause; back no");
    check(&speckit(), &[(&sent_back, Turn::Person), (&format!("{LANDING}; land"), Turn::Nobody)]);
}

#[test]
fn a_run_with_children_has_their_turn_once_they_are_started() {
    let cases = [
        ("begin", Turn::Engine),
        ("begin; pause", Turn::Engine),
        ("begin; start", Turn::Children),
        ("begin; start; pause", Turn::Children),
        ("begin; start; stop", Turn::Engine),
        ("begin child; start; above pause", Turn::Children),
        ("begin child held; above resume", Turn::Engine),
        ("begin child held", Turn::Parent),
        ("begin; start; child a ok 1", Turn::Engine),
    ];
    check(&five_parts(), &cases);
}
