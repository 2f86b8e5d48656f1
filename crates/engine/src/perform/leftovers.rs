//! Ends what other engines left of a session or of a set-up.
//!
//! Every start has a name of its own, made of what it is for and of the engine. So the engine that comes after a
//! killed one finds what that one left; but one that slept past its lease ends, when it wakes, its own processes and
//! never those of its successor.

use regatta_agents::{Leftover, SessionId, StillAlive, end_leftovers, find_leftovers};
use std::collections::BTreeSet;
use std::time::Duration;

/// Looks in a row that must find nobody: one can miss a process that is just being started.
const EMPTY_LOOKS_NEEDED: u32 = 2;
/// More rounds are not needed to end what no longer grows; each has its own limits on time.
const LOOKS_MAX: u32 = 10;

/// Ends every process whose mark begins so, and confirms that none is left.
pub(super) async fn end(mark: &str, grace: Duration) -> Result<(), StillAlive> {
    let mut empty_looks = 0;
    let mut left = Vec::new();
    for _ in 0..LOOKS_MAX {
        left = find(mark).await?;
        if left.is_empty() {
            empty_looks += 1;
            if empty_looks >= EMPTY_LOOKS_NEEDED {
                return Ok(());
            }
            continue;
        }
        empty_looks = 0;
        let sessions: BTreeSet<&SessionId> = left.iter().map(|leftover| &leftover.session).collect();
        for session in sessions {
            end_leftovers(session, grace).await?;
        }
    }
    Err(StillAlive { pids: left.iter().map(|leftover| leftover.pid).collect() })
}

/// Looks once, on its own thread: `/proc` can block on a process in trouble.
async fn find(mark: &str) -> Result<Vec<Leftover>, StillAlive> {
    let mark = mark.to_owned();
    let look = tokio::task::spawn_blocking(move || find_leftovers(&mark));
    // The look fails only when the runtime is going down: nothing is confirmed then.
    look.await.map_err(|_| StillAlive { pids: Vec::new() })
}
