//! `regatta prd list`.

use crate::arguments::Place;
use crate::columns;
use crate::exit::Exit;
use crate::screen::{DIM, clean};
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::{PrdView, list_prds};

/// List PRDs, without their text.
#[derive(Args)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let prds = list_prds(&project).await?;
        place.screen.data(&prds, |prds| render(prds));
        Ok(Exit::Done)
    }
}

fn render(prds: &[PrdView]) -> String {
    if prds.is_empty() {
        return format!("{DIM}no PRDs yet; add one with `regatta prd add FILE`{DIM:#}\n");
    }
    let row = |prd: &PrdView| [prd.slug.to_string(), prd.bytes.to_string(), clean(&prd.title)];
    columns::table(["SLUG", "BYTES", "TITLE"], prds.iter().map(row))
}
