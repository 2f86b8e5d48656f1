//! `regatta task resume`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::follow::{Begin, WaitOptions};
use clap::Args;
use regatta_engine::core::{Answer, Problem, TaskId};
use regatta_engine::is_left_alone;
use regatta_engine::orders::{self, Given};

/// Resume a task whose session failed, waits or was interrupted, and wait for its session to end
///
/// The agent continues in the same worktree, and in the same session of its own if it can.
#[derive(Args)]
pub(crate) struct Resume {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// More instructions for the agent, at most 5000 characters.
    #[arg(long, value_name = "TEXT")]
    feedback: Option<String>,
    #[command(flatten)]
    options: WaitOptions,
}

impl Resume {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let title = format!("#{} continues", self.task);
        let project = place.open().await?;
        let is_left = self.feedback.is_none() && is_left_alone(&project, self.task).await?;
        drop(project);
        if is_left {
            // The command that began it is in the log: all that it lacks is somebody to carry it out.
            let (task, answer) = (self.task, Answer::Accepted);
            let order = async |_: &_, _: &_| Ok(Given { task, answer });
            return self.options.carry_out(place, task, &title, Begin::AtOnce, order).await;
        }
        let order =
            async |project: &_, caller: &_| orders::resume(project, caller, self.task, self.feedback).await;
        self.options.carry_out(place, self.task, &title, Begin::WhenSettled, order).await
    }
}
