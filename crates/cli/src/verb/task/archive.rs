//! `regatta task archive`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, GREEN};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{edits, reading};
use serde_json::json;

/// Move all but the last five entries of a task's progress log to its archive
///
/// This happens automatically when the file exceeds 75 KB. The archive keeps every byte, and the file keeps a summary.
#[derive(Args)]
pub(crate) struct Archive {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Print the archive and move nothing.
    #[arg(long)]
    show: bool,
}

impl Archive {
    async fn show(&self, place: &Place) -> Result<Exit, Problem> {
        let shown = match place.ask_endpoint("read_archive", json!({ "taskId": self.task })).await? {
            Some(shown) => shown,
            None => {
                let project = place.open().await?;
                reading::check_task(&project, self.task).await?;
                reading::archive(&project, self.task)?
            }
        };
        match shown["text"].as_str() {
            Some(text) if !place.screen.is_json() => place.screen.verbatim(text),
            _ => place
                .screen
                .data(&shown, |_| format!("{DIM}nothing of task #{} is archived{DIM:#}\n", self.task)),
        }
        Ok(Exit::Done)
    }

    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        if self.show {
            return self.show(place).await;
        }
        let project = place.open().await?;
        let caller = crate::caller::caller(None);
        let moved = edits::archive(&project, &caller, self.task).await?;
        let (first, last) = moved.unzip();
        let shown = serde_json::json!({ "taskId": self.task, "first": first, "last": last });
        place.screen.data(&shown, |_| match moved {
            Some((first, last)) => format!("{GREEN}archived{GREEN:#} sessions {first} to {last}\n"),
            None => format!("{DIM}all sessions stay in the file{DIM:#}\n"),
        });
        Ok(Exit::Done)
    }
}
