//! `regatta task dequeue`.

use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders;
use uuid::Uuid;

/// Remove a task from the queue; it stays in the backlog.
#[derive(Args)]
pub(crate) struct Dequeue {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Command ID; repeating the command with the same ID does nothing more.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Dequeue {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let caller = crate::caller::caller(self.command_id);
        orders::dequeue(&project, &caller, self.task).await?;
        super::show::print(place, &project, self.task).await
    }
}
