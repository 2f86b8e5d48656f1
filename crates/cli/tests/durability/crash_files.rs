//! Verbs of task files, killed at every point that they pass; then nothing is lost, and nothing is there twice.

use crate::invariants;
use crate::task_file::{TaskFile, left_overs};
use crate::world::{SIGKILL, World};
use regatta_testkit::wait::until;

/// One verb, the points that it passes, and what must hold when it was given again.
pub(crate) struct FileScenario {
    prepare: fn(&World),
    command: &'static [&'static str],
    /// The crash points.
    pub(crate) points: &'static [&'static str],
    /// Given again after a crash at these: they come before the log has anything of it.
    before: &'static [&'static str],
    check: fn(&World),
}

const WRITE: [&str; 4] =
    ["write_file.before", "write_file.prepared", "write_file.exchanged", "write_file.after"];

pub(crate) const PROGRESS: FileScenario = FileScenario {
    prepare: |world| prepare_sessions(world, 2),
    command: &["task", "progress", "1", "--did", "did-3", "--next", "more"],
    points: &["append.before", "append.after", WRITE[0], WRITE[1], WRITE[2], WRITE[3]],
    before: &["append.before"],
    check: |world| {
        check_sessions(world, 3);
        assert_eq!(count(world, "progress:logged"), 3, "an entry is recorded once");
    },
};

pub(crate) const TICK: FileScenario = FileScenario {
    prepare: |world| prepare_sessions(world, 1),
    command: &["task", "criteria", "1", "--check", "1"],
    points: &["append.before", "append.after", WRITE[0], WRITE[1], WRITE[2], WRITE[3]],
    before: &["append.before"],
    check: |world| {
        check_sessions(world, 1);
        assert!(TaskFile::of(world).read().contains("- [x] it works"));
        assert_eq!(count(world, "criterion:checked"), 1, "a tick is recorded once");
    },
};

pub(crate) const ARCHIVE: FileScenario = FileScenario {
    prepare: |world| prepare_sessions(world, 8),
    command: &["task", "archive", "1"],
    points: &[
        "append.before",
        "append.after",
        WRITE[0],
        WRITE[1],
        WRITE[2],
        WRITE[3],
        "archive.before",
        "archive.appended",
        "archive.after",
    ],
    before: &["append.before", "archive.before", "archive.appended"],
    check: |world| {
        check_sessions(world, 8);
        let (file, archive) = (TaskFile::of(world).read(), TaskFile::of(world).read_archive());
        assert!(archive.contains("### Session 3 ") && file.contains("### Session 4 "), "{file}\n{archive}");
        assert_eq!(count(world, "file:archived"), 1, "an archiving is recorded once");
    },
};

/// A killed process left a version that nobody has read yet.
pub(crate) const LEFT_OVER: FileScenario = FileScenario {
    prepare: |world| {
        prepare_sessions(world, 2);
        let file = TaskFile::of(world);
        file.leave(&file.read().replace("(To be completed)", "nobody has read this"));
    },
    command: &["task", "criteria", "1"],
    points: &["append.before", "append.after", "take_left_over.after", WRITE[2]],
    before: &["append.before"],
    check: |world| {
        check_sessions(world, 2);
        assert_eq!(TaskFile::of(world).read().matches("nobody has read this").count(), 1);
        assert_eq!(count(world, "output:written"), 1, "an output is recorded once");
    },
};

/// All of them, to show that together they pass every point.
pub(crate) const ALL: [&FileScenario; 4] = [&PROGRESS, &TICK, &ARCHIVE, &LEFT_OVER];

fn prepare_sessions(world: &World, count: usize) {
    world.done(&["task", "add", "a task", "--criterion", "it works"]);
    for number in 1..=count {
        log_session(world, number);
    }
}

fn log_session(world: &World, number: usize) {
    world.done(&["task", "progress", "1", "--did", &format!("did-{number}"), "--next", "more"]);
}

