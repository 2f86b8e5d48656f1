//! `regatta workflow list`.

use super::find::open_if_any;
use crate::arguments::Place;
use crate::columns;
use crate::exit::Exit;
use crate::screen::clean;
use clap::Args;
use regatta_engine::Project;
use regatta_engine::core::Problem;
use regatta_engine::runs::{Listed, WorkflowRow, list_workflows, show_origin};

/// List the workflows that can be run: the project's own and the built-in ones.
#[derive(Args)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = open_if_any(place).await?;
        let listed = list_workflows(project.as_ref())?;
        let rows: Vec<WorkflowRow> = listed.iter().map(WorkflowRow::of).collect();
        place.screen.data(&rows, |rows| render(rows, &listed, project.as_ref()));
        Ok(Exit::Done)
    }
}

fn render(rows: &[WorkflowRow], listed: &[Listed], project: Option<&Project>) -> String {
    let cells = |(row, listed): (&WorkflowRow, &Listed)| {
        let title = match row.faults {
            0 => clean(&row.title),
            _ => format!("cannot be run; see `regatta workflow check {}`", row.name),
        };
        [row.name.clone(), show_origin(&listed.origin, project), title]
    };
    columns::table(["NAME", "FROM", "TITLE"], rows.iter().zip(listed).map(cells))
}
