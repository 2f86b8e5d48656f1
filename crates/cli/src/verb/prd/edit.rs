//! `regatta prd edit`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::text_file::TextFile;
use clap::{ArgGroup, Args};
use regatta_engine::core::document::ChangePrd;
use regatta_engine::core::{PrdSlug, Problem};
use regatta_engine::{documents, orders};
use uuid::Uuid;

/// Change a PRD's title or text.
#[derive(Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true))]
pub(crate) struct Edit {
    /// PRD slug.
    #[arg(value_name = "SLUG")]
    prd: PrdSlug,
    /// New title.
    #[arg(long, group = "change")]
    title: Option<String>,
    /// File with the new text, or `-` for stdin.
    #[arg(long, value_name = "FILE", group = "change")]
    text: Option<TextFile>,
    /// Command ID; repeating the command with the same ID does nothing more.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Edit {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let text = self.text.map(|file| file.read(place)).transpose()?;
        let change = ChangePrd::new(self.prd.clone(), self.title, text).map_err(orders::invalid)?;
        let project = place.open().await?;
        let caller = crate::caller::caller(self.command_id);
        documents::change_prd(&project, &caller, change).await?;
        super::show::print_summary(place, &project, &self.prd).await
    }
}
