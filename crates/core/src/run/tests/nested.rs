//! Values that are nested so deep that they could be written into the log but not be read again.

use super::any_items::parts;
use super::play::{Play, through_json};
use super::workflows::{Example, plain_state, small};
use crate::run::{ChildEnd, Command, Event, Phase, Situation};
use crate::{Code, Refusal, RunId, replay_run};
use serde_json::{Value, json};

const ROUND: &str = r#"name = "round"
start = "work"

[nodes.work]
kind = "agent"
role = "worker"

[nodes.done]
kind = "end"

[[edges]]
id = "again"
from = "work"
to = "work"
maxIterations = 50
[[edges.exhausted]]
to = "done"
"#;

fn round() -> Example {
    small(ROUND, &plain_state(), &[])
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inside, _| json!([inside]))
}

fn perform(play: &mut Play, output: Value) {
    let Some(&Phase::Performing { asks, .. }) = play.run.phase() else { panic!("{:?}", play.run) };
    play.tell(Command::Performed { step: play.run.step, asks, output, head: None, edits: 0 }).unwrap();
}

fn check_failed(play: &Play, code: Code) {
    let situation = &play.run.situation;
    assert!(matches!(situation, Situation::Failed { error } if error.code == code), "{situation:?}");
    let read_back: Vec<_> = play.facts.iter().map(through_json).collect();
    assert_eq!(replay_run(&read_back), Ok(Some(play.run.clone())));
}

#[test]
fn an_output_that_is_nested_too_deep_is_asked_for_again_and_not_kept() {
    let (mut play, _) = Play::begin(&round(), |_| {}).unwrap();
    perform(&mut play, nested(64));
    assert_eq!(play.run.step, 2, "64 levels are taken");
    for _ in 0..3 {
        perform(&mut play, nested(65));
    }
    check_failed(&play, Code::AgentOutputInvalid);
    let last = &play.facts.last().unwrap().event;
    assert!(matches!(last, Event::RunFailed { output: None, .. }), "{last:?}");
}

#[test]
fn a_state_that_becomes_too_deep_ends_the_run() {
    // The place, the list and its entry are three levels around what a child leaves.
    let play_with = |levels| {
        let (mut play, _) = Play::begin(&parts(), |_| {}).unwrap();
        perform(&mut play, json!([{ "key": "a" }]));
        let (step, child) = (play.run.step, RunId::new(2).unwrap());
        play.tell(Command::ChildrenStarted { step, children: [("a".to_owned(), child)].into() }).unwrap();
        let end = ChildEnd::Completed { result: nested(levels) };
        play.tell(Command::ChildEnded { child, end }).unwrap();
        play
    };
    assert!(matches!(play_with(97).run.situation, Situation::Completed { .. }));
    check_failed(&play_with(98), Code::StateInvalid);
}

#[test]
fn an_input_that_is_nested_too_deep_is_refused() {
    let begin = |levels| Play::begin(&round(), |order| order.input["deep"] = nested(levels)).map(drop);
    assert_eq!(begin(99), Ok(()));
    assert!(matches!(begin(100), Err(Refusal::Invalid { faults }) if faults[0].field == "input"));
}
