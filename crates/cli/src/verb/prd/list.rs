//! `regatta prd list`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, clean};
use clap::Args;
use comfy_table::{Cell, Table, presets};
use regatta_engine::core::Problem;
use regatta_engine::{PrdView, list_prds};

/// List PRDs, without their text.
#[derive(Args)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let prds = list_prds(&project).await.map_err(|error| error.explain())?;
        place.screen.data(&prds, |prds| render(prds));
        Ok(Exit::Done)
    }
}

fn render(prds: &[PrdView]) -> String {
    if prds.is_empty() {
        return format!("{DIM}no PRDs yet; add one with `regatta prd add FILE`{DIM:#}\n");
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["SLUG", "BYTES", "TITLE"]);
    for prd in prds {
        table.add_row([Cell::new(&prd.slug), Cell::new(prd.bytes), Cell::new(clean(&prd.title))]);
    }
    format!("{}\n", table.trim_fmt())
}
