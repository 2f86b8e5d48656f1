//! `regatta task output`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, clean};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::reading;
use serde_json::json;

/// Show a task's output for the tasks that depend on it.
#[derive(Args)]
pub(crate) struct Output {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
}

impl Output {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let shown = match place.ask_endpoint("read_inputs", json!({ "from": self.task })).await? {
            Some(shown) => shown,
            None => {
                let project = place.open().await?;
                let caller = crate::caller::caller(None);
                reading::output(&project, &caller, self.task).await?
            }
        };
        place.screen.data(&shown, |shown| match shown["output"].as_str() {
            Some(output) => format!("{}\n", clean(output)),
            None => format!("{DIM}task #{} has written no output yet{DIM:#}\n", self.task),
        });
        Ok(Exit::Done)
    }
}
