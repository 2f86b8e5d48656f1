//! `regatta task output`.

use super::task_id;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, clean};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::memory;

/// Shows what a task has to say to the tasks that depend on it.
#[derive(Args)]
pub(crate) struct Output {
    /// The task's number.
    #[arg(value_name = "ID", value_parser = task_id)]
    task: TaskId,
}

impl Output {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let giver = crate::identity::giver(None);
        let file = memory::refresh(&project, &giver, self.task).await.map_err(|error| error.explain())?;
        let output = file.chain_output().map(str::to_owned);
        let shown = serde_json::json!({
            "taskId": self.task, "output": output, "summary": file.summary_of_output(),
        });
        place.screen.data(&shown, |_| match &output {
            Some(output) => format!("{}\n", clean(output)),
            None => format!("{DIM}task #{} has written no output yet{DIM:#}\n", self.task),
        });
        Ok(Exit::Done)
    }
}
