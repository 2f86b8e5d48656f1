//! `regatta epic edit`.

use crate::arguments::Place;
use crate::exit::Exit;
use clap::{ArgGroup, Args};
use regatta_engine::core::document::ChangeEpic;
use regatta_engine::core::{EpicId, PrdSlug, Problem};
use regatta_engine::{documents, orders};
use uuid::Uuid;

/// Change an epic's title, description or PRD
///
/// Its tasks keep their PRD.
#[derive(Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true))]
pub(crate) struct Edit {
    /// Epic number.
    #[arg(value_name = "ID")]
    epic: EpicId,
    /// New title.
    #[arg(long, group = "change")]
    title: Option<String>,
    /// New description.
    #[arg(long, value_name = "TEXT", group = "change")]
    description: Option<String>,
    /// New PRD.
    #[arg(long, value_name = "SLUG", group = "change")]
    prd: Option<PrdSlug>,
    /// Remove its PRD.
    #[arg(long, conflicts_with = "prd", group = "change")]
    no_prd: bool,
    /// Command ID; repeating the command with the same ID does nothing more.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Edit {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let prd = if self.no_prd { Some(None) } else { self.prd.map(Some) };
        let change =
            ChangeEpic::new(self.epic, self.title, self.description, prd).map_err(orders::invalid)?;
        let project = place.open().await?;
        let caller = crate::caller::caller(self.command_id);
        documents::change_epic(&project, &caller, change).await?;
        super::show::print(place, &project, self.epic).await
    }
}
