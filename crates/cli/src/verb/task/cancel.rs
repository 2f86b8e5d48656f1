//! `regatta task cancel`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::follow::{Begin, WaitOptions};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders;

/// Cancel work on a task and keep it as a salvage.
#[derive(Args)]
pub(crate) struct Cancel {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Reason, at most 500 characters.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    options: WaitOptions,
}

impl Cancel {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let title = format!("#{} is being cancelled", self.task);
        let order =
            async |project: &_, caller: &_| orders::cancel(project, caller, self.task, self.reason).await;
        self.options.carry_out(place, self.task, &title, Begin::AtOnce, order).await
    }
}
