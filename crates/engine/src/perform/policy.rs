//! Approves by policy: where the config says `approval = "auto"`, or where a recording says that the work was
//! merged.

use crate::commands::orders::{self, Approving, Order};
use crate::core::{Actor, CommitId, Failure, Outcome, TaskId};
use crate::error::Error;
use crate::perform::Work;
use crate::runs;

pub(crate) async fn perform(work: &Work, task: TaskId, head: &CommitId) -> Result<(), Error> {
    let policy = Actor::Policy("auto".to_owned());
    let settings = match runs::find_recorded_settings(&work.project, task).await {
        Ok(settings) => settings,
        Err(error) if error.is_of_engine() => return Err(error),
        Err(error) => {
            return work.settle(task, Outcome::PolicyRefused(Failure::from(error.explain()))).await;
        }
    };
    let order = Order {
        settle: vec![work.intent],
        fence: Some(work.token),
        settings,
        ..Order::new(Some(task), &policy)
    };
    // What the recording says was decided by a person when it was recorded, complete or not.
    let anyway = order.settings.is_some();
    let approval = Approving { feedback: None, head: Some(head.to_string()), anyway };
    match orders::approve_as(&work.project, order, approval).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_of_engine() => Err(error),
        // The rules refuse, or git does: a person decides.
        Err(error) => work.settle(task, Outcome::PolicyRefused(Failure::from(error.explain()))).await,
    }
}
