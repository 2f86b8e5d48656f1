//! `regatta task list`.

use crate::arguments::Place;
use crate::columns;
use crate::exit::Exit;
use crate::screen::{DIM, clean};
use clap::Args;
use regatta_engine::core::machine::Column;
use regatta_engine::core::{Priority, Problem, TaskId};
use regatta_engine::{Error, TaskRow, list_rows, list_tasks};
use std::borrow::Cow;

/// Lists the tasks.
#[derive(Args)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let explain = |error: Error| error.explain();
        let project = place.open().await?;
        if place.screen.is_json() {
            place.screen.data(&list_tasks(&project).await.map_err(explain)?, |_| String::new());
            return Ok(Exit::Done);
        }
        let tasks = list_rows(&project).await.map_err(explain)?;
        if tasks.is_empty() {
            let hint = format!("{DIM}no tasks yet; add one with `regatta task add \"…\"`{DIM:#}\n");
            place.screen.data(&(), |()| hint);
        } else {
            place.screen.plain(&render(&tasks));
        }
        Ok(Exit::Done)
    }
}

fn render(tasks: &[TaskRow]) -> String {
    let lines: Vec<[Cow<'_, str>; 6]> = tasks.iter().map(|task| line(task, tasks)).collect();
    columns::render(["ID", "COLUMN", "PRIORITY", "AGENT", "TITLE", "NOTE"], &lines)
}

fn line<'a>(task: &'a TaskRow, tasks: &[TaskRow]) -> [Cow<'a, str>; 6] {
    [
        task.id.to_string().into(),
        name_of_column(task.column).into(),
        name_of_priority(task.priority).into(),
        task.agent_id.as_deref().unwrap_or("-").into(),
        clean(&task.title).into(),
        note(task, tasks),
    ]
}

fn name_of_column(column: Column) -> &'static str {
    match column {
        Column::Backlog => "backlog",
        Column::InProgress => "in_progress",
        Column::WaitingApproval => "waiting_approval",
        Column::Verified => "verified",
    }
}

fn name_of_priority(priority: Priority) -> &'static str {
    match priority {
        Priority::High => "high",
        Priority::Medium => "medium",
        Priority::Low => "low",
    }
}

fn note<'a>(task: &'a TaskRow, tasks: &[TaskRow]) -> Cow<'a, str> {
    if let Some(error) = &task.error {
        return error.to_string().into();
    }
    if let Some(place) = task.queue_position {
        return format!("queued, number {place}").into();
    }
    match (&*task.phase, task.lines) {
        ("ready", Some((added, removed))) => format!("+{added} -{removed}, waits for you").into(),
        ("done", _) => task
            .merge_commit
            .as_deref()
            .map_or(Cow::Borrowed(""), |commit| format!("merged as {}", &commit[..10]).into()),
        ("waiting", _) => {
            let names: Vec<String> = task
                .dependencies
                .iter()
                .filter(|id| is_open(**id, tasks))
                .map(|id| format!("#{id}"))
                .collect();
            if names.is_empty() { "".into() } else { format!("after {}", names.join(", ")).into() }
        }
        _ => Cow::Borrowed(&task.phase),
    }
}

/// Tells whether a task is yet to be verified; the list is in the order of numbers.
fn is_open(id: TaskId, tasks: &[TaskRow]) -> bool {
    let found = tasks.binary_search_by_key(&id, |task| task.id);
    found.is_ok_and(|index| tasks[index].column != Column::Verified)
}
