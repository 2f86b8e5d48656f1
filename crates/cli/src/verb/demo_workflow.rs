//! `regatta demo --workflow`: a workflow from a requirements document to merged tasks, on a throwaway repository.

use super::demo::{greet, table_of};
use super::follow::problem_of;
use super::run::{Decides, Foreground};
use crate::exit::Exit;
use crate::screen::{DIM, GREEN, Screen, YELLOW};
use regatta_engine::core::document::find_title;
use regatta_engine::core::run::Status;
use regatta_engine::core::{AnyEvent, Event, Problem, RunId, TaskId};
use regatta_engine::runs::{self, NewRun, RunView, StepView};
use regatta_engine::{
    Error, Journal, Project, TaskView, create_speckit_sample, create_team_sample, list_tasks,
};
use regatta_flow::OutcomeKind;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// More runs than a demo has.
const RUNS_MAX: usize = 100;

/// Creates the project that the demo of a workflow plays on, and returns its requirements document.
pub(super) async fn create(folder: &Path, workflow: &str) -> Result<(Project, &'static str), Error> {
    match workflow {
        "team" => create_team_sample(folder).await,
        _ => create_speckit_sample(folder).await,
    }
}

pub(super) async fn play(screen: Screen, folder: &Path, workflow: &str, yes: bool) -> Result<Exit, Problem> {
    let (project, prd) = create(folder, workflow).await?;
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
    let view = runs::show_run_only(project, run).await?;
    let tasks = list_tasks(project).await?;
    let mut journal = Journal::after(project, 0);
    let forecast: BTreeSet<TaskId> =
        journal.read().await?.iter().filter_map(|entry| find_forecast(&entry.event)).collect();
    let steps = list_steps(project).await?;
    let events = journal.position();
    let root = project.root().display().to_string();
    let summary = json!({ "root": root, "scripted": true, "events": events, "run": view, "tasks": tasks });
    let end = End {
        run: &view,
        steps: &steps,
        tasks: &tasks,
        forecast: forecast.len(),
        root: &root,
        files: list_files(project.root()),
    };
    screen.data(&summary, |_| end.render(started));
    match view.error {
        Some(error) => Err(problem_of(error)),
        None => Ok(Exit::Done),
    }
}

/// Lists the files below the folder of the workflow's state files, sorted.
fn list_files(root: &Path) -> Vec<String> {
    let mut folders = vec![root.join(".regatta/coordination")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.strip_prefix(root) {
                _ if path.is_dir() => folders.push(path),
                Ok(file) if path.extension().is_some_and(|kind| kind == "json") => {
                    files.push(file.display().to_string());
                }
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// Lists the steps of the run and of its children.
async fn list_steps(project: &Project) -> Result<Vec<StepView>, Error> {
    let mut steps = Vec::new();
    for run in runs::list_runs(project, RUNS_MAX).await? {
        steps.extend(runs::show_run(project, run.id).await?.1);
    }
    Ok(steps)
}

/// Returns the task that an event forecasts a collision for.
fn find_forecast(event: &AnyEvent) -> Option<TaskId> {
    match event {
        AnyEvent::Task(Event::CollisionsForecast { task_id, forecast }) if !forecast.is_empty() => {
            Some(*task_id)
        }
        _ => None,
    }
}

/// What the demo of a workflow came to.
struct End<'a> {
    run: &'a RunView,
    steps: &'a [StepView],
    tasks: &'a [TaskView],
    /// How many tasks were forecast to collide.
    forecast: usize,
    root: &'a str,
    /// The state files that the run has written.
    files: Vec<String>,
}

impl End<'_> {
    fn render(&self, started: Instant) -> String {
        let End { run, steps, tasks, root, .. } = self;
        let (word, style) =
            if run.status == Status::Completed { ("done", GREEN) } else { ("not done", YELLOW) };
        let looks = self.looks();
        let width = looks.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
        let look = |(command, why): &(String, &str)| match why.is_empty() {
            true => format!("  {command}\n"),
            false => format!("  {command:width$}  {DIM}{why}{DIM:#}\n"),
        };
        let files = match &*self.files {
            [] => String::new(),
            files => format!(
                "\nState files, for you and for jq:\n{}",
                files.iter().map(|file| format!("  {file}\n")).collect::<String>()
            ),
        };
        format!(
            "\n{}\n\n{style}{word}{style:#}: {} tasks merged in {} steps ({}), {:.1} s\n{files}\nWhere to look next:\n{}  \
             {DIM}then `regatta workflow new` in a repository of your own{DIM:#}\n",
            table_of(tasks),
            tasks.iter().filter(|task| task.merge_commit.is_some()).count(),
            steps.len(),
            self.tell(),
            started.elapsed().as_secs_f64(),
            looks.iter().map(look).collect::<String>().replace("ROOT", root),
        )
    }

    /// Says what went another way than straight on.
    fn tell(&self) -> String {
        let count = |edge: &str| self.steps.iter().filter(|step| step.edge == edge).count();
        let conflicts = self.steps.iter().filter(|step| step.outcome == Some(OutcomeKind::Conflict)).count();
        match &*self.run.workflow {
            "team" => format!(
                "{} sent back by QA, {} conflict resolved, {} tasks warned of it",
                count("tests-failed"),
                conflicts,
                self.forecast
            ),
            _ => {
                format!(
                    "{} after a failed validation, {} after a review",
                    count("coder-retry"),
                    count("reviewer-reject")
                )
            }
        }
    }

    /// Lists commands that show more, with what they show.
    fn looks(&self) -> Vec<(String, &'static str)> {
        let RunView { id, workflow, .. } = self.run;
        let mut looks = vec![
            ("regatta -C ROOT up --open".to_owned(), "the same project on the board"),
            ("git -C ROOT log --graph --oneline".to_owned(), ""),
            (format!("regatta -C ROOT run show {id} --steps"), ""),
            (format!("regatta -C ROOT workflow graph {workflow}"), ""),
        ];
        looks.extend(match &**workflow {
            "team" => vec![
                ("regatta -C ROOT run show 2 --steps".to_owned(), "what happened to the first group"),
                ("regatta -C ROOT messages".to_owned(), "what the roles told each other"),
                ("regatta -C ROOT task show 2".to_owned(), "the task that did not merge at first"),
            ],
            _ => vec![(
                format!("regatta -C ROOT eval --run {id} --explain 'metrics.totalAttempts > metrics.tasksCompleted'"),
                "",
            )],
        });
        looks
    }
}
