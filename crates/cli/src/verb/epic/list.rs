//! `regatta epic list`.

use crate::arguments::Place;
use crate::columns;
use crate::exit::Exit;
use crate::screen::{DIM, clean};
use clap::Args;
use regatta_engine::core::{PrdSlug, Problem};
use regatta_engine::{EpicView, list_epics};

/// List epics.
#[derive(Args)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let epics = list_epics(&project).await?;
        place.screen.data(&epics, |epics| render(epics));
        Ok(Exit::Done)
    }
}

fn render(epics: &[EpicView]) -> String {
    if epics.is_empty() {
        return format!("{DIM}no epics yet; add one with `regatta epic add \"…\"`{DIM:#}\n");
    }
    let row = |epic: &EpicView| {
        let done = format!("{}/{}", epic.count_done(), epic.tasks.len());
        let prd = epic.prd.as_ref().map_or("-", PrdSlug::as_str).to_owned();
        [epic.id.to_string(), done, prd, clean(&epic.title)]
    };
    columns::table(["ID", "DONE", "PRD", "TITLE"], epics.iter().map(row))
}
