//! `regatta task approve`.

use super::task_id;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::carry::{Begin, Manner};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders;

/// Approves the diff of a task, and merges it.
#[derive(Args)]
pub(crate) struct Approve {
    /// The task's number.
    #[arg(value_name = "ID", value_parser = task_id)]
    task: TaskId,
    /// What the approver has to say, at most 1000 characters.
    #[arg(long, value_name = "TEXT")]
    feedback: Option<String>,
    /// The commit that was looked at; refused when the diff leads to another.
    #[arg(long, value_name = "SHA")]
    head: Option<String>,
    #[command(flatten)]
    manner: Manner,
}

impl Approve {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let title = format!("#{} is being merged", self.task);
        let order = async |project: &_, giver: &_| {
            orders::approve(project, giver, self.task, self.feedback, self.head).await
        };
        self.manner.carry_out(place, self.task, &title, Begin::WhenSettled, order).await
    }
}
