//! Cancels a task that the workflow of a run drops.
//!
//! What was done on it is kept as a salvage, as when a person cancels it. The intent stays open until the work is gone, so
//! that a step of the run that comes back to the task waits for that.

use crate::commands::orders::{self, Order};
use crate::commands::round;
use crate::core::{Actor, Cancel, Command, RunId, Stage, Task, TaskId};
use crate::error::Error;
use crate::perform::Work;
use crate::perform::log_watch::LogWatch;
use crate::runs::cancelled::is_being_cancelled;

pub(crate) async fn perform(work: &Work, run: RunId, task: TaskId, reason: String) -> Result<(), Error> {
    let cancel = Cancel::new(Some(reason)).map_err(orders::invalid)?;
    let mut log = LogWatch::start(work).await?;
    let mut was_asked = false;
    loop {
        let found = orders::get_task(&work.project, task).await?;
        // Once it is back in the backlog a step of the run may take it up again.
        if !is_open(&found, run) || (was_asked && !is_being_cancelled(&found)) {
            return round::settle(&work.project, &work.envelope()).await;
        }
        if !is_being_cancelled(&found) {
            let order = Order { fence: Some(work.token), ..Order::new(Some(task), &Actor::Engine) };
            match orders::give(&work.project, order, Command::Cancel(cancel.clone())).await {
                Ok(_) => was_asked = true,
                // Something is under way there, such as a merge.
                Err(Error::Refused(_)) => {}
                Err(other) => return Err(other),
            }
        }
        was_asked |= is_being_cancelled(&found);
        if work.is_leaving() {
            return Ok(());
        }
        log.wait().await?;
    }
}

/// Tells whether there is work on the task that is not merged, and that nobody else has taken over.
fn is_open(task: &Task, run: RunId) -> bool {
    let is_free = task.run.is_none_or(|other| other == run);
    is_free && matches!(task.stage, Stage::InProgress(_) | Stage::WaitingApproval(_))
}
