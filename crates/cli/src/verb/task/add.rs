//! `regatta task add`.

use super::priority;
use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{Create, EpicId, PrdSlug, Problem, TaskId};
use regatta_engine::orders;
use uuid::Uuid;

/// Add a task to the backlog.
#[derive(Args)]
pub(crate) struct Add {
    /// Title.
    title: String,
    /// What to do.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
    /// Acceptance criterion; repeatable.
    #[arg(long = "criterion", value_name = "TEXT")]
    criteria: Vec<String>,
    /// Task that must be verified first; repeatable.
    #[arg(long = "depends", value_name = "ID")]
    dependencies: Vec<TaskId>,
    /// Priority: high, medium or low.
    #[arg(long, default_value = "medium")]
    priority: String,
    /// Epic.
    #[arg(long, value_name = "ID")]
    epic: Option<EpicId>,
    /// PRD [default: that of the epic].
    #[arg(long, value_name = "SLUG")]
    prd: Option<PrdSlug>,
    /// Command ID; repeating the command with the same ID adds no second task.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Add {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let priority = priority(&self.priority)?;
        let dependencies = self.dependencies.into_iter().collect();
        let create = Create::new(self.title, self.description, self.criteria, dependencies, priority)
            .map_err(orders::invalid)?
            .filed_under(self.epic, self.prd);
        let project = place.open().await?;
        let caller = crate::caller::caller(self.command_id);
        let task = orders::create(&project, &caller, create).await?;
        super::show::print(place, &project, task).await
    }
}
