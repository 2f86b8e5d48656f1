//! `regatta epic add`.

use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::document::AddEpic;
use regatta_engine::core::{PrdSlug, Problem};
use regatta_engine::{documents, orders};
use uuid::Uuid;

/// Add an epic; add tasks to it with `regatta task add --epic ID`.
#[derive(Args)]
pub(crate) struct Add {
    /// Title.
    title: String,
    /// Description.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
    /// PRD of the epic and of its tasks.
    #[arg(long, value_name = "SLUG")]
    prd: Option<PrdSlug>,
    /// Command ID; repeating the command with the same ID adds no second epic.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Add {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let add = AddEpic::new(&self.title, self.description, self.prd).map_err(orders::invalid)?;
        let project = place.open().await?;
        let caller = crate::caller::caller(self.command_id);
        let epic = documents::add_epic(&project, &caller, add).await?;
        super::show::print(place, &project, epic).await
    }
}
