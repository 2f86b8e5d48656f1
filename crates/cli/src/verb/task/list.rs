//! `regatta task list`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, clean};
use clap::Args;
use comfy_table::{Cell, Table, presets};
use regatta_engine::core::machine::Column;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{TaskView, list_tasks};

/// Lists the tasks.
#[derive(Args)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let tasks = list_tasks(&project).await.map_err(|error| error.explain())?;
        place.screen.data(&tasks, |tasks| render(tasks));
        Ok(Exit::Done)
    }
}

fn render(tasks: &[TaskView]) -> String {
    if tasks.is_empty() {
        return format!("{DIM}no tasks yet; add one with `regatta task add \"…\"`{DIM:#}\n");
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["ID", "COLUMN", "PRIORITY", "AGENT", "TITLE", "NOTE"]);
    for task in tasks {
        table.add_row([
            Cell::new(task.id),
            Cell::new(task.column),
            Cell::new(format!("{:?}", task.priority).to_lowercase()),
            Cell::new(task.agent_id.as_deref().unwrap_or("-")),
            Cell::new(clean(&task.title)),
            Cell::new(note(task, tasks)),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

fn note(task: &TaskView, tasks: &[TaskView]) -> String {
    if let Some(error) = &task.error {
        return error.code.to_string();
    }
    if let Some(place) = task.queue_position {
        return format!("queued, number {place}");
    }
    match (task.phase, &task.diff) {
        ("ready", Some(diff)) => format!("+{} -{}, waits for you", diff.lines_added, diff.lines_removed),
        ("done", _) => task
            .merge_commit
            .as_deref()
            .map_or_else(String::new, |commit| format!("merged as {}", &commit[..10])),
        ("waiting", _) => {
            let is_open =
                |id: &&TaskId| tasks.iter().any(|other| other.id == **id && other.column != Column::Verified);
            let names: Vec<String> =
                task.dependencies.iter().filter(is_open).map(|id| format!("#{id}")).collect();
            if names.is_empty() { String::new() } else { format!("after {}", names.join(", ")) }
        }
        (phase, _) => phase.to_owned(),
    }
}
