//! Small workflows of any shape: each of their runs ends, completed or with a code, and no edge is taken too often.
//!
//! An edge that leads forward needs no cap; one that leads back has one, and its way out leads forward. So between two
//! edges back there are fewer steps than nodes, and a run has no more steps than that times its caps.

use super::outputs::{Dice, any_json};
use super::play::{Play, through_json};
use super::workflows::{Example, plain_state, small};
use crate::run::{Command, Phase, Situation};
use crate::{Code, replay_run};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// How many shapes are tried; loading a workflow takes longer than playing it.
const SHAPES: u32 = 200;
/// How many runs each shape plays: with 200 shapes, ten thousand in all.
const RUNS_PER_SHAPE: usize = 50;
/// So many of them are checked after every step; all are replayed when they are over.
const THOROUGH_PER_SHAPE: usize = 5;
/// What an agent returns is one of so many numbers that edges ask for, or any JSON.
const OUTPUTS: u64 = 3;

/// What is nested too deep is asked for again, twice.
const ASKS_PER_STEP: usize = 3;
/// How a run may fail that nobody stops: its state takes anything, and its expressions fail for nothing.
const KNOWN: [Code; 3] = [Code::RunStalled, Code::MaxIterationsExceeded, Code::AgentOutputInvalid];

/// An edge of a workflow whose nodes are numbers; the last is the end.
#[derive(Debug, Clone)]
struct Line {
    from: usize,
    to: usize,
    when: Option<u64>,
    cap: u32,
    way_out: bool,
}

#[derive(Debug, Clone)]
struct Shape {
    nodes: usize,
    lines: Vec<Line>,
    outputs: Vec<Vec<u64>>,
}

fn any_shape() -> impl Strategy<Value = Shape> {
    (2usize..=6).prop_flat_map(|nodes| {
        let line = (0..nodes - 1, 0..nodes, prop::option::of(0..OUTPUTS), 1u32..4, any::<bool>())
            .prop_map(|(from, to, when, cap, way_out)| Line { from, to, when, cap, way_out });
        let outputs = vec(vec(any::<u32>().prop_map(u64::from), 1..12), RUNS_PER_SHAPE);
        (vec(line, 1..10), outputs).prop_map(move |(lines, outputs)| Shape { nodes, lines, outputs })
    })
}

impl Line {
    fn is_forward(&self) -> bool {
        self.to > self.from
    }

    /// A forward edge may have a cap as well, and then also a way out.
    fn cap(&self) -> Option<u32> {
        (!self.is_forward() || self.cap % 2 == 1).then_some(self.cap)
    }
}

impl Shape {
    fn load(&self) -> Example {
        let mut toml = "name = \"wild\"\nstart = \"n0\"\n".to_owned();
        for node in 0..self.nodes - 1 {
            let _ = write!(
                toml,
                "[nodes.n{node}]\nkind = \"agent\"\nrole = \"worker\"\nset = {{ note = \"$string(output)\" }}\n"
            );
        }
        let _ = write!(toml, "[nodes.n{}]\nkind = \"end\"\n", self.nodes - 1);
        for (number, line) in self.lines.iter().enumerate() {
            let _ = write!(
                toml,
                "[[edges]]\nid = \"e{number}\"\nfrom = \"n{}\"\nto = \"n{}\"\n",
                line.from, line.to
            );
            if let Some(when) = line.when {
                let _ = writeln!(toml, "when = \"output = {when}\"");
            }
            if let Some(cap) = line.cap() {
                let _ = writeln!(toml, "maxIterations = {cap}");
                if line.way_out {
                    let _ = write!(toml, "[[edges.exhausted]]\nto = \"n{}\"\n", line.from + 1);
                }
            }
        }
        small(&toml, &plain_state(), &[])
    }

    fn steps_max(&self) -> usize {
        let caps: u32 = self.lines.iter().filter(|line| !line.is_forward()).filter_map(Line::cap).sum();
        (caps as usize + 1) * self.nodes
    }
}

fn output_of(number: u64) -> Value {
    match number % 3 {
        0 => any_json(&mut Dice::new(number)),
        _ => json!(number / 3 % OUTPUTS),
    }
}

fn play_to_the_end(
    shape: &Shape,
    example: &Example,
    outputs: &[u64],
    is_thorough: bool,
) -> Result<(), TestCaseError> {
    let (mut play, _) = Play::begin(example, |_| {}).unwrap();
    play.is_thorough = is_thorough;
    for output in outputs.iter().cycle().take(shape.steps_max() * ASKS_PER_STEP) {
        let Some(&Phase::Performing { asks, .. }) = play.run.phase() else { break };
        let step = play.run.step;
        play.tell(Command::Performed { step, asks, output: output_of(*output), head: None, edits: 0 })
            .unwrap();
    }
    match &play.run.situation {
        Situation::Completed { .. } => {
            prop_assert_eq!(play.run.node.as_str(), format!("n{}", shape.nodes - 1));
        }
        Situation::Failed { error } => {
            prop_assert!(KNOWN.contains(&error.code), "{error:?}");
        }
        other => prop_assert!(false, "it has not ended after {} steps: {other:?}", shape.steps_max()),
    }
    for (number, line) in shape.lines.iter().enumerate() {
        let taken = play.run.taken.get(&format!("e{number}")).into_iter().flatten().map(|(_, count)| *count);
        prop_assert!(line.cap().is_none_or(|cap| taken.sum::<u32>() <= cap), "{:?}", play.run.taken);
    }
    let read_back: Vec<_> = play.facts.iter().map(through_json).collect();
    prop_assert_eq!(replay_run(&read_back), Ok(Some(play.run.clone())));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: SHAPES, rng_seed: RngSeed::Fixed(82_381_288), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_run_of_any_workflow_ends(shape in any_shape()) {
        let example = shape.load();
        for (number, outputs) in shape.outputs.iter().enumerate() {
            play_to_the_end(&shape, &example, outputs, number < THOROUGH_PER_SHAPE)?;
        }
    }
}
