//! `regatta task edit`.

use super::priority;
use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{EpicId, PrdSlug, Problem, Revise, TaskId};
use regatta_engine::orders;
use uuid::Uuid;

/// Change a task's title, description, criteria, priority, epic or PRD
///
/// The task's file is updated too. Use `regatta task depends` to change dependencies.
#[derive(Args)]
pub(crate) struct Edit {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// New title.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// New description.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    /// Criterion of the new list; repeatable. Existing criteria keep their ticks.
    #[arg(long = "criterion", value_name = "TEXT", allow_hyphen_values = true)]
    criteria: Vec<String>,
    /// Remove all criteria.
    #[arg(long, conflicts_with = "criteria")]
    no_criteria: bool,
    /// New priority: high, medium or low.
    #[arg(long)]
    priority: Option<String>,
    /// New epic.
    #[arg(long, value_name = "ID")]
    epic: Option<EpicId>,
    /// Remove it from its epic.
    #[arg(long, conflicts_with = "epic")]
    no_epic: bool,
    /// New PRD.
    #[arg(long, value_name = "SLUG")]
    prd: Option<PrdSlug>,
    /// Remove its PRD.
    #[arg(long, conflicts_with = "prd")]
    no_prd: bool,
    /// Command ID; repeating the command with the same ID does nothing more.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Edit {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let named = self.no_criteria || !self.criteria.is_empty();
        let revise = Revise {
            title: self.title,
            description: self.description,
            criteria: named.then_some(self.criteria),
            priority: self.priority.as_deref().map(priority).transpose()?,
            epic: if self.no_epic { Some(None) } else { self.epic.map(Some) },
            prd: if self.no_prd { Some(None) } else { self.prd.map(Some) },
        };
        let project = place.open().await?;
        let caller = crate::caller::caller(self.command_id);
        orders::edit(&project, &caller, self.task, revise).await?;
        super::show::print(place, &project, self.task).await
    }
}
