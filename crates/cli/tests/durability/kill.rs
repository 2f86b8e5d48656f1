//! The engine is killed from outside after each event of a task's life, wherever it is by then; its life then continues
//! with the same commands under the same ids, and must come to the same end.

use crate::checkout::{Checkout, Picture};
use crate::crash::Witness;
use crate::follower::Follower;
use crate::invariants;
use crate::world::{SIGKILL, World};
use regatta_testkit::binary::Running;

/// A task's whole life, and the id of each command.
const LIFE: [(&[&str], &str); 3] = [
    (&["task", "assign", "1", "--agent", "writer"], "0192f0c4-7a50-7c3e-8f10-000000000011"),
    (&["task", "reject", "1", "--reason", "once more"], "0192f0c4-7a50-7c3e-8f10-000000000012"),
    (&["task", "approve", "1"], "0192f0c4-7a50-7c3e-8f10-000000000013"),
];

/// What the log says of such a life.
const STORY: [&str; 17] = [
    "task:created",
    "task:assigned",
    "worktree:created",
    "agent:assigned",
    "task:completed",
    "approval:requested",
    "agent:paused",
    "approval:rejected",
    "task:rejected",
    "agent:resumed",
    "task:completed",
    "approval:requested",
    "agent:paused",
    "approval:approved",
    "worktree:merged",
    "task:approved",
    "worktree:removed",
];

fn give(world: &World, step: usize) -> Running {
    let (command, id) = LIFE[step];
    world.project.start(&[command, &["--command-id", id]].concat())
}

/// Lives until the event of this number is seen, and kills whatever process is at work then.
fn live_until(world: &World, seq: u64) {
    let mut follower = Follower::start(world);
    for step in 0..LIFE.len() {
        let running = give(world, step);
        let last_of_step = [7, 13, 17][step];
        if seq > last_of_step {
            assert_eq!(running.wait().code, Some(0));
            continue;
        }
        follower.until_seen(seq);
        let outcome = running.kill();
        // It may have ended by itself before the event was seen here.
        assert!(outcome.signal == Some(SIGKILL) || outcome.code == Some(0), "{outcome:?}");
        return;
    }
}

fn kill_after(seq: u64, checkout: Checkout) {
    let world = World::new("");
    world.add("medium");
    checkout.prepare(&world);
    let picture = Picture::take(&world);
    live_until(&world, seq);
    let witness = Witness::take(&world);
    for step in 0..LIFE.len() {
        let outcome = give(&world, step).wait();
        assert_eq!(outcome.code, Some(0), "killed after event {seq}: {outcome:?}");
        witness.check(&world);
    }
    assert_eq!(world.kinds(), STORY, "killed after event {seq}");
    checkout.check_at_rest(&world, &picture);
    invariants::check(&world);
}

#[test]
fn after_each_event_of_the_first_session() {
    (2..=7).for_each(|seq| kill_after(seq, Checkout::Clean));
}

#[test]
fn after_each_event_of_the_second_session() {
    (8..=13).for_each(|seq| kill_after(seq, Checkout::Edited));
}

#[test]
fn after_each_event_of_the_merge() {
    (14..=17).for_each(|seq| kill_after(seq, Checkout::Clean));
    (14..=17).for_each(|seq| kill_after(seq, Checkout::Elsewhere));
}
