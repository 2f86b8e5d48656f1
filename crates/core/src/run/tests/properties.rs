//! Any agents, any people: a run of `speckit` ends within its caps, and what was recorded replays to what it became.
//!
//! Each move is taken from a list of numbers, so that a failing case is small and can be played again. Half of what the
//! roles return has a shape that they know, the rest is any JSON or fits its schema with any content. The checks of every
//! step are those of [`Play`].

use super::outputs::{Dice, TASKS_MAX, any_code, any_json, any_review, any_spec};
use super::play::{Play, is_of_phase, through_json};
use super::script::{coder_output, review_output, spec_output};
use super::workflows::{Example, speckit};
use crate::run::{Command, Hold, Inputs, Phase, Situation, explain_node, find_board_items};
use crate::testing::{failure, id};
use crate::{Code, replay_run};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Each is a whole run; that is what some ten seconds of testing can afford.
const CASES: u32 = 10_000;
/// So many of them are checked after every step; all are replayed when they are over.
const THOROUGH_EVERY: u16 = 20;
/// What people and broken agents add to a run before they have had enough.
const MOVES_MAX: usize = 60;
/// Per task: one attempt, three retries and two rejections of the coder, and three reviews.
const SESSIONS_PER_TASK: usize = 6 + 3;
/// Each session may be asked for again twice.
const ASKS_PER_SESSION: usize = 3;
const KEYS: [&str; 3] = ["T001", "T002", "T003"];

fn config(cases: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(20_260_108);
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

/// What the moves of a case are about.
#[derive(Debug, Clone)]
struct Terms {
    level: u32,
    tasks: usize,
    goes_on: bool,
    board: bool,
    /// What the roles do once the moves are used up.
    last: &'static str,
}

fn any_terms() -> impl Strategy<Value = Terms> {
    let last = prop::sample::select(vec!["content", "discontent", "broken", "unruly", "senseless"]);
    (1u32..=7, 1..=KEYS.len(), any::<bool>(), any::<bool>(), last)
        .prop_map(|(level, tasks, goes_on, board, last)| Terms { level, tasks, goes_on, board, last })
}

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn a_run_ends_within_its_caps(terms in any_terms(), moves in vec(any::<u32>(), 0..MOVES_MAX), number: u16) {
        let mut play = begin(&speckit(), &terms);
        play.is_thorough = number % THOROUGH_EVERY == 0;
        let sessions_max = ASKS_PER_SESSION * (1 + TASKS_MAX * SESSIONS_PER_TASK);
        // Who pauses resumes, and a task is published and landed.
        let commands_max = 4 * (moves.len() + sessions_max);
        let mut moves = moves.into_iter();
        for _ in 0..commands_max {
            if play.run.is_over() {
                break;
            }
            let command = choose(&play, &terms, moves.next());
            let _ = play.tell(command);
        }
        prop_assert!(play.run.is_over(), "{:?}", play.run);
        check_end(&play)?;
        let read_back: Vec<_> = play.facts.iter().map(through_json).collect();
        prop_assert_eq!(replay_run(&read_back), Ok(Some(play.run.clone())));
    }
}

fn begin(example: &Example, terms: &Terms) -> Play {
    let begun = Play::begin(example, |order| {
        order.level = Some(terms.level);
        order.board = terms.board;
        order.input["onTaskFailed"] = if terms.goes_on { "continue".into() } else { "end".into() };
    });
    begun.unwrap().0
}

fn check_end(play: &Play) -> Result<(), TestCaseError> {
    let run = &play.run;
    if let Situation::Failed { error } = &run.situation {
        let known =
            [Code::MaxIterationsExceeded, Code::RunFailed, Code::RunStopped, Code::AgentOutputInvalid];
        prop_assert!(known.contains(&error.code), "{error:?}");
    }
    prop_assert!(!play.open.iter().any(is_of_phase), "nothing is under way for a run that is over");
    for (edge, cap) in [("coder-retry", 3), ("reviewer-reject", 2)] {
        let counts = run.taken.get(edge).into_iter().flatten();
        prop_assert!(counts.into_iter().all(|(_, count)| *count <= cap), "{:?}", run.taken);
    }
    let metrics = &run.sheet.state()["metrics"];
    prop_assert!(metrics["tasksCompleted"].as_u64() <= Some(TASKS_MAX as u64));
    Ok(())
}

