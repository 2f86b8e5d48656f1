//! `regatta workflow list`.

use super::find::open_if_any;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::clean;
use clap::Args;
use comfy_table::{Cell, Table, presets};
use regatta_engine::Project;
use regatta_engine::core::Problem;
use regatta_engine::runs::{Listed, WorkflowRow, list_workflows, show_origin};

/// Lists the workflows that can be run: the project's own, and those in the program.
#[derive(Args)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = open_if_any(place).await?;
        let listed = list_workflows(project.as_ref()).map_err(|error| error.explain())?;
        let rows: Vec<WorkflowRow> = listed.iter().map(WorkflowRow::of).collect();
        place.screen.data(&rows, |rows| render(rows, &listed, project.as_ref()));
        Ok(Exit::Done)
    }
}

fn render(rows: &[WorkflowRow], listed: &[Listed], project: Option<&Project>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["NAME", "FROM", "TITLE"]);
    for (row, listed) in rows.iter().zip(listed) {
        let title = match row.faults {
            0 => clean(&row.title),
            _ => format!("cannot be run; see `regatta workflow check {}`", row.name),
        };
        table.add_row([
            Cell::new(&row.name),
            Cell::new(show_origin(&listed.origin, project)),
            Cell::new(title),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}
