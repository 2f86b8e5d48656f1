//! Waits until a parked task may continue.
//!
//! No resources are held meanwhile, and nothing is lost when the engine exits: the next one waits for the
//! rest of the time.

use crate::clock;
use crate::commands::orders;
use crate::core::{Outcome, Stage, Task, TaskId, WorkPhase};
use crate::error::Error;
use crate::perform::Work;
use crate::perform::log_watch::LogWatch;
use jiff::Timestamp;
use std::time::Duration;

/// The longest sleep at a time, so that a changed clock or a suspended machine is noticed.
const LOOK_EVERY: Duration = Duration::from_secs(30);

pub(crate) async fn perform(work: &Work, task: TaskId, session: u32, until: Timestamp) -> Result<(), Error> {
    let mut log = LogWatch::start(work).await?;
    loop {
        if work.is_leaving() {
            return Ok(());
        }
        let left = Duration::try_from(until.duration_since(clock::now())).unwrap_or(Duration::ZERO);
        if left.is_zero() || !is_parked(&orders::get_task(&work.project, task).await?, session) {
            return work.settle(task, Outcome::WaitOver { session }).await;
        }
        log.wait_at_most(left.min(LOOK_EVERY)).await?;
    }
}

/// Tells whether the task still waits for this session to be followed by another.
fn is_parked(task: &Task, session: u32) -> bool {
    let Stage::InProgress(work) = &task.stage else { return false };
    matches!(work.phase, WorkPhase::Parked { session: parked, .. } if parked == session)
}
