//! Verbs that write to one task file, killed at any moment, beside an engine that is killed and started again.
//!
//! What a verb said is done is in the file once; what it did not say is there once or not at all. A program that
//! knows nothing of this writes to the file in between.

use crate::invariants;
use crate::task_file::{TaskFile, left_overs};
use crate::world::World;
use regatta_testkit::binary::Running;
use std::io::Write;
use std::time::Instant;

/// Two verbs at a time.
const ROUNDS: u64 = 30;
/// The engine dies with every so many of them.
const ENGINE_EVERY: u64 = 3;
/// The points in time are derived from this, so that a failure can be repeated.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns numbers that look random, the same ones in each run.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn edit(world: &World, token: &str) {
    let mut options = std::fs::File::options();
    let mut file = options.append(true).open(TaskFile::of(world).path()).expect("the file can be opened");
    writeln!(file, "\n{token}").expect("it can be written");
}

fn log_progress(world: &World, token: &str) -> Running {
    world.project.start(&["task", "progress", "1", "--did", token, "--next", "more"])
}

#[test]
fn what_was_acknowledged_is_there_once() {
    let world = World::new("");
    world.done(&["task", "add", "a task", "--criterion", "it works"]);
    let begin = Instant::now();
    assert_eq!(log_progress(&world, "@the-first@").wait().code, Some(0));
    // Some come to their end, and most do not.
    let life_max = begin.elapsed().mul_f32(2.5);
    let mut acknowledged = vec!["@the-first@".to_owned(), "@the-last@".to_owned()];
    let mut state = SEED;
    let mut up = world.up();
    for round in 1..=ROUNDS {
        let tokens = [format!("@killed-{round}@"), format!("@other-{round}@")];
        let running = tokens.map(|token| (log_progress(&world, &token), token));
        if round % 3 == 0 {
            edit(&world, &format!("@edit-{round}@"));
        }
        for (running, token) in running {
            std::thread::park_timeout(life_max.mul_f32((draw(&mut state) % 1_000) as f32 / 2_000.0));
            if running.kill().code == Some(0) {
                acknowledged.push(token);
            }
        }
        if round % ENGINE_EVERY == 0 {
            up.kill();
            up = world.up();
        }
    }
    up.kill();
    assert_eq!(log_progress(&world, "@the-last@").wait().code, Some(0));
    println!("{} of {} were acknowledged", acknowledged.len() - 2, 2 * ROUNDS);
    check(&world, &acknowledged);
}

fn check(world: &World, acknowledged: &[String]) {
    assert_eq!(left_overs(world), Vec::<String>::new());
    invariants::check(world);
    let (text, events) = (TaskFile::of(world).read(), world.events());
    let told = |token: &str| {
        let entries = events.iter().filter(|event| event.kind() == "progress:logged");
        entries.filter(|event| event.0["entry"]["did"] == token).count()
    };
    for token in acknowledged {
        assert_eq!((text.matches(token.as_str()).count(), told(token)), (1, 1), "{token} in:\n{text}");
    }
    for round in 1..=ROUNDS {
        for token in [format!("@killed-{round}@"), format!("@other-{round}@")] {
            let counts = (text.matches(&token).count(), told(&token));
            assert!(counts == (0, 0) || counts == (1, 1), "{token}: in the file and told {counts:?} times");
        }
        // More than once where two edits of the same part met, and one of them stands under the conflicts.
        let edit = format!("@edit-{round}@");
        assert_eq!(text.contains(&edit), round % 3 == 0, "{edit} in:\n{text}");
    }
}
