//! `regatta task submit`.

use super::task_id;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::carry::{Begin, Manner};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders;

/// Put up what is in a task's worktree for approval, whoever made it.
///
/// What is not committed there is committed first, and a merge that was begun is concluded. If a diff waits for approval
/// already, the new one takes its place and the checks run again; the old one can no longer be approved.
#[derive(Args)]
pub(crate) struct Submit {
    /// Task number.
    #[arg(value_name = "ID", value_parser = task_id)]
    task: TaskId,
    #[command(flatten)]
    manner: Manner,
}

impl Submit {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let title = format!("#{} is being submitted", self.task);
        let order = async |project: &_, giver: &_| orders::submit(project, giver, self.task).await;
        self.manner.carry_out(place, self.task, &title, Begin::WhenSettled, order).await
    }
}
