//! `regatta epic list`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, clean};
use clap::Args;
use comfy_table::{Cell, Table, presets};
use regatta_engine::core::{PrdSlug, Problem};
use regatta_engine::{EpicView, list_epics};

/// List epics.
#[derive(Args)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let epics = list_epics(&project).await.map_err(|error| error.explain())?;
        place.screen.data(&epics, |epics| render(epics));
        Ok(Exit::Done)
    }
}

fn render(epics: &[EpicView]) -> String {
    if epics.is_empty() {
        return format!("{DIM}no epics yet; add one with `regatta epic add \"…\"`{DIM:#}\n");
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["ID", "DONE", "PRD", "TITLE"]);
    for epic in epics {
        table.add_row([
            Cell::new(epic.id),
            Cell::new(format!("{}/{}", epic.count_done(), epic.tasks.len())),
            Cell::new(epic.prd.as_ref().map_or("-", PrdSlug::as_str)),
            Cell::new(clean(&epic.title)),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}
