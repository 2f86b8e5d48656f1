//! `regatta task list`.

use crate::arguments::Place;
use crate::columns::Columns;
use crate::exit::Exit;
use crate::screen::{DIM, clean, cleaned};
use crate::state_words::{describe_park, word_of};
use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use regatta_engine::core::machine::Column;
use regatta_engine::core::{EpicId, Priority, Problem, TaskId};
use regatta_engine::{Filter, TaskRow, TaskView, list_rows, list_tasks};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// List tasks.
#[derive(Args)]
pub(crate) struct List {
    /// Show only tasks in this column: backlog, in_progress, waiting_approval or verified.
    #[arg(long, value_name = "NAME", value_parser = column)]
    column: Option<Column>,
    /// Show only tasks of this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Show only tasks of this epic.
    #[arg(long, value_name = "ID")]
    epic: Option<EpicId>,
    /// Show only tasks with these words in the title or description.
    #[arg(long, value_name = "WORDS")]
    text: Option<String>,
    /// Show hidden tasks too.
    #[arg(long)]
    all: bool,
}

impl List {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let Self { column, agent, epic, text, all } = self;
        let filter = Filter { column, agent, epic, text, all };
        if place.screen.is_json() {
            let tasks = list_tasks(&project).await?;
            let asked: Vec<&TaskView> = tasks.iter().filter(|task| filter.admits(task.as_row())).collect();
            place.screen.data(&asked, |_| String::new());
            return Ok(Exit::Done);
        }
        // The short rows have no description, so words are looked for in the tasks themselves.
        let found: Option<BTreeSet<TaskId>> = match &filter.text {
            None => None,
            Some(_) => {
                let tasks = list_tasks(&project).await?;
                Some(tasks.iter().filter(|task| filter.admits(task.as_row())).map(|task| task.id).collect())
            }
        };
        let rows = list_rows(&project).await?;
        let is_asked = |row: &&TaskRow| match &found {
            Some(found) => found.contains(&row.id),
            None => filter.admits(row.as_row()),
        };
        let asked: Vec<&TaskRow> = rows.iter().filter(is_asked).collect();
        let hint = if rows.is_empty() {
            "no tasks yet; add one with `regatta task add \"…\"`"
        } else {
            "no such tasks; `regatta task list --all` shows all"
        };
        if asked.is_empty() {
            place.screen.data(&(), |()| format!("{DIM}{hint}{DIM:#}\n"));
        } else {
            place.screen.plain(&render(&asked, &rows));
        }
        Ok(Exit::Done)
    }
}

fn column(text: &str) -> Result<Column, String> {
    let found = Column::ALL.into_iter().find(|column| column.as_str() == text);
    let names = || Column::ALL.map(Column::as_str).join(", ");
    found.ok_or_else(|| format!("there is no column `{text}`; choose one of: {}", names()))
}

pub(super) fn render(asked: &[&TaskRow], tasks: &[TaskRow]) -> String {
    let mut columns = Columns::below(["ID", "COLUMN", "PRIORITY", "AGENT", "TITLE", "NOTE"], 6);
    for task in asked {
        columns.measure(&line(task, tasks));
    }
    let mut text = columns.begin(asked.len());
    for task in asked {
        columns.push(&mut text, &line(task, tasks));
    }
    text
}

fn line<'a>(task: &'a TaskRow, tasks: &[TaskRow]) -> [Cow<'a, str>; 6] {
    [
        task.id.to_string().into(),
        name_of_column(task.column).into(),
        name_of_priority(task.priority).into(),
        agent(task),
        cleaned(&task.title),
        with_warnings(with_mark(task, note(task, tasks)), task),
    ]
}

/// Returns the agent; of a queued task the one that it waits for.
fn agent(task: &TaskRow) -> Cow<'_, str> {
    match (&task.agent_id, &task.waits_for) {
        (Some(agent), _) => agent.into(),
        (None, Some(agent)) => format!("({agent})").into(),
        (None, None) => "-".into(),
    }
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

/// Adds what the task is going to collide with, and what is worth a look.
fn with_warnings<'a>(note: Cow<'a, str>, task: &TaskRow) -> Cow<'a, str> {
    let warnings: Vec<&str> = task.forecast.iter().chain(&task.warnings).map(String::as_str).collect();
    match (note.is_empty(), warnings.is_empty()) {
        (_, true) => note,
        (true, false) => warnings.join("; ").into(),
        (false, false) => format!("{note}; {}", warnings.join("; ")).into(),
    }
}

/// Puts the word for a deadline that passed before the note.
fn with_mark<'a>(task: &TaskRow, note: Cow<'a, str>) -> Cow<'a, str> {
    match (task.overdue, note.is_empty()) {
        (false, _) => note,
        (true, true) => "overdue".into(),
        (true, false) => format!("overdue: {note}").into(),
    }
}

fn note<'a>(task: &'a TaskRow, tasks: &[TaskRow]) -> Cow<'a, str> {
    if let Some(park) = &task.parked {
        let has_engine = task.owner != "you";
        let why = describe_park(park, has_engine, Timestamp::now(), &TimeZone::system());
        return format!("parked: {why}").into();
    }
    if task.phase == "halted" {
        let why = task.error.as_ref().map_or_else(String::new, |error| format!(": {error}"));
        return format!("halted, needs you{why}").into();
    }
    if let Some(error) = &task.error {
        return with_lacks(task, error.to_string()).into();
    }
    if let Some(place) = task.queue_position {
        return format!("queued, number {place}").into();
    }
    match (&*task.phase, task.lines) {
        ("ready", Some((added, removed))) => {
            with_lacks(task, format!("+{added} -{removed}, waits for you")).into()
        }
        ("done", _) if task.column == Column::Backlog => "done elsewhere".into(),
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
        _ => Cow::Borrowed(word_of(&task.phase)),
    }
}

/// Tells whether a task is yet to be done; the list is in the order of numbers.
fn is_open(id: TaskId, tasks: &[TaskRow]) -> bool {
    let found = tasks.binary_search_by_key(&id, |task| task.id);
    found.is_ok_and(|index| !tasks[index].is_done())
}

/// Adds to a note what the diff lacks, in a few words.
fn with_lacks(task: &TaskRow, note: String) -> String {
    let lacks = task.lacks.iter().flat_map(|lacks| lacks.summary()).map(|word| clean(&word));
    std::iter::once(note).chain(lacks).collect::<Vec<_>>().join("; ")
}
