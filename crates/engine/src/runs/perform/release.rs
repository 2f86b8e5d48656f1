//! Leaves a task that a run has given up to a person, with the reason.

use crate::core::{Failure, Outcome, TaskId};
use crate::error::Error;
use crate::perform::Work;

pub(super) async fn perform(work: &Work, task: TaskId, error: Failure) -> Result<(), Error> {
    work.settle(task, Outcome::RunLeft(error)).await?;
    work.keep_file(task).await
}
