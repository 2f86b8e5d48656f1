//! `regatta task hide`.

use super::bad_field;
use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{orders, show_task};
use uuid::Uuid;

/// Hide verified tasks from the list; `task list --all` still shows them.
#[derive(Args)]
pub(crate) struct Hide {
    /// Task numbers.
    #[arg(value_name = "ID", required = true)]
    tasks: Vec<TaskId>,
    /// Show them in the list again.
    #[arg(long)]
    undo: bool,
    /// Command ID, for one task; repeating the command with the same ID does nothing more.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Hide {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        if self.command_id.is_some() && self.tasks.len() > 1 {
            return Err(bad_field("commandId", "is for one task; give the tasks one by one".to_owned()));
        }
        let project = place.open().await?;
        let caller = crate::caller::caller(self.command_id);
        let mut shown = Vec::new();
        for task in &self.tasks {
            orders::hide(&project, &caller, *task, !self.undo).await?;
            shown.push(show_task(&project, *task).await?);
        }
        let what = if self.undo { "back in the list" } else { "hidden; `regatta task list --all` shows it" };
        place.screen.data(&shown, |shown| {
            shown.iter().map(|task| format!("task #{} is {what}\n", task.id)).collect()
        });
        Ok(Exit::Done)
    }
}
