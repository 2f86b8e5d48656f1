//! A `map` over whatever a role returns: every run ends, however its items are keyed and whatever they depend on.
//!
//! Some items are equal, some depend on each other in a circle or on missing items, and some are not items at
//! all. The children end in any order, with any result.

use super::outputs::{Dice, any_json};
use super::play::{Play, through_json};
use super::workflows::{Example, plain_state, small};
use crate::run::nesting::LEVELS_MAX;
use crate::run::{ChildEnd, Command, Phase, Situation};
use crate::testing::failure;
use crate::{Code, RunId, replay_run};
use regatta_flow::is_nested_deeper;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const RUNS: u64 = 1_000;
/// So many of them are checked after every step; all are replayed when they are over.
const THOROUGH_EVERY: u64 = 10;
const ITEMS_MAX: u64 = 8;
/// A list is asked for at most three times; then each item is started and ends.
const COMMANDS_MAX: u64 = 3 + 2 * ITEMS_MAX;

const KEYS: [&str; 6] = ["a", "b", "c", "d", "", "\u{1f469}\u{200d}\u{1f4bb}"];

const WORKFLOW: &str = r#"name = "parts"
start = "plan"

[nodes.plan]
kind = "agent"
role = "worker"

[nodes.all]
kind = "map"
workflow = "part"
items = "output"
key = "key"
depends = "after"
max_parallel = 2
set = { list = "output" }

[nodes.done]
kind = "end"
result = "list"

[[edges]]
id = "planned"
from = "plan"
to = "all"

[[edges]]
id = "finish"
from = "all"
to = "done"
"#;

const CHILD: &str = "name = \"part\"\nstart = \"done\"\n[nodes.done]\nkind = \"end\"\n";

/// Returns a workflow that maps over what its role returns.
pub(super) fn parts() -> Example {
    let state = plain_state().to_string();
    let child = [("children/part/workflow.toml", CHILD), ("children/part/state.schema.json", state.as_str())];
    small(WORKFLOW, &plain_state(), &child)
}

fn any_items(dice: &mut Dice) -> Value {
    if dice.roll(4) == 0 {
        return any_json(dice);
    }
    let key = |dice: &mut Dice| KEYS[dice.roll(KEYS.len() as u64) as usize];
    let item = |dice: &mut Dice| {
        let after = match dice.roll(6) {
            0 => any_json(dice),
            1 => json!([key(dice)]),
            2 => json!([key(dice), key(dice)]),
            _ => json!([]),
        };
        match dice.roll(20) {
            0 => any_json(dice),
            1 => json!({ "key": any_json(dice), "after": after }),
            _ => json!({ "key": key(dice), "after": after, "more": any_json(dice) }),
        }
    };
    (0..dice.roll(ITEMS_MAX)).map(|_| item(dice)).collect()
}

/// Returns what a child may leave: its own run has seen to it that this is not nested too deep.
fn any_result(dice: &mut Dice) -> Value {
    std::iter::repeat_with(|| any_json(dice)).find(|result| !is_nested_deeper(result, LEVELS_MAX)).unwrap()
}

/// Chooses the next command: what the run waits for.
fn choose(play: &Play, dice: &mut Dice) -> Command {
    let step = play.run.step;
    match play.run.phase() {
        Some(Phase::Performing { asks, .. }) => {
            Command::Performed { step, asks: *asks, output: any_items(dice), head: None, edits: 0 }
        }
        Some(Phase::Mapping(mapping)) if play.run.is_asked() => {
            let number =
                |key: &str| mapping.children().iter().position(|child| child.item.key == key).unwrap();
            let start = |key: &String| (key.clone(), RunId::new(number(key) as u32 + 2).unwrap());
            let keys: Vec<String> = mapping.startable().iter().map(|item| item.key.clone()).collect();
            let children: BTreeMap<String, RunId> = keys.iter().map(start).collect();
            Command::ChildrenStarted { step, children }
        }
        Some(Phase::Mapping(mapping)) => {
            let mut open = mapping.children().iter().filter(|child| child.end.is_none());
            let child = open.find_map(|child| child.run).expect("a child is under way");
            let end = match dice.roll(3) {
                0 => ChildEnd::Failed { error: failure(Code::RunFailed) },
                _ => ChildEnd::Completed { result: any_result(dice) },
            };
            Command::ChildEnded { child, end }
        }
        other => panic!("nothing can be told to {other:?}"),
    }
}

#[test]
fn a_map_over_anything_ends() {
    let example = parts();
    let (mut completed, mut failed) = (0, 0);
    for seed in 0..RUNS {
        let dice = &mut Dice::new(seed);
        let (mut play, _) = Play::begin(&example, |_| {}).unwrap();
        play.is_thorough = seed % THOROUGH_EVERY == 0;
        for _ in 0..COMMANDS_MAX {
            if play.run.is_over() {
                break;
            }
            let command = choose(&play, dice);
            play.tell(command).unwrap();
        }
        match &play.run.situation {
            Situation::Completed { .. } => completed += 1,
            Situation::Failed { error } => {
                let known = [Code::EdgeEvaluationFailed, Code::AgentOutputInvalid, Code::StateInvalid];
                assert!(known.contains(&error.code), "run {seed}: {error:?}");
                failed += 1;
            }
            other => panic!("run {seed} has not ended: {other:?}"),
        }
        let read_back: Vec<_> = play.facts.iter().map(through_json).collect();
        assert_eq!(replay_run(&read_back), Ok(Some(play.run.clone())), "run {seed}");
    }
    assert!(
        completed > 100 && failed > 100,
        "{completed} completed, {failed} failed: one kind is hardly tried"
    );
}
