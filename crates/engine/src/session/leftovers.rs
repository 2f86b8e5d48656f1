//! Ends what other engines left of a session or of a set-up.
//!
//! Every start has a name of its own, made of what it is for and of the engine. So the engine that comes after a
//! killed one finds what that one left; but one that slept past its lease ends, when it wakes, its own processes and
//! never those of its successor.
//!
//! A session is open on its accounts from before it starts until it has ended. One that is open though nobody watches it
//! is lost: an engine was killed over it, or left, and then its work was stopped, put off or done by a person.

use crate::commands::accounts::{self, Closing};
use crate::core::TaskId;
use crate::core::session::{Scope, Subject};
use crate::error::Error;
use crate::perform::Work;
use crate::session::charge;
use regatta_agents::{Leftover, Limits, SessionId, StillAlive, end_leftovers, find_leftovers};
use std::collections::BTreeSet;
use std::time::Duration;

/// Looks in a row that must find nobody: one can miss a process that is just being started.
const EMPTY_LOOKS_NEEDED: u32 = 2;
/// More rounds are not needed to end what no longer grows; each has its own limits on time.
const LOOKS_MAX: u32 = 10;

/// Ends what is left of the lost sessions of a task or of a run, and gives back what was set aside for them.
pub(crate) async fn end_lost(work: &Work, scope: Scope) -> Result<(), Error> {
    for subject in accounts::list_open(&work.project, scope).await? {
        give_up(work, &subject).await?;
    }
    Ok(())
}

/// Does the same for one session of a task.
pub(crate) async fn end_lost_session(work: &Work, task: TaskId, session: u32) -> Result<(), Error> {
    let mark = work.project.session_mark(task, session);
    let open = accounts::list_open(&work.project, Scope::Task(task)).await?;
    match open.iter().find(|subject| subject.session == charge::name_of(&mark)) {
        Some(subject) => give_up(work, subject).await,
        None => Ok(()),
    }
}

async fn give_up(work: &Work, subject: &Subject) -> Result<(), Error> {
    // What does not end is found by the doctor.
    let _ = end(&charge::mark_of(&subject.session), Limits::default().grace).await;
    accounts::close(&work.project, work.token, subject, Closing::lost()).await
}

/// Ends every process whose mark begins so, and confirms that none is left.
pub(crate) async fn end(mark: &str, grace: Duration) -> Result<(), StillAlive> {
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
