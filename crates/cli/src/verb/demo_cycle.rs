//! `regatta demo --workflow cycle`: iterations on one growing task, on a throwaway repository.
//!
//! The tests of the first iteration fail, the second one is clean and is merged, and then the demo extends the cycle, so a
//! third one follows.

use super::demo::greet;
use super::follow::problem_of;
use super::run::{Decides, Foreground};
use crate::columns;
use crate::exit::Exit;
use crate::screen::{DIM, GREEN, Screen, YELLOW, clean};
use regatta_engine::core::run::Status;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::runs::{self, NewRun, RunView};
use regatta_engine::{
    CYCLE_EXTENSION, CYCLE_TITLE, Error, Journal, Project, TaskView, create_cycle_sample, list_tasks,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// More iterations than the demo needs, so that a person may send the work back.
const ITERATIONS_MAX: u32 = 6;

pub(super) async fn play(screen: Screen, folder: &Path, yes: bool) -> Result<Exit, Problem> {
    let project = Arc::new(create_cycle_sample(folder).await?);
    let asks = screen.can_ask() && !yes;
    greet(screen, &project, asks);
    let started = Instant::now();
    let decides = if asks { Decides::PersonAtDemo } else { Decides::Demo };
    let foreground = Foreground::take(&project, screen, decides, "the first iteration", None).await?;
    let run = match begin(&project).await {
        Ok(run) => run,
        Err(error) => {
            foreground.release().await?;
            return Err(error.explain());
        }
    };
    let rested = foreground.follow(run).await?;
    if rested.status() == Status::Completed {
        screen.say(&format!(
            "\n{YELLOW}the demo extends the cycle{YELLOW:#}, as you could do with\n  \
             regatta run signal {run} extend --text \"{CYCLE_EXTENSION}\"\n"
        ));
        let foreground = Foreground::take(&project, screen, decides, "one more iteration", Some(run)).await?;
        if let Err(error) = extend(&project, run).await {
            foreground.release().await?;
            return Err(error.explain());
        }
        foreground.follow(run).await?;
    }
    finish(screen, &project, run, started).await
}

async fn begin(project: &Project) -> Result<RunId, Error> {
    let workflow = runs::find_workflow(Some(project), "cycle")?;
    let input = json!({ "title": CYCLE_TITLE, "max_iterations": ITERATIONS_MAX, "cycle_id": "slug" });
    let new = NewRun { workflow, prd: None, level: None, input, board: true, recording: None };
    runs::create(project, &crate::caller::caller(None), new).await
}

async fn extend(project: &Project, run: RunId) -> Result<(), Error> {
    let input = json!({ "text": CYCLE_EXTENSION });
    runs::signal(project, &crate::caller::caller(None), run, "extend", input).await
}

async fn finish(screen: Screen, project: &Project, run: RunId, started: Instant) -> Result<Exit, Problem> {
    let view = runs::show_run_only(project, run).await?;
    let tasks = list_tasks(project).await?;
    let events = Journal::at_end(project).await?.position();
    let root = project.root().display().to_string();
    let summary = json!({ "root": root, "scripted": true, "events": events, "run": view, "tasks": tasks });
    screen.data(&summary, |_| render(&view, &tasks, &root, started));
    match view.error {
        Some(error) => Err(problem_of(error)),
        None => Ok(Exit::Done),
    }
}

fn render(run: &RunView, tasks: &[TaskView], root: &str, started: Instant) -> String {
    let seconds = started.elapsed().as_secs_f64();
    let (word, style) = if run.status == Status::Completed { ("done", GREEN) } else { ("not done", YELLOW) };
    format!(
        "\n{}\n\n{}\n\n{style}{word}{style:#}: {} iterations, {} merges, {seconds:.1} s\n\n\
         State files, which followed the cycle all the time:\n{files}\n\
         Where to look next:\n  \
         regatta -C {root} up --open    {DIM}the same project on the board{DIM:#}\n  \
         git -C {root} log --graph --oneline\n  \
         regatta -C {root} run show {id} --steps\n  \
         regatta -C {root} run signal {id} extend --text \"…\"\n  \
         {DIM}then `regatta run cycle \"…\"` in a repository of your own{DIM:#}\n",
        tasks_of(tasks),
        iterations_of(&run.state),
        list(&run.state["iterations"]).len(),
        tasks.iter().filter(|task| task.merge_commit.is_some()).count(),
        files = files_of(run, root),
        id = run.id,
    )
}

/// Lists the files of the run that there are: a value that is not there yet has none.
fn files_of(run: &RunView, root: &str) -> String {
    let written = run.files.iter().filter(|file| Path::new(root).join(&file.path).is_file());
    written.map(|file| format!("  {}\n", clean(&file.path))).collect()
}

/// Shows what became of the tasks, in columns that fit a narrow terminal.
fn tasks_of(tasks: &[TaskView]) -> String {
    let row = |task: &TaskView| {
        let merged = task.merge_commit.as_deref().map_or("-", |commit| &commit[..10]).to_owned();
        let (id, sessions) = (task.id.to_string(), task.sessions.to_string());
        [id, task.column.to_string(), sessions, merged, clean(&task.title)]
    };
    let rows = tasks.iter().map(row);
    columns::table(["ID", "COLUMN", "SESSIONS", "MERGED AS", "TITLE"], rows).trim_end().to_owned()
}

/// Shows what each iteration added and what it left open.
fn iterations_of(state: &Value) -> String {
    let text = |value: &Value| clean(value.as_str().unwrap_or("-"));
    let row = |iteration: &Value| {
        let number = &iteration["number"];
        let changes = list(&state["requirement_changes"]);
        let version = changes.iter().rev().find(|change| &change["iteration"] == number);
        let files = list(&state["changes"]).iter().filter(|change| &change["iteration"] == number).count();
        let open: Vec<String> = list(&iteration["issues_found"]).iter().map(text).collect();
        let open = if open.is_empty() { "nothing".to_owned() } else { open.join(", ") };
        let version = version.map_or_else(|| "-".to_owned(), |change| text(&change["version"]));
        [number.to_string(), version, files.to_string(), open]
    };
    let rows = list(&state["iterations"]).iter().map(row);
    columns::table(["ITERATION", "VERSION", "FILES", "OPEN AT ITS END"], rows).trim_end().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
