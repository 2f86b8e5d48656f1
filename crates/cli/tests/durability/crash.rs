//! Every command, killed at every point that its chain passes, once and twice; then everything must add up.

use crate::checkout::{Checkout, Picture};
use crate::crash_files;
use crate::invariants;
use crate::scenario::{
    ALL, APPROVE, ASSIGN, ASSIGN_PROGRAM, CANCEL, CANCEL_BROKEN, CANCEL_HANGING, CHECK, COMPLETE,
    COMPLETE_HANGING, REASSIGN, REJECT, SUBMIT, Scenario, until_hanging,
};
use crate::world::{Event, SIGKILL, World};
use regatta_engine::CRASH_POINTS;
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;

/// Given to every command that is crashed, so that it can be given again.
const COMMAND_ID: &str = "0192f0c4-7a50-7c3e-8f10-000000000001";

/// Points that are behind a repeated chain: the merge has landed, or the folder is gone, and the repetition finds that.
const PASSED_ONCE: &[&str] = &["merge_branch.ref_committed", "remove_worktree.moved_aside"];

/// Points that only runs of workflows pass; the tests of the binary crash those.
const OF_RUNS: &[&str] =
    &["charge.waiting", "perform_node.played", "release_task.before", "release_task.after"];

/// Points of the files of runs, which `run_files` crashes.
const OF_RUN_FILES: &[&str] = crate::run_files::POINTS;

/// Points of edits of the files of runs, which only happen when somebody edits one.
const OF_RUN_EDITS: &[&str] = &["run_edit.before", "run_edit.recorded", "run_edit.kept", "run_edit.after"];

/// Points of verbs that take no task further; the tests of the binary crash those.
const OF_PLACES: &[&str] = &[
    "move_log.taken",
    "move_log.transcripts_moved",
    "move_log.moved",
    "import.objects",
    "import.refs",
    "import.files",
    "import.log",
];

/// What had been acknowledged when a process was killed.
pub(crate) struct Witness {
    events: Vec<Event>,
    starts: Vec<(u64, usize)>,
}

impl Witness {
    pub(crate) fn take(world: &World) -> Self {
        let events = world.events();
        let is_start = |event: &&Event| matches!(event.kind(), "agent:assigned" | "agent:resumed");
        let is_result = |event: &Event| {
            matches!(event.kind(), "task:completed" | "agent:session:failed" | "agent:stopping")
        };
        let session = |event: &Event| event.0["session"].as_u64().unwrap_or_default();
        let has_result =
            |start: &Event| events.iter().any(|event| event.seq() > start.seq() && is_result(event));
        let stored = events.iter().filter(is_start).filter(|start| has_result(start)).map(session);
        let starts = stored.map(|session| (session, world.count_starts(1, session))).collect();
        Witness { events, starts }
    }

    /// Fails unless all that was acknowledged then is still so, and no session ran again after its result was kept.
    pub(crate) fn check(&self, world: &World) {
        assert_eq!(&world.events()[..self.events.len()], &self.events[..], "the log was changed");
        for (session, count) in &self.starts {
            assert_eq!(world.count_starts(1, *session), *count, "session {session} ran again after its end");
        }
    }
}

/// How the engine that cleans up is started.
#[derive(Clone, Copy)]
enum Recovery {
    /// The command is given again, with the same id.
    Repeat,
    /// `regatta up` runs first.
    Up,
}

fn run(scenario: &Scenario, point: &str, checkout: Checkout, crashes: usize, recovery: Recovery) {
    let world = World::furnished("", scenario.tables);
    (scenario.prepare)(&world);
    checkout.prepare(&world);
    let picture = Picture::take(&world);
    let before = Witness::take(&world);
    let command = [scenario.command, &["--command-id", COMMAND_ID]].concat();
    let mut witnesses = Vec::new();
    for crash in 0..crashes {
        let outcome = world.crash_at(point, &command);
        let is_passed = crash > 0 && PASSED_ONCE.contains(&point);
        assert!(outcome.signal == Some(SIGKILL) || is_passed, "{point} was not reached: {outcome:?}");
        checkout.check_not_mixed(&world, &picture);
        witnesses.push(Witness::take(&world));
    }
    if let Recovery::Up = recovery {
        world.up_until_rest(1);
    }
    let first = world.done(&command);
    let last = world.events().len();
    let second = world.done(&command);
    assert_eq!(first.stdout, second.stdout, "a command given twice is answered the same");
    assert_eq!(world.events().len(), last, "a command given twice has one effect");
    before.check(&world);
    witnesses.iter().for_each(|witness| witness.check(&world));
    scenario.check_story(&world);
    checkout.check_at_rest(&world, &picture);
    invariants::check(&world);
}

