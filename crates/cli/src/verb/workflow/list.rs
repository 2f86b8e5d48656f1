//! `regatta workflow list`.

use super::find::{open_if_any, show_origin};
use crate::arguments::Place;
use crate::columns;
use crate::exit::Exit;
use crate::screen::clean;
use clap::Args;
use regatta_engine::Project;
use regatta_engine::core::Problem;
use regatta_engine::runs::{Listed, Origin, list_workflows};
use regatta_flow::Workflow;
use serde::Serialize;

/// List the workflows that can be run: the project's own and the built-in ones.
#[derive(Args)]
pub(crate) struct List {}

#[derive(Serialize)]
struct Row {
    name: String,
    title: String,
    shipped: bool,
    path: Option<String>,
    digest: String,
    /// Faults of form that keep it from running; `workflow check` finds more.
    faults: usize,
}

impl List {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = open_if_any(place).await?;
        let listed = list_workflows(project.as_ref()).map_err(|error| error.explain())?;
        let rows: Vec<Row> = listed.iter().map(row).collect();
        place.screen.data(&rows, |rows| render(rows, &listed, project.as_ref()));
        Ok(Exit::Done)
    }
}

fn row(listed: &Listed) -> Row {
    let loaded = Workflow::load(&listed.folder);
    let path = match &listed.origin {
        Origin::Binary => None,
        Origin::Project(path) => Some(path.display().to_string()),
    };
    Row {
        name: listed.name.clone(),
        title: loaded.as_ref().map_or_else(|_| String::new(), |workflow| workflow.title.clone()),
        shipped: path.is_none(),
        path,
        digest: listed.folder.digest(),
        faults: loaded.err().map_or(0, |faults| faults.iter().filter(|fault| fault.is_error()).count()),
    }
}

fn render(rows: &[Row], listed: &[Listed], project: Option<&Project>) -> String {
    let cells = |(row, listed): (&Row, &Listed)| {
        let title = match row.faults {
            0 => clean(&row.title),
            _ => format!("cannot be run; see `regatta workflow check {}`", row.name),
        };
        [row.name.clone(), show_origin(&listed.origin, project), title]
    };
    columns::table(["NAME", "FROM", "TITLE"], rows.iter().zip(listed).map(cells))
}
