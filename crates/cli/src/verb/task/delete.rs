//! `regatta task delete`.

use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders;
use serde_json::json;
use uuid::Uuid;

/// Delete a backlog task that was never assigned and that no other task depends on
///
/// Its file is deleted too. Its number is not reused.
#[derive(Args)]
pub(crate) struct Delete {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Command ID; repeating the command with the same ID does nothing more.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Delete {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let caller = crate::caller::caller(self.command_id);
        orders::delete(&project, &caller, self.task).await?;
        let done = json!({ "id": self.task, "deleted": true });
        place.screen.data(&done, |_| format!("task #{} is deleted\n", self.task));
        Ok(Exit::Done)
    }
}
