//! `regatta demo --workflow`: a workflow from a requirements document to merged tasks, on a throwaway repository.

use super::demo::{greet, table_of};
use super::follow::problem_of;
use super::run::{Decides, Foreground};
use crate::exit::Exit;
use crate::screen::{DIM, GREEN, Screen, YELLOW};
use regatta_engine::core::document::find_title;
use regatta_engine::core::run::Status;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::runs::{self, NewRun, RunView, StepView};
use regatta_engine::{Error, Journal, Project, TaskView, create_speckit_sample, list_tasks};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub(super) async fn play(screen: Screen, folder: &Path, workflow: &str, yes: bool) -> Result<Exit, Problem> {
    let (project, prd) = create_speckit_sample(folder).await?;
    let asks = screen.can_ask() && !yes;
    greet(screen, &project, asks);
    let started = Instant::now();
    let project = Arc::new(project);
    let decides = if asks { Decides::PersonAtDemo } else { Decides::Demo };
    let foreground = Foreground::take(&project, screen, decides, "reading the document", None).await?;
    match begin(&project, workflow, prd).await {
        Ok(run) => {
            foreground.follow(run).await?;
            finish(screen, &project, run, started).await
        }
        Err(error) => {
            foreground.release().await?;
            Err(error.explain())
        }
    }
}

async fn begin(project: &Project, workflow: &str, prd: &str) -> Result<RunId, Error> {
    let workflow = runs::find_workflow(Some(project), workflow)?;
    let input = json!({ "prd": prd, "title": find_title(prd).unwrap_or_default() });
    let caller = crate::caller::caller(None);
    runs::create(
        project,
        &caller,
        NewRun { workflow, prd: None, level: None, input, board: true, recording: None },
    )
    .await
}

async fn finish(screen: Screen, project: &Project, run: RunId, started: Instant) -> Result<Exit, Problem> {
    let (view, steps) = runs::show_run(project, run).await?;
    let tasks = list_tasks(project).await?;
    let events = Journal::at_end(project).await?.position();
    let root = project.root().display().to_string();
    let summary = json!({ "root": root, "scripted": true, "events": events, "run": view, "tasks": tasks });
    screen.data(&summary, |_| render(&view, &steps, &tasks, &root, started));
    match view.error {
        Some(error) => Err(problem_of(error)),
        None => Ok(Exit::Done),
    }
}

fn render(run: &RunView, steps: &[StepView], tasks: &[TaskView], root: &str, started: Instant) -> String {
    let seconds = started.elapsed().as_secs_f64();
    let count = |edge: &str| steps.iter().filter(|step| step.edge == edge).count();
    let (word, style) = if run.status == Status::Completed { ("done", GREEN) } else { ("not done", YELLOW) };
    format!(
        "\n{}\n\n{style}{word}{style:#}: {} tasks merged in {} steps ({} after a failed validation, {} after a review), \
         {seconds:.1} s\n\n\
         Where to look next:\n  \
         regatta -C {root} up --open    {DIM}the same project on the board{DIM:#}\n  \
         git -C {root} log --graph --oneline\n  \
         regatta -C {root} run show {id} --steps\n  \
         regatta -C {root} workflow graph {name}\n  \
         regatta -C {root} eval --run {id} --explain 'metrics.totalAttempts > metrics.tasksCompleted'\n  \
         {DIM}then `regatta workflow new` in a repository of your own{DIM:#}\n",
        table_of(tasks),
        tasks.iter().filter(|task| task.merge_commit.is_some()).count(),
        steps.len(),
        count("coder-retry"),
        count("reviewer-reject"),
        id = run.id,
        name = run.workflow,
    )
}
