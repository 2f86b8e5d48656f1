//! The commands that are crashed: how to come to the state before each, the points that its chain passes, and what
//! the log says when it is done, however often it was interrupted.

use crate::world::{SIGKILL, World};
use regatta_testkit::wait::until;

/// One command and its whole story.
pub(crate) struct Scenario {
    /// Further tables of the config.
    pub(crate) tables: &'static str,
    /// Brings a new project to the state before the command.
    pub(crate) prepare: fn(&World),
    /// The command.
    pub(crate) command: &'static [&'static str],
    /// The crash points that its chain passes.
    pub(crate) points: &'static [&'static str],
    /// The kinds of all events in the end, in parts.
    pub(crate) story: &'static [&'static [&'static str]],
    /// Where the task is in the end.
    pub(crate) column: &'static str,
    /// A file of the work and the revision that must hold it in the end.
    pub(crate) kept: (&'static str, &'static str),
}

const APPEND: [&str; 2] = ["append.before", "append.after"];

const STARTED: &[&str] = &["task:created", "task:assigned", "worktree:created", "agent:assigned"];
const FAILED: &[&str] = &["agent:session:failed"];
const COMPLETED: &[&str] = &["task:completed", "approval:requested", "agent:paused"];
const REJECTED: &[&str] = &["approval:rejected", "task:rejected", "agent:resumed"];
const APPROVED: &[&str] = &["approval:approved", "worktree:merged", "task:approved", "worktree:removed"];
const CANCELLED: &[&str] =
    &["agent:stopping", "agent:stopped", "worktree:salvaged", "worktree:removed", "task:cancelled"];

pub(crate) const ASSIGN: Scenario = Scenario {
    tables: "",
    prepare: |world| world.add("medium"),
    command: &["task", "assign", "1", "--agent", "writer"],
    points: &[
        APPEND[0],
        APPEND[1],
        "create_worktree.before",
        "create_worktree.made",
        "create_worktree.after",
        "run_session.before",
        "run_session.started",
        "run_session.ended",
        "run_session.after",
        "record_diff.before",
        "record_diff.after",
        "pause_agent.before",
        "pause_agent.after",
    ],
    story: &[STARTED, COMPLETED],
    column: "waiting_approval",
    kept: ("task/1", "more-1.txt"),
};

pub(crate) const ASSIGN_PROGRAM: Scenario = Scenario {
    command: &["task", "assign", "1", "--agent", "program"],
    kept: ("task/1", "work-1.txt"),
    ..ASSIGN
};

/// The engine checks the work before anybody decides on it.
pub(crate) const CHECK: Scenario = Scenario {
    tables: "[checks]\nthere = \"test -f more-1.txt\"\nworks = [\"true\"]\n",
    points: &["pause_agent.after", "run_checks.before", "run_checks.after"],
    story: &[STARTED, COMPLETED, &["checks:ran"]],
    ..ASSIGN
};

pub(crate) const COMPLETE: Scenario = Scenario {
    tables: "",
    prepare: prepare_broken,
    command: &["task", "complete", "1"],
    points: &[
        APPEND[0],
        APPEND[1],
        "record_diff.before",
        "record_diff.after",
        "pause_agent.before",
        "pause_agent.after",
    ],
    story: &[STARTED, FAILED, COMPLETED],
    column: "waiting_approval",
    kept: ("task/1", "work-1.txt"),
};

/// The session was left behind by an engine that was killed, and its processes run on.
pub(crate) const COMPLETE_HANGING: Scenario =
    Scenario { prepare: prepare_hanging, story: &[STARTED, COMPLETED], ..COMPLETE };

/// A person changed something after the completion.
pub(crate) const SUBMIT: Scenario = Scenario {
    tables: "",
    prepare: |world| {
        prepare_review(world);
        let late = world.project.path().join(".regatta/worktrees/task-1/late.txt");
        std::fs::write(late, "late\n").expect("the worktree is there");
    },
    command: &["task", "submit", "1"],
    points: &[APPEND[0], APPEND[1], "record_diff.before", "record_diff.after"],
    story: &[STARTED, COMPLETED, &["task:submitted", "approval:requested"]],
    column: "waiting_approval",
    kept: ("task/1", "late.txt"),
};

pub(crate) const REASSIGN: Scenario = Scenario {
    tables: "",
    prepare: prepare_broken,
    command: &["task", "reassign", "1", "--agent", "writer"],
    points: &[APPEND[0], APPEND[1], "run_session.before", "run_session.started", "run_session.after"],
    story: &[STARTED, FAILED, &["task:reassigned", "agent:resumed"], COMPLETED],
    column: "waiting_approval",
    kept: ("task/1", "work-1.txt"),
};

