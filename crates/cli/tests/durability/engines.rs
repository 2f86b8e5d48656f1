//! Engines that meet, follow one another, are stopped, or lose their lease; and commands that meet.

use crate::follower::Follower;
use crate::invariants;
use crate::world::{SIGKILL, Up, World};
use regatta_testkit::binary::{Outcome, Running};
use regatta_testkit::wait::until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::Child;

const COMMAND_ID: &str = "0192f0c4-7a50-7c3e-8f10-000000000021";
/// Enough for either of two commands to be first now and then.
const ROUNDS: u64 = 10;
const CALLERS: usize = 8;

/// Starts `up`, and returns when it serves the project: it has done the task of the given number.
fn start_up(world: &World, task: u64) -> Up {
    let up = world.up();
    world.add("medium");
    world.done(&["task", "assign", &task.to_string(), "--agent", "writer", "--no-wait"]);
    world.until_phase(task, "ready");
    up
}

fn start_gated(world: &World) {
    world.add("medium");
    world.done(&["task", "assign", "1", "--agent", "gated", "--no-wait"]);
}

fn code_of(outcome: &Outcome) -> String {
    let error: Value = serde_json::from_str(&outcome.stderr).unwrap_or_default();
    error["error"]["code"].as_str().unwrap_or(&outcome.stderr).to_owned()
}

#[test]
fn a_second_engine_is_refused_and_told_of_the_first() {
    let world = World::new("");
    let up = start_up(&world, 1);
    let refused = world.project.refusal(&["up"]);
    assert_eq!(refused["code"], "ENGINE_ALREADY_RUNNING");
    assert_eq!(refused["details"]["pid"], up.pid());
    up.stop();
    invariants::check(&world);
}

#[test]
fn the_lease_of_a_killed_engine_is_free_at_once() {
    let world = World::new("");
    // Were it not free, the next `up` would be refused.
    for task in 1..=3 {
        start_up(&world, task).kill();
    }
    start_up(&world, 4).stop();
    invariants::check(&world);
}

#[test]
fn who_follows_a_killed_engine_takes_over_and_finishes() {
    let world = World::new("");
    world.add("medium");
    let up = world.up();
    world.done(&["task", "assign", "1", "--agent", "gated", "--no-wait", "--command-id", COMMAND_ID]);
    world.until_phase(1, "running");
    let follower =
        world.project.start(&["task", "assign", "1", "--agent", "gated", "--command-id", COMMAND_ID]);
    up.kill();
    world.until_started(1, 1, 2);
    world.let_go();
    let outcome = follower.wait();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(world.task(1)["phase"], "ready");
    invariants::check(&world);
}

#[test]
fn an_engine_that_is_stopped_ends_its_session_and_leaves_it_to_the_next() {
    let world = World::new("");
    let up = world.up();
    start_gated(&world);
    world.until_phase(1, "running");
    up.stop();
    assert!(world.agent_processes().is_empty());
    assert_eq!((&world.task(1)["phase"], world.count_starts(1, 1)), (&"unattended".into(), 1));
    world.let_go();
    world.up_until_rest(1);
    assert_eq!((&world.task(1)["phase"], world.count_starts(1, 1)), (&"ready".into(), 2));
    invariants::check(&world);
}

/// An engine that sleeps past its lease, as on a laptop whose lid was closed, must not write once it wakes.
#[test]
fn an_engine_that_slept_past_its_lease_does_no_harm() {
    let world = World::new("");
    let up = world.up();
    start_gated(&world);
    world.until_phase(1, "running");
    up.send(Signal::STOP);
    world.until_phase(1, "unattended");
    let successor = world.up();
    world.until_started(1, 1, 2);
    up.send(Signal::CONT);
    assert_eq!(up.wait().code(), Some(1), "it ends by itself");
    world.let_go();
    world.until_phase(1, "ready");
    successor.stop();
    invariants::check(&world);
}

