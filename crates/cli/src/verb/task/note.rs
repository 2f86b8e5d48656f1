//! `regatta task note`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::DIM;
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{messages, notes};
use uuid::Uuid;

/// Send a note to the agent that works on a task.
///
/// The agent reads it in its next session, or earlier if it asks for its task or for signals. A note stops nothing.
#[derive(Args)]
pub(crate) struct Note {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Text of the note, 1 to 4000 characters.
    #[arg(value_name = "TEXT")]
    text: String,
    /// Command ID; repeating the command with the same ID does nothing more.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Note {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let caller = crate::caller::caller(self.command_id);
        let id = notes::send(&project, &caller, self.task, self.text).await?;
        let view = messages::get(&project, id).await?;
        let task = self.task;
        place.screen.data(&view, |view| {
            format!("note {} for #{task} {DIM}is sent; its next session reads it{DIM:#}\n", view.message_id)
        });
        Ok(Exit::Done)
    }
}
