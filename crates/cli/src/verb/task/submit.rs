//! `regatta task submit`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::follow::{Begin, WaitOptions};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders;

/// Submit the contents of a task's worktree for approval, no matter who made them
///
/// Uncommitted changes are committed first, and a merge in progress is concluded. If a diff is already waiting for
/// approval, the new one replaces it and the checks run again.
#[derive(Args)]
pub(crate) struct Submit {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    #[command(flatten)]
    options: WaitOptions,
}

impl Submit {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let title = format!("#{} is being submitted", self.task);
        let order = async |project: &_, caller: &_| orders::submit(project, caller, self.task).await;
        self.options.carry_out(place, self.task, &title, Begin::WhenSettled, order).await
    }
}