/// Fails unless every session is in the file or in the archive, and only once in both together.
fn check_sessions(world: &World, count: usize) {
    let file = TaskFile::of(world);
    let all = file.read() + &file.read_archive();
    for number in 1..=count {
        let heading = format!("### Session {number} - ");
        let entry = format!("**Did:** did-{number}\n");
        let found = (all.matches(&heading).count(), all.matches(&entry).count());
        assert_eq!(found, (1, 1), "session {number} in:\n{all}");
    }
}

fn count(world: &World, kind: &str) -> usize {
    world.events().iter().filter(|event| event.kind() == kind).count()
}

/// Runs an engine until it has brought the file in line.
fn up_until_in_line(world: &World) {
    let up = world.up();
    until("file and log agree", || left_overs(world).is_empty() && invariants::is_in_line(world, 1));
    up.stop();
}

fn crash_everywhere(scenario: &FileScenario) {
    for (index, point) in scenario.points.iter().enumerate() {
        let world = World::new("");
        (scenario.prepare)(&world);
        let crashed = world.crash_at(point, scenario.command);
        assert_eq!(crashed.signal, Some(SIGKILL), "{point} was not reached: {crashed:?}");
        if index % 2 == 1 {
            up_until_in_line(&world);
        }
        if scenario.before.contains(point) {
            world.done(scenario.command);
        } else {
            world.done(&["task", "criteria", "1"]);
        }
        (scenario.check)(&world);
        invariants::check(&world);
    }
}

/// The points of a deletion that come after the log has it.
pub(crate) const DELETE_POINTS: [&str; 2] = ["delete.before_file", "delete.after_file"];

/// The task is gone once the log says so; its file goes with the next engine.
#[test]
fn delete() {
    for point in ["append.before", "append.after", DELETE_POINTS[0], DELETE_POINTS[1]] {
        let world = World::new("");
        world.add("medium");
        world.add("medium");
        let path = TaskFile::of(&world).path().to_owned();
        let crashed = world.crash_at(point, &["task", "delete", "1"]);
        assert_eq!(crashed.signal, Some(SIGKILL), "{point} was not reached: {crashed:?}");
        if point == "append.before" {
            world.done(&["task", "delete", "1"]);
        }
        let up = world.up();
        until("the file is gone", || !path.exists());
        up.stop();
        assert_eq!(world.project.refusal(&["task", "show", "1"])["code"], "TASK_NOT_FOUND");
        assert_eq!(count(&world, "task:deleted"), 1, "{point}");
        world.done(&["task", "show", "2"]);
    }
}

#[test]
fn progress() {
    crash_everywhere(&PROGRESS);
}

#[test]
fn tick() {
    crash_everywhere(&TICK);
}

#[test]
fn archive() {
    crash_everywhere(&ARCHIVE);
}

#[test]
fn a_left_over() {
    crash_everywhere(&LEFT_OVER);
}

/// The write happened, and somebody went on from there before anybody said so.
#[test]
fn an_edit_after_a_write_that_was_not_confirmed() {
    let world = World::new("");
    prepare_sessions(&world, 1);
    world.crash_at("write_file.exchanged", &["task", "progress", "1", "--did", "did-2", "--next", "more"]);
    let file = TaskFile::of(&world);
    std::fs::write(file.path(), file.read() + "\n## Notes\nmine\n").expect("the file can be written");
    world.done(&["task", "criteria", "1"]);
    check_sessions(&world, 2);
    assert_eq!(count(&world, "progress:logged"), 2, "an entry is recorded once");
    assert!(file.read().ends_with("\n## Notes\nmine\n"), "{}", file.read());
    invariants::check(&world);
}

/// The archive has what the crashed process put there; the next one has more to move, and adds only that.
#[test]
fn an_archiving_that_was_cut_off_and_has_more_to_move_by_now() {
    let world = World::new("");
    prepare_sessions(&world, 8);
    world.crash_at("archive.appended", ARCHIVE.command);
    log_session(&world, 9);
    world.done(ARCHIVE.command);
    check_sessions(&world, 9);
    assert!(TaskFile::of(&world).read_archive().contains("### Session 4 "));
    invariants::check(&world);
}