fn crash_everywhere(scenario: &Scenario, checkout: Checkout) {
    for (index, point) in scenario.points.iter().filter(|point| checkout.passes(point)).enumerate() {
        // A point of an append may be one of an effect before the command, which `up` alone does not give.
        let is_by_up = index % 2 == 1 && !point.starts_with("append.");
        let recovery = if is_by_up { Recovery::Up } else { Recovery::Repeat };
        run(scenario, point, checkout, 1, recovery);
    }
}

fn crash_twice_everywhere(scenario: &Scenario, checkout: Checkout) {
    for point in scenario.points {
        run(scenario, point, checkout, 2, Recovery::Repeat);
    }
}

#[test]
fn assign() {
    crash_everywhere(&ASSIGN, Checkout::Edited);
}

#[test]
fn assign_to_a_program() {
    crash_everywhere(&ASSIGN_PROGRAM, Checkout::Clean);
}

#[test]
fn check() {
    crash_everywhere(&CHECK, Checkout::Edited);
    crash_twice_everywhere(&CHECK, Checkout::Clean);
}

#[test]
fn submit() {
    crash_everywhere(&SUBMIT, Checkout::Edited);
}

#[test]
fn reassign() {
    crash_everywhere(&REASSIGN, Checkout::Clean);
}

#[test]
fn complete() {
    crash_everywhere(&COMPLETE, Checkout::Edited);
}

#[test]
fn complete_what_a_killed_engine_left_running() {
    crash_everywhere(&COMPLETE_HANGING, Checkout::Edited);
}

#[test]
fn reject() {
    crash_everywhere(&REJECT, Checkout::Edited);
}

#[test]
fn approve_beside_a_clean_checkout() {
    crash_everywhere(&APPROVE, Checkout::Clean);
}

#[test]
fn approve_beside_an_edited_checkout() {
    crash_everywhere(&APPROVE, Checkout::Edited);
}

#[test]
fn approve_beside_a_checkout_of_another_branch() {
    crash_everywhere(&APPROVE, Checkout::Elsewhere);
}

#[test]
fn approve_beside_several_checkouts() {
    crash_everywhere(&APPROVE, Checkout::Several);
}

#[test]
fn approve_twice_beside_several_checkouts() {
    crash_twice_everywhere(&APPROVE, Checkout::Several);
}

#[test]
fn cancel() {
    crash_everywhere(&CANCEL, Checkout::Edited);
}

#[test]
fn cancel_with_uncommitted_work() {
    crash_everywhere(&CANCEL_BROKEN, Checkout::Edited);
}

#[test]
fn cancel_what_a_killed_engine_left_running() {
    crash_everywhere(&CANCEL_HANGING, Checkout::Edited);
}

#[test]
fn assign_twice() {
    crash_twice_everywhere(&ASSIGN, Checkout::Clean);
}

#[test]
fn approve_twice() {
    crash_twice_everywhere(&APPROVE, Checkout::Clean);
}

#[test]
fn cancel_twice() {
    crash_twice_everywhere(&CANCEL_BROKEN, Checkout::Clean);
}

#[test]
fn reject_twice() {
    crash_twice_everywhere(&REJECT, Checkout::Clean);
}

/// The process that cancels follows an engine, which is killed; it takes over and finishes by itself.
#[test]
fn cancel_a_session_while_its_engine_dies() {
    let points = ["run_session.ended", "stop_agent.before", "stop_agent.after", "remove_worktree.salvaged"];
    for point in points {
        let world = World::new("");
        world.add("medium");
        let up = world.up_until_crash(point);
        world.done(&["task", "assign", "1", "--agent", "hanging", "--no-wait"]);
        until_hanging(&world);
        world.done(&["task", "cancel", "1"]);
        assert_eq!(up.wait().signal(), Some(SIGKILL), "{point}");
        CANCEL_HANGING.check_story(&world);
        invariants::check(&world);
    }
}

#[test]
fn every_point_is_passed_by_a_case() {
    let of_tasks = ALL.iter().flat_map(|scenario| scenario.points);
    let of_files = crash_files::ALL.iter().flat_map(|scenario| scenario.points);
    let of_deletion = crash_files::DELETE_POINTS.iter();
    let passed: BTreeSet<&str> = of_tasks.chain(of_files).chain(of_deletion).copied().collect();
    let known: BTreeSet<&str> = CRASH_POINTS
        .iter()
        .copied()
        .filter(|point| {
            ![OF_RUNS, OF_RUN_FILES, OF_RUN_EDITS, OF_PLACES].iter().any(|others| others.contains(point))
        })
        .collect();
    assert_eq!(passed, known);
}
