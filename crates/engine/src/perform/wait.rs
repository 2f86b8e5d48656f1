//! Waits until a parked task may go on.
//!
//! Nothing is held meanwhile, and nothing is lost when the engine goes: the next one waits for what is left of the time.

use crate::clock;
use crate::commands::orders;
use crate::core::{Outcome, Stage, Task, TaskId, WorkPhase};
use crate::error::Error;
use crate::perform::Work;
use jiff::Timestamp;
use std::time::Duration;

/// Longest sleep at a time: a clock that was set, or a machine that slept, is noticed after it.
const LOOK_EVERY: Duration = Duration::from_secs(30);

pub(crate) async fn perform(work: &Work, task: TaskId, session: u32, until: Timestamp) -> Result<(), Error> {
    let mut leaving = work.leaving.clone();
    let mut seen = work.project.store().head().await?;
    loop {
        if work.is_leaving() {
            return Ok(());
        }
        let left = Duration::try_from(until.duration_since(clock::now())).unwrap_or(Duration::ZERO);
        if left.is_zero() || !is_parked(&orders::get_task(&work.project, task).await?, session) {
            return work.settle(task, Outcome::WaitOver { session }).await;
        }
        tokio::select! {
            head = work.project.store().wait_past(seen, left.min(LOOK_EVERY)) => seen = head?,
            _ = leaving.changed() => {}
        }
    }
}

/// Tells whether the task still waits for this session to be followed by another.
fn is_parked(task: &Task, session: u32) -> bool {
    let Stage::InProgress(work) = &task.stage else { return false };
    matches!(work.phase, WorkPhase::Parked { session: parked, .. } if parked == session)
}
