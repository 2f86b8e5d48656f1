//! `regatta task log`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::session_log::LogOptions;
use clap::Args;
use regatta_engine::core::session::Scope;
use regatta_engine::core::{Problem, TaskId, WaitsFor};
use regatta_engine::{Project, show_task};

/// Show what a task's agents said and did
///
/// Each tool call is one line, and each edit a small diff. With `--follow` it prints while the session runs, and ends when
/// the task no longer waits for an agent. With `--json` it prints one array of items, or with `--follow` one item per line.
#[derive(Args)]
pub(crate) struct Log {
    /// Task number
    #[arg(value_name = "ID")]
    task: TaskId,
    #[command(flatten)]
    options: LogOptions,
}

impl Log {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let task = self.task;
        show_task(&project, task).await?;
        let continues = async |project: &Project| is_session_expected(project, task).await;
        self.options.print(place, &project, Scope::Task(task), continues).await?;
        Ok(Exit::Done)
    }
}

/// Tells whether a session follows without anybody's doing.
async fn is_session_expected(project: &Project, task: TaskId) -> Result<bool, Problem> {
    let view = show_task(project, task).await?;
    let is_at_work = view.column.to_string() == "in_progress"
        && matches!(view.waits_for, WaitsFor::Agent | WaitsFor::Engine | WaitsFor::Clock);
    Ok(is_at_work || view.waits_for == WaitsFor::Queue)
}
