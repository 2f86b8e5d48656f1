//! `regatta task diff`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{CYAN, DIM, GREEN, RED, YELLOW, clean};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{DiffView, FileView, show_diff};

/// Show a task's diff: the one under review or the work so far, and uncommitted changes
#[derive(Args)]
pub(crate) struct Diff {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Show only the files and the number of changed lines
    #[arg(long)]
    stat: bool,
}

impl Diff {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let mut view = show_diff(&project, self.task).await?;
        if self.stat {
            view.patch = None;
            if let Some(uncommitted) = &mut view.uncommitted_diff {
                uncommitted.patch = None;
            }
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
            "{DIM}these files change how Regatta itself works; read them first{DIM:#}\n\n"
        ));
    }
    render_files(&mut text, &view.files);
    if view.files.is_empty() {
        text.push_str(&format!("{DIM}no commit since {}{DIM:#}\n", &view.base[..10]));
    }
    if let Some(patch) = view.patch.as_deref() {
        render_patch(&mut text, patch);
    }
    if view.is_truncated && view.patch.is_some() {
        text.push_str(&format!(
            "{DIM}… the rest is too long to show; see it with `git diff {} {}`{DIM:#}\n",
            view.base, view.head
        ));
    }
    render_uncommitted(&mut text, view);
    text
}

fn render_uncommitted(text: &mut String, view: &DiffView) {
    if view.uncommitted.is_empty() {
        return;
    }
    text.push_str(&format!("\n{YELLOW}not committed yet{YELLOW:#}\n"));
    let Some(diff) = &view.uncommitted_diff else {
        for path in &view.uncommitted {
            text.push_str(&format!("{}\n", one_line(path)));
        }
        return;
    };
    render_files(text, &diff.files);
    if let Some(patch) = diff.patch.as_deref() {
        render_patch(text, patch);
    }
    if diff.is_truncated && diff.patch.is_some() {
        text.push_str(&format!("{DIM}… the rest is too long to show; see it in the worktree{DIM:#}\n"));
    }
}

fn render_files(text: &mut String, files: &[FileView]) {
    for file in files {
        let lines = format!("+{} -{}", file.lines_added, file.lines_removed);
        text.push_str(&format!("{DIM}{:<9}{DIM:#} {lines:>12}  {}\n", file.status, one_line(&file.path)));
    }
}

fn render_patch(text: &mut String, patch: &str) {
    if !patch.is_empty() {
        text.push('\n');
    }
    for line in patch.lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => GREEN,
            Some(b'-') => RED,
            Some(b'@') => CYAN,
            _ => anstyle::Style::new(),
        };
        text.push_str(&format!("{style}{}{style:#}\n", clean(line)));
    }
}

/// Shows a path on one line: a file's name may hold a newline, and would read as two files.
fn one_line(path: &str) -> String {
    clean(path).replace('\n', "\\n")
}
