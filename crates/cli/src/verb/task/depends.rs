//! `regatta task depends`.

use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{Depend, Problem, TaskId};
use regatta_engine::orders;
use uuid::Uuid;

/// Show or change what a task depends on.
#[derive(Args)]
pub(crate) struct Depends {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Tasks that must be verified first.
    #[arg(value_name = "ON")]
    on: Vec<TaskId>,
    /// Task that must be verified first; repeatable.
    #[arg(long = "on", value_name = "ID")]
    also_on: Vec<TaskId>,
    /// Dependency to remove; repeatable.
    #[arg(long, value_name = "ID")]
    remove: Vec<TaskId>,
    /// Command ID; repeating the command with the same ID does nothing more.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Depends {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let add = self.on.into_iter().chain(self.also_on).collect();
        let depend = Depend { add, remove: self.remove.into_iter().collect() };
        let caller = crate::caller::caller(self.command_id);
        orders::depend(&project, &caller, self.task, depend).await?;
        super::show::print(place, &project, self.task).await
    }
}
