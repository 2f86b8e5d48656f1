//! Ends a whole tree of processes and confirms that none is left.
//!
//! First every process is asked (SIGTERM), then, after the grace, killed, again and again because a process may
//! fork while it is looked at. It is over when two looks in a row find nobody: one look can miss a process that
//! is just being started. Every wait is bounded; what cannot be killed is named.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::tree::{Member, Tree};
use crate::session_id::SessionId;

/// How long killed processes may take to go; longer only when stuck in the kernel, as on a dead network disk.
const KILLED_WAIT_MAX: Duration = Duration::from_secs(10);

/// Looks in a row that must find nobody.
const EMPTY_LOOKS_NEEDED: u32 = 2;

/// First pause between two looks; most processes go at once.
const PAUSE_MIN: Duration = Duration::from_millis(2);

/// Longest pause between two looks: a look reads all of `/proc`, so not too often.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Processes that could not be ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("processes {pids:?} are still alive after SIGKILL")]
pub struct StillAlive {
    /// Their ids.
    pub pids: Vec<u32>,
}

/// Ends every process that carries the marker of a session, and all they started; returns how many there were.
pub async fn end_leftovers(session: &SessionId, grace: Duration) -> Result<u32, StillAlive> {
    end_tree(Tree::of_session(session), grace).await
}

/// Ends every process of a tree; returns how many there were.
pub(super) async fn end_tree(mut tree: Tree, grace: Duration) -> Result<u32, StillAlive> {
    let asked_at = Instant::now();
    let mut asked = BTreeSet::new();
    let mut empty_looks = 0;
    let mut pause = PAUSE_MIN;
    loop {
        let is_grace_over = asked_at.elapsed() >= grace;
        let alive;
        (tree, asked, alive) = look_and_signal(tree, asked, is_grace_over).await?;
        if alive.is_empty() {
            empty_looks += 1;
            if empty_looks >= EMPTY_LOOKS_NEEDED {
                return Ok(u32::try_from(tree.count_known()).unwrap_or(u32::MAX));
            }
            continue;
        }
        empty_looks = 0;
        if asked_at.elapsed() >= grace.saturating_add(KILLED_WAIT_MAX) {
            return Err(StillAlive { pids: alive.iter().map(|member| member.pid.unsigned_abs()).collect() });
        }
        let until_grace_over = grace.saturating_sub(asked_at.elapsed());
        let is_asking = !until_grace_over.is_zero();
        sleep(if is_asking { pause.min(until_grace_over) } else { pause }).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Looks once, and asks or kills who is there. On its own thread: `/proc` can block on a process in trouble.
async fn look_and_signal(
    mut tree: Tree,
    mut asked: BTreeSet<Member>,
    is_grace_over: bool,
) -> Result<(Tree, BTreeSet<Member>, Vec<Member>), StillAlive> {
    let look = tokio::task::spawn_blocking(move || {
        let alive = tree.find_alive();
        if is_grace_over {
            tree.kill(&alive);
        } else {
            for member in alive.iter().filter(|member| asked.insert(**member)) {
                tree.ask(*member);
            }
        }
        (tree, asked, alive)
    });
    // The look fails only when the runtime is going down: nothing is confirmed then.
    look.await.map_err(|_| StillAlive { pids: Vec::new() })
}
