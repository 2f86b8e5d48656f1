//! Points at which a test can kill the process.
//!
//! A debug build that finds `REGATTA_CRASH_AT=<point>` in its environment kills itself with SIGKILL there,
//! like a power cut. With `REGATTA_STOP_AT=<point>` it suspends itself, like a closed lid, until somebody
//! continues it. A release build has none of this.

/// Every place, so that a test can show that each is reached.
pub const POINTS: &[&str] = &[
    "move_log.taken",
    "move_log.transcripts_moved",
    "move_log.moved",
    "import.objects",
    "import.refs",
    "import.files",
    "import.log",
    "append.before",
    "append.after",
    "write_file.before",
    "write_file.prepared",
    "write_file.exchanged",
    "write_file.after",
    "take_left_over.after",
    "run_file.before",
    "run_file.prepared",
    "run_file.exchanged",
    "run_file.after",
    "run_file.extending",
    "run_file.extended",
    "archive.before",
    "archive.appended",
    "archive.after",
    "run_edit.before",
    "run_edit.recorded",
    "run_edit.kept",
    "run_edit.after",
    "create_worktree.before",
    "create_worktree.made",
    "create_worktree.after",
    "run_session.before",
    "run_session.started",
    "run_session.ended",
    "run_session.after",
    "charge.waiting",
    "perform_node.played",
    "release_task.before",
    "release_task.after",
    "record_diff.before",
    "record_diff.after",
    "pause_agent.before",
    "pause_agent.after",
    "run_checks.before",
    "run_checks.after",
    "merge_branch.before",
    "merge_branch.tree_written",
    "merge_branch.commit_made",
    "merge_branch.ref_locked",
    "merge_branch.submodules_moved",
    "merge_branch.checkout_moved",
    "merge_branch.ref_committed",
    "merge_branch.after",
    "stop_agent.before",
    "stop_agent.after",
    "remove_worktree.before",
    "remove_worktree.salvaged",
    "remove_worktree.moved_aside",
    "remove_worktree.folder_removed",
    "remove_worktree.entry_removed",
    "remove_worktree.branch_removed",
    "remove_worktree.after",
    "delete.before_file",
    "delete.after_file",
];

/// Ends the process here if a test asked for it.
pub(crate) fn point(name: &str) {
    debug_assert!(POINTS.contains(&name), "`{name}` is not among the crash points");
    #[cfg(debug_assertions)]
    {
        use rustix::process::{Signal, getpid, kill_process};
        for (variable, signal) in [("REGATTA_CRASH_AT", Signal::KILL), ("REGATTA_STOP_AT", Signal::STOP)] {
            if std::env::var(variable).is_ok_and(|asked| asked == name) {
                let _ = kill_process(getpid(), signal);
                while is_stop_pending() {
                    std::thread::yield_now();
                }
            }
        }
    }
}

/// Tells whether a stop signal has not yet reached any thread of this process.
///
/// Any thread may receive it, and until then this one would run on: past the point, and perhaps into a lock
/// that it would then hold while suspended. Once a thread has received the signal, no thread returns from the
/// kernel any more.
#[cfg(debug_assertions)]
fn is_stop_pending() -> bool {
    const SIGSTOP_BIT: u64 = 1 << 18;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
    pending
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & SIGSTOP_BIT != 0)
}
