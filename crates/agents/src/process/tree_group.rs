//! Finds the living processes of a session where there is no `/proc`: the process group is all that is known.
//!
//! A child that leaves the group, or that outlives the engine, is not found here.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::{Around, Leftover};
use crate::session_id::SessionId;

/// A process group that lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    pub(super) pid: i32,
}

/// The process group of one session.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    leader: Option<Member>,
    was_found: bool,
}

impl Tree {
    /// Describes a session of which only the marker is known: nothing can be found by it here.
    pub(super) fn of_session(_session: &SessionId) -> Tree {
        Tree { leader: None, was_found: false }
    }

    /// Describes the group that a child leads.
    pub(super) fn of_child(_session: &SessionId, pid: u32, _around: Around) -> Tree {
        Tree { leader: i32::try_from(pid).ok().map(|pid| Member { pid }), was_found: false }
    }

    /// Returns the group while any process of it is left.
    pub(super) fn find_alive(&mut self) -> Vec<Member> {
        let alive: Vec<Member> = self.leader.into_iter().filter(|leader| is_alive(*leader)).collect();
        self.was_found |= !alive.is_empty();
        alive
    }

    /// Returns how many groups were ever found.
    pub(super) fn count_known(&self) -> usize {
        usize::from(self.was_found)
    }

    /// Asks the group to end.
    pub(super) fn ask(&self, member: Member) {
        self.signal(member, Signal::TERM);
        // A stopped process would not see the request.
        self.signal(member, Signal::CONT);
    }

    /// Sends a signal to the group.
    pub(super) fn signal(&self, member: Member, signal: Signal) {
        if let Some(group) = Pid::from_raw(member.pid) {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Kills the groups.
    pub(super) fn kill(&mut self, members: &[Member]) {
        for member in members {
            self.signal(*member, Signal::KILL);
        }
    }
}

/// Returns nothing: environments of other processes cannot be read here.
pub fn list_environments_above() -> Vec<std::collections::BTreeMap<String, String>> {
    Vec::new()
}

/// Returns nothing: environments of other processes cannot be read here.
pub fn find_leftovers(_marker_prefix: &str) -> Vec<Leftover> {
    Vec::new()
}

fn is_alive(group: Member) -> bool {
    Pid::from_raw(group.pid).is_some_and(|pid| test_kill_process_group(pid).is_ok())
}