/// The engine sleeps after it kept a salvage and before it removes the worktree. Its successor removes it, and the task is
/// assigned again: the same folder and the same branch, with other work in it.
#[test]
fn an_engine_that_slept_over_a_removal_does_not_remove_its_successors_worktree() {
    let world = World::new("");
    world.add("medium");
    world.done(&["task", "assign", "1", "--agent", "writer"]);
    let mut sleeper = Sleeper::start(&world, "remove_worktree.salvaged", &["task", "cancel", "1"]);
    let worktree = world.project.path().join(".regatta/worktrees/task-1");
    assert!(worktree.is_dir(), "it sleeps before the removal");
    // It takes over when the lease has run out.
    world.add("medium");
    world.done(&["task", "assign", "2", "--agent", "writer"]);
    assert_eq!(world.task(1)["column"], "backlog");
    assert!(sleeper.is_asleep(), "nobody woke it: it holds no lock");
    let up = world.up();
    world.done(&["task", "assign", "1", "--agent", "gated", "--no-wait"]);
    world.until_phase(1, "running");
    std::fs::write(worktree.join("of-the-successor.txt"), "work\n").expect("it can be written");
    let head = world.project.repo.git(&["rev-parse", "task/1"]);
    sleeper.wake_until_over();
    assert_eq!(sleeper.wait(), Some(1), "it has lost its lease");
    let text = std::fs::read_to_string(worktree.join("of-the-successor.txt"));
    assert_eq!(text.expect("the work is there"), "work\n");
    assert_eq!(world.project.repo.git(&["rev-parse", "task/1"]), head);
    world.let_go();
    world.until_rest(1);
    up.stop();
    assert_eq!(world.task(1)["phase"], "ready");
    invariants::check(&world);
}

/// The engine is stopped in the middle of a change to the repository, as by Ctrl-Z, and keeps the lock. Its successor wakes
/// it and does not take the lock from it: the change is finished, and the engine that made it can write nothing more.
#[test]
fn an_engine_that_sleeps_in_the_middle_of_a_removal_is_woken_by_who_waits_for_it() {
    let world = World::new("");
    world.add("medium");
    world.done(&["task", "assign", "1", "--agent", "writer"]);
    let sleeper = Sleeper::start(&world, "remove_worktree.moved_aside", &["task", "cancel", "1"]);
    world.add("medium");
    world.done(&["task", "assign", "2", "--agent", "writer"]);
    assert_eq!(sleeper.wait(), Some(1), "it has lost its lease");
    assert_eq!((&world.task(1)["phase"], &world.task(2)["phase"]), (&"waiting".into(), &"ready".into()));
    assert_eq!(world.task(1)["salvages"].as_array().map(Vec::len), Some(1));
    invariants::check(&world);
}

/// What is written into a worktree between its salvage and its removal is salvaged too.
#[test]
fn what_was_written_after_the_salvage_is_salvaged_as_well() {
    let world = World::new("");
    world.add("medium");
    world.done(&["task", "assign", "1", "--agent", "writer"]);
    let mut sleeper = Sleeper::start(&world, "remove_worktree.salvaged", &["task", "cancel", "1"]);
    let worktree = world.project.path().join(".regatta/worktrees/task-1");
    std::fs::write(worktree.join("late.txt"), "late\n").expect("it can be written");
    sleeper.wake_until_over();
    assert!(!worktree.exists());
    let refs = world.project.repo.git(&["for-each-ref", "--format=%(refname)", "refs/regatta/salvage/1"]);
    let has_late = |name: &str| {
        let files = world.project.repo.git(&["ls-tree", "-r", "--name-only", name]);
        files.lines().any(|file| file == "late.txt")
    };
    assert!(refs.lines().any(has_late), "{refs}");
    // The first salvage stays too, though the log names only the one that has everything.
    assert_eq!(world.project.run(&["doctor"]).code, Some(0));
}

/// A verb that stops itself at a point, as a closed lid would; a test that fails does not leave it behind.
struct Sleeper {
    child: Child,
}

impl Sleeper {
    /// Starts it, and returns when it sleeps.
    fn start(world: &World, point: &str, arguments: &[&str]) -> Self {
        let mut command = world.project.command(arguments);
        command.env("REGATTA_STOP_AT", point);
        let sleeper = Sleeper { child: command.spawn().expect("it can be started") };
        until("the engine sleeps", || sleeper.is_asleep());
        sleeper
    }

    fn is_asleep(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    }

    fn wake(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process has an id");
        kill_process(pid, Signal::CONT).expect("it can be continued");
    }

    /// Wakes it whenever it sleeps: it stops at its place again if it salvages again.
    fn wake_until_over(&mut self) {
        until("the sleeper has ended", || {
            if self.is_asleep() {
                self.wake();
            }
            self.is_over()
        });
    }

    fn is_over(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked").is_some()
    }

