//! `regatta task resume`.

use super::task_id;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::carry::{Begin, Manner};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders;

/// Goes on with a task whose session broke off or waits, and waits for its next session to end.
///
/// The agent goes on in the same worktree, in its own session again if it can.
#[derive(Args)]
pub(crate) struct Resume {
    /// The task's number.
    #[arg(value_name = "ID", value_parser = task_id)]
    task: TaskId,
    /// What the agent is told besides, at most 5000 characters.
    #[arg(long, value_name = "TEXT")]
    feedback: Option<String>,
    #[command(flatten)]
    manner: Manner,
}

impl Resume {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let title = format!("#{} goes on", self.task);
        let order =
            async |project: &_, giver: &_| orders::resume(project, giver, self.task, self.feedback).await;
        self.manner.carry_out(place, self.task, &title, Begin::WhenSettled, order).await
    }
}
