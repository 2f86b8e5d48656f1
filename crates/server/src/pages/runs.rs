//! The list of runs, and the page of one.

use super::{clock, html, page, shell};
use crate::answer::{Answer, no_route};
use crate::call::Call;
use crate::route::{Kind, Route};
use regatta_board::run::{self, About, STEPS_MAX, TaskLine};
use regatta_board::shell::Section;
use regatta_board::signal;
use regatta_board::words::one_line;
use regatta_engine::core::machine::Column;
use regatta_engine::core::session::Scope;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::list_session_logs;
use regatta_engine::messages::{self, Filter};
use regatta_engine::runs::{self, RunView};

/// How many runs a page of the list has.
const RUNS_MAX: usize = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/runs", "runs", "Show the runs", runs).takes(
            "before",
            Kind::Number,
            "The run before which it begins",
        ),
        Route::get("/fragments/runs", "fragmentRuns", "Show the newest runs", rows),
        page("/runs/{id}", "run", "Show one run", show),
        Route::get(
            "/fragments/runs/{id}/signals/{name}",
            "fragmentSignal",
            "Show the dialog of a signal that a run takes",
            signal_dialog,
        ),
        Route::get("/fragments/runs/{id}/{piece}", "fragmentRun", "Show a piece of a run's page", piece),
    ]
}

async fn load(call: &Call, before: Option<RunId>) -> Result<(Vec<RunView>, Option<u32>), Problem> {
    let runs = runs::list_runs_before(&call.app.project, before, RUNS_MAX).await?;
    let next = runs.last().map(|run| run.id.number()).filter(|id| *id > 1 && runs.len() == RUNS_MAX);
    Ok((runs, next))
}

async fn runs(call: Call) -> Result<Answer, Problem> {
    let (runs, next) = load(&call, call.query.get("before")?).await?;
    let shell = shell(&call.app, Section::Runs, false).await?;
    Ok(html(run::list(&shell, &runs, next, &clock())))
}

async fn rows(call: Call) -> Result<Answer, Problem> {
    let (runs, next) = load(&call, None).await?;
    Ok(html(run::rows(&runs, next, &clock())))
}

async fn load_one(call: &Call) -> Result<About, Problem> {
    let (project, id): (_, RunId) = (call.project(), call.path("id")?);
    let (run, mut steps) = runs::show_run(project, id).await?;
    let steps_before = steps.len().saturating_sub(STEPS_MAX);
    steps.drain(..steps_before);
    let rows = call.app.shared.rows(project).await?;
    let task = |(key, id): (&String, &_)| {
        let row = rows.find(*id)?;
        let class = match row.column {
            Column::Verified => "ok",
            Column::InProgress | Column::WaitingApproval => "acc",
            Column::Backlog => "",
        };
        let title = one_line(&row.title, 60);
        Some(TaskLine { key: key.clone(), id: id.number(), title, class, lines: row.lines })
    };
    Ok(About {
        tasks: run.tasks.iter().filter_map(task).collect(),
        steps,
        steps_before,
        children: runs::list_children(project, id).await?,
        sessions: list_session_logs(project, Scope::Run(id)).await?,
        messages: messages::list_some(project, &Filter { run: Some(id), ..Filter::default() }).await?,
        clock: clock(),
        run,
    })
}

async fn show(call: Call) -> Result<Answer, Problem> {
    let loaded = load_one(&call).await?;
    let shell = shell(&call.app, Section::Runs, false).await?;
    Ok(html(run::page(&shell, &loaded)))
}

async fn signal_dialog(call: Call) -> Result<Answer, Problem> {
    let (id, name): (RunId, String) = (call.path("id")?, call.path("name")?);
    let run = runs::show_run_only(call.project(), id).await?;
    let found = run.signals.iter().find(|signal| signal.name == name);
    let found = found.map(|found| html(signal::dialog(id, found)));
    found.ok_or_else(|| no_route(&format!("/fragments/runs/{id}/signals/{name}")))
}

async fn piece(call: Call) -> Result<Answer, Problem> {
    let name: String = call.path("piece")?;
    let loaded = load_one(&call).await?;
    let found = run::piece(&loaded, &name);
    found.map(html).ok_or_else(|| no_route(&format!("/fragments/runs/{}/{name}", loaded.run.id)))
}