/// Chooses the next command. Without a number everybody does what is needed to come to an end.
fn choose(play: &Play, terms: &Terms, number: Option<u32>) -> Command {
    let run = &play.run;
    match number.map(|number| number % 256) {
        Some(0..=15) => return Command::Pause,
        Some(16..=31) => return Command::Resume,
        Some(32) => return Command::Stop { reason: None },
        Some(33..=48) => return Command::NotPerformed { step: run.step, failure: failure(Code::IoFailed) },
        Some(49..=56) => {
            return Command::Performed { step: run.step, asks: 7, output: true.into(), head: None, edits: 0 };
        }
        Some(57..=64) => return Command::Landed { step: run.step.saturating_sub(1) },
        Some(65..=72) => return Command::Answer { step: run.step, approved: false, text: String::new() },
        _ => {}
    }
    if let Some(Hold::Stopping { .. }) = run.hold() {
        return Command::Stopped;
    }
    let step = run.step;
    match run.phase() {
        Some(Phase::Asking { .. }) => Command::Answer { step, approved: true, text: "continue".to_owned() },
        Some(Phase::Landing { .. }) if number.is_some_and(|number| number % 4 == 0) => {
            Command::SentBack { step, feedback: "no".to_owned() }
        }
        Some(Phase::Landing { .. }) => Command::Landed { step },
        _ if !run.is_asked() => Command::Resume,
        Some(Phase::Publishing { .. }) => publish(play),
        Some(Phase::Performing { asks, .. }) => Command::Performed {
            step,
            asks: *asks,
            output: output(play, terms, number),
            head: None,
            edits: 0,
        },
        other => panic!("nothing can be told to {other:?}"),
    }
}

/// Puts on the board what the run has for it, as the engine does.
fn publish(play: &Play) -> Command {
    let (run, step) = (&play.run, play.run.step);
    match find_board_items(Inputs::new(&play.example.workflow, 0), run) {
        Ok(items) => {
            let keys = items.into_iter().map(|item| item.key).filter(|key| !run.tasks.contains_key(key));
            Command::Published { step, tasks: keys.zip((1..).map(id)).collect() }
        }
        Err(fault) => Command::Unperformable { step, failure: explain_node(run, &fault) },
    }
}

fn output(play: &Play, terms: &Terms, number: Option<u32>) -> serde_json::Value {
    let how = match number {
        None => terms.last,
        Some(number) if number >> 8 & 3 == 0 => "unruly",
        Some(number) if number >> 8 & 3 == 1 => "senseless",
        Some(number) if number % 16 == 0 => "broken",
        Some(number) if number % 16 == 1 => "blocked",
        Some(number) if number % 2 == 0 => "content",
        Some(_) => "discontent",
    };
    let key = play.run.item.as_deref().unwrap_or("PRD");
    let dice = &mut Dice::new(number.map_or(play.facts.len() as u64, u64::from));
    match (play.run.node.as_str(), how) {
        (_, "senseless") => any_json(dice),
        ("spec", "unruly") => any_spec(dice),
        // A coder that is blocked forever waits for a person forever.
        ("coder", "unruly") => any_code(dice, number.is_none()),
        (_, "unruly") => any_review(dice),
        ("spec", "broken") | ("coder", "broken") => coder_output(key, "broken"),
        ("spec", _) => spec_output(&KEYS[..terms.tasks].join(",")),
        ("coder", "content") => coder_output(key, "pass"),
        ("coder", "blocked") => coder_output(key, "blocked"),
        ("coder", _) => coder_output(key, "fail"),
        (_, "broken") => review_output(key, "broken"),
        (_, "content" | "blocked") => review_output(key, "yes"),
        _ => review_output(key, "no"),
    }
}
