//! Ends what other engines left of a session or of a set-up.
//!
//! Every start has a name of its own, made of its purpose and its engine. So the engine that comes after a
//! killed one finds what that one left. An engine that slept past its lease ends its own processes when it
//! wakes, and never those of its successor.
//!
//! A session is open on its accounts from before it starts until it has ended. One that is open although
//! nobody watches it is lost: its engine was killed or exited, and then its work was stopped, postponed or
//! done by a person.

use crate::commands::accounts::{self, Closing};
use crate::core::TaskId;
use crate::core::run::Run;
use crate::core::session::{Scope, Subject};
use crate::error::Error;
use crate::perform::Work;
use crate::session::reservation;
use regatta_agents::{Leftover, Limits, SessionId, StillAlive, end_leftovers, find_leftovers};
use std::collections::BTreeSet;
use std::time::Duration;

/// How many scans in a row must find nothing: a single one can miss a process that is just being started.
const EMPTY_LOOKS_NEEDED: u32 = 2;
/// More rounds do not help with processes that do not multiply; each round has its own time limits.
const LOOKS_MAX: u32 = 10;

/// Ends what is left of the lost sessions of a task or of a run, and gives back what was set aside for them.
pub(crate) async fn end_lost(work: &Work, scope: Scope) -> Result<(), Error> {
    for subject in accounts::list_open(&work.project, scope).await? {
        give_up(work, &subject).await?;
    }
    Ok(())
}

/// Does the same for the sessions of a run's step; of those of a member of a `parallel` node, its own alone.
pub(crate) async fn end_lost_of_step(work: &Work, run: &Run) -> Result<(), Error> {
    let Some(member) = &run.member else { return end_lost(work, Scope::Run(run.id)).await };
    let mark = work.project.run_mark(run.id, &run.step_name());
    let task = run.find_task().filter(|_| member.item == run.item);
    for subject in accounts::list_open(&work.project, Scope::Run(run.id)).await? {
        let is_own = match task {
            Some(task) => subject.task_id == Some(task),
            None => subject.session == reservation::name_of(&mark),
        };
        if is_own {
            give_up(work, &subject).await?;
        }
    }
    Ok(())
}

/// Does the same for one session of a task.
pub(crate) async fn end_lost_session(work: &Work, task: TaskId, session: u32) -> Result<(), Error> {
    let mark = work.project.session_mark(task, session);
    let open = accounts::list_open(&work.project, Scope::Task(task)).await?;
    match open.iter().find(|subject| subject.session == reservation::name_of(&mark)) {
        Some(subject) => give_up(work, subject).await,
        None => Ok(()),
    }
}

async fn give_up(work: &Work, subject: &Subject) -> Result<(), Error> {
    // The doctor finds what does not end.
    let _ = end(&reservation::mark_of(&subject.session), Limits::default().grace).await;
    accounts::close(&work.project, work.token, subject, Closing::lost()).await
}

/// Ends every process whose mark has this prefix, and confirms that none is left.
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
    // The scan fails only when the runtime shuts down: then nothing is confirmed.
    look.await.map_err(|_| StillAlive { pids: Vec::new() })
}
