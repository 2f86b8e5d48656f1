//! `regatta task complete`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::follow::{Begin, WaitOptions};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders;

/// Submit a task's work for approval
///
/// Uncommitted changes in its worktree are committed first.
#[derive(Args)]
pub(crate) struct Complete {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    #[command(flatten)]
    options: WaitOptions,
}

impl Complete {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let title = format!("#{} is being completed", self.task);
        let order = async |project: &_, caller: &_| orders::complete(project, caller, self.task).await;
        self.options.carry_out(place, self.task, &title, Begin::WhenSettled, order).await
    }
}
