//! `regatta task diff`.

use super::task_id;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{CYAN, DIM, GREEN, RED, clean};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{DiffView, show_diff};

/// Shows the diff of a task: the one for review, or the work so far.
#[derive(Args)]
pub(crate) struct Diff {
    /// The task's number.
    #[arg(value_name = "ID", value_parser = task_id)]
    task: TaskId,
    /// Only the files and their lines.
    #[arg(long)]
    stat: bool,
}

impl Diff {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let mut view = show_diff(&project, self.task).await.map_err(|error| error.explain())?;
        if self.stat {
            view.patch = None;
        }
        place.screen.data(&view, render);
        Ok(Exit::Done)
    }
}

fn render(view: &DiffView) -> String {
    let mut text = String::new();
    for path in &view.obeyed_files {
        text.push_str(&format!("{RED}obeyed by Regatta{RED:#}  {}\n", one_line(path)));
    }
    if !view.obeyed_files.is_empty() {
        text.push_str(&format!(
            "{DIM}these files change what Regatta itself does; read them first{DIM:#}\n\n"
        ));
    }
    for file in &view.files {
        let lines = format!("+{} -{}", file.lines_added, file.lines_removed);
        text.push_str(&format!("{DIM}{:<9}{DIM:#} {lines:>12}  {}\n", file.status, one_line(&file.path)));
    }
    if view.files.is_empty() {
        text.push_str(&format!("{DIM}no change from {}{DIM:#}\n", &view.base[..10]));
    }
    for path in &view.uncommitted {
        text.push_str(&format!("{RED}not committed{RED:#}  {}\n", one_line(path)));
    }
    let Some(patch) = view.patch.as_deref().filter(|patch| !patch.is_empty()) else { return text };
    text.push('\n');
    for line in patch.lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => GREEN,
            Some(b'-') => RED,
            Some(b'@') => CYAN,
            _ => anstyle::Style::new(),
        };
        text.push_str(&format!("{style}{}{style:#}\n", clean(line)));
    }
    if view.is_truncated {
        text.push_str(&format!(
            "{DIM}… the rest is too long to show; see it with `git diff {} {}`{DIM:#}\n",
            view.base, view.head
        ));
    }
    text
}

/// Shows a path on one line: a file's name may hold a newline, and would read as two files.
fn one_line(path: &str) -> String {
    clean(path).replace('\n', "\\n")
}