    /// Waits for its end, and returns its exit code.
    fn wait(mut self) -> Option<i32> {
        until("the sleeper has ended", || self.is_over());
        self.child.wait().expect("it has ended").code()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_set_up_that_outlived_its_engine_is_ended_before_the_next() {
    let world = World::furnished("", "[worktree]\nsetup = 'sh ../../scripts/setup.sh'\n");
    let setups = || std::fs::read_to_string(world.project.path().join(".regatta/setups")).unwrap_or_default();
    world.add("medium");
    let command = ["task", "assign", "1", "--agent", "writer", "--command-id", COMMAND_ID];
    let engine = world.project.start(&command);
    until("the set-up has begun", || setups().lines().count() == 1);
    let first = world.agent_processes();
    assert_eq!(engine.kill().signal, Some(SIGKILL));
    let next = world.project.start(&command);
    until("the set-up has begun again", || setups().lines().count() == 2);
    assert!(world.agent_processes().is_disjoint(&first), "two set-ups run in one worktree");
    world.let_go();
    assert_eq!(next.wait().code, Some(0));
    invariants::check(&world);
}

#[test]
fn of_approve_and_cancel_at_once_one_wins() {
    let world = World::new("");
    let up = world.up();
    for task in 1..=ROUNDS {
        world.add("medium");
        let id = task.to_string();
        world.done(&["task", "assign", &id, "--agent", "writer"]);
        let options: &[&str] = if task % 2 == 0 { &["--no-wait"] } else { &[] };
        let start = |verb| world.project.start(&[&["--json", "task", verb, &id], options].concat());
        // Each starts first now and then.
        let (approve, cancel) = if task % 4 < 2 {
            let approve = start("approve");
            (approve, start("cancel"))
        } else {
            let cancel = start("cancel");
            (start("approve"), cancel)
        };
        let (approve, cancel) = (approve.wait(), cancel.wait());
        world.until_rest(task);
        let column = if approve.code == Some(0) { "verified" } else { "backlog" };
        assert_eq!(world.task(task)["column"], column);
        let (won, lost) = if approve.code == Some(0) { (&approve, &cancel) } else { (&cancel, &approve) };
        assert_eq!((won.code, lost.code), (Some(0), Some(1)), "{approve:?} {cancel:?}");
        let code = code_of(lost);
        assert!(["TASK_BUSY", "TASK_INVALID_TRANSITION"].contains(&code.as_str()), "{code}");
    }
    up.stop();
    invariants::check(&world);
}

#[test]
fn complete_and_cancel_at_once_end_in_the_backlog() {
    let world = World::new("");
    let up = world.up();
    for task in 1..=ROUNDS {
        world.add("medium");
        let id = task.to_string();
        world.project.refusal(&["task", "assign", &id, "--agent", "breaker"]);
        let complete = world.project.start(&["--json", "task", "complete", &id, "--no-wait"]);
        let cancel = world.project.start(&["--json", "task", "cancel", &id, "--no-wait"]);
        let (complete, cancel) = (complete.wait(), cancel.wait());
        assert_eq!(cancel.code, Some(0), "{cancel:?}");
        let code = if complete.code == Some(0) { String::new() } else { code_of(&complete) };
        assert!(["", "TASK_BUSY", "TASK_INVALID_TRANSITION"].contains(&code.as_str()), "{code}");
        world.until_phase(task, "waiting");
        assert_eq!(world.task(task)["salvages"].as_array().map(Vec::len), Some(1));
    }
    up.stop();
    invariants::check(&world);
}

#[test]
fn one_command_from_many_processes_has_one_effect() {
    let world = World::new("");
    world.add("medium");
    let mut followers: Vec<Follower> = (0..3).map(|_| Follower::start(&world)).collect();
    let commands: [&[&str]; 3] = [
        &["task", "assign", "1", "--agent", "writer"],
        &["task", "reject", "1", "--reason", "once more"],
        &["task", "approve", "1"],
    ];
    for (index, command) in commands.iter().enumerate() {
        let id = format!("0192f0c4-7a50-7c3e-8f10-00000000003{index}");
        let arguments = [&["--json"], *command, &["--command-id", &id]].concat();
        let callers: Vec<Running> = (0..CALLERS).map(|_| world.project.start(&arguments)).collect();
        let outcomes: Vec<Outcome> = callers.into_iter().map(Running::wait).collect();
        for outcome in &outcomes {
            assert_eq!((outcome.code, &outcome.stdout), (Some(0), &outcomes[0].stdout), "{outcome:?}");
        }
    }
    let kinds = world.kinds();
    for kind in ["task:assigned", "task:rejected", "task:approved"] {
        assert_eq!(kinds.iter().filter(|found| *found == kind).count(), 1, "{kinds:?}");
    }
    followers.iter_mut().for_each(|follower| follower.until_seen(kinds.len() as u64));
    invariants::check(&world);
}