pub(crate) const REJECT: Scenario = Scenario {
    tables: "",
    prepare: prepare_review,
    command: &["task", "reject", "1", "--reason", "once more"],
    points: &[
        APPEND[0],
        APPEND[1],
        "run_session.before",
        "run_session.started",
        "run_session.ended",
        "run_session.after",
        "record_diff.before",
        "record_diff.after",
        "pause_agent.before",
        "pause_agent.after",
    ],
    story: &[STARTED, COMPLETED, REJECTED, COMPLETED],
    column: "waiting_approval",
    kept: ("task/1", "again-1.txt"),
};

pub(crate) const APPROVE: Scenario = Scenario {
    tables: "",
    prepare: prepare_review,
    command: &["task", "approve", "1"],
    points: &[
        APPEND[0],
        APPEND[1],
        "merge_branch.before",
        "merge_branch.tree_written",
        "merge_branch.commit_made",
        "merge_branch.ref_locked",
        "merge_branch.submodules_moved",
        "merge_branch.checkout_moved",
        "merge_branch.ref_committed",
        "merge_branch.after",
        "remove_worktree.before",
        "remove_worktree.salvaged",
        "remove_worktree.moved_aside",
        "remove_worktree.folder_removed",
        "remove_worktree.entry_removed",
        "remove_worktree.branch_removed",
        "remove_worktree.after",
    ],
    story: &[STARTED, COMPLETED, APPROVED],
    column: "verified",
    kept: ("main", "more-1.txt"),
};

pub(crate) const CANCEL: Scenario = Scenario {
    tables: "",
    prepare: prepare_review,
    command: &["task", "cancel", "1"],
    points: &[
        APPEND[0],
        APPEND[1],
        "stop_agent.before",
        "stop_agent.after",
        "remove_worktree.before",
        "remove_worktree.salvaged",
        "remove_worktree.moved_aside",
        "remove_worktree.folder_removed",
        "remove_worktree.entry_removed",
        "remove_worktree.branch_removed",
        "remove_worktree.after",
    ],
    story: &[STARTED, COMPLETED, CANCELLED],
    column: "backlog",
    kept: ("refs/regatta/salvage/1/1", "more-1.txt"),
};

/// The work is not committed yet when it is set aside.
pub(crate) const CANCEL_BROKEN: Scenario = Scenario {
    prepare: prepare_broken,
    story: &[STARTED, FAILED, CANCELLED],
    kept: ("refs/regatta/salvage/1/1", "work-1.txt"),
    ..CANCEL
};

/// The session was left behind by an engine that was killed, and its processes run on.
pub(crate) const CANCEL_HANGING: Scenario = Scenario {
    prepare: prepare_hanging,
    story: &[STARTED, CANCELLED],
    kept: ("refs/regatta/salvage/1/1", "work-1.txt"),
    ..CANCEL
};

/// All of them, to show that together they pass every point.
pub(crate) const ALL: [&Scenario; 12] = [
    &SUBMIT,
    &REASSIGN,
    &ASSIGN,
    &ASSIGN_PROGRAM,
    &CHECK,
    &COMPLETE,
    &COMPLETE_HANGING,
    &REJECT,
    &APPROVE,
    &CANCEL,
    &CANCEL_BROKEN,
    &CANCEL_HANGING,
];

impl Scenario {
    /// Fails unless the story was told once, from the first event to the last.
    pub(crate) fn check_story(&self, world: &World) {
        assert_eq!(world.kinds(), self.story.concat());
        let task = world.task(1);
        assert_eq!((&task["column"], &task["error"]), (&self.column.into(), &serde_json::Value::Null));
        let (revision, file) = self.kept;
        world.project.repo.git(&["cat-file", "-e", &format!("{revision}:{file}")]);
    }
}

fn prepare_review(world: &World) {
    world.add("medium");
    world.done(&["task", "assign", "1", "--agent", "writer"]);
}

fn prepare_broken(world: &World) {
    world.add("medium");
    let refused = world.project.refusal(&["task", "assign", "1", "--agent", "breaker"]);
    assert_eq!(refused["code"], "AGENT_SESSION_FAILED");
}

fn prepare_hanging(world: &World) {
    world.add("medium");
    let engine = world.project.start(&["task", "assign", "1", "--agent", "hanging"]);
    until_hanging(world);
    assert_eq!(engine.kill().signal, Some(SIGKILL));
}

/// Waits until the session of task 1 runs with all its processes and its work begun.
pub(crate) fn until_hanging(world: &World) {
    world.until_phase(1, "running");
    let work = world.project.path().join(".regatta/worktrees/task-1/work-1.txt");
    until("the agent has begun", || std::fs::read(&work).is_ok_and(|text| text == b"begun\n"));
    until("its processes run", || world.agent_processes().len() >= 3);
}
