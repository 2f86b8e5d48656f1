//! Runs and workflows.

use super::{Awaited as _, Paged as _};
use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::calls;
use crate::calls::runs::Start;
use crate::page_of;
use crate::route::{Kind, Route};
use crate::waiting::Wait;
use http::{StatusCode, header};
use regatta_engine::Versioned;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::orders::Caller;
use regatta_engine::runs::{Drawing, RunView};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/runs", "listRuns", "List the runs, newest first, without their states", list)
            .paged(),
        Route::post("/api/runs", "startRun", "Start a run of a workflow", start).reads::<Begin>().awaited(),
        Route::get("/api/runs/{id}", "showRun", "Show one run", show),
        Route::get("/api/runs/{id}/steps", "listSteps", "List the steps of a run", steps).paged(),
        Route::get(
            "/api/runs/{id}/steps/{step}",
            "showStep",
            "Show the state of a run when it came to a step",
            step,
        ),
        Route::get(
            "/api/runs/{id}/sessions",
            "listRunSessions",
            "List the sessions of a run and its children",
            sessions,
        )
        .paged(),
        Route::post("/api/runs/{id}/answer", "answerRun", "Answer what a run asks", answer)
            .reads::<Reply>()
            .awaited(),
        Route::post(
            "/api/runs/{id}/pause",
            "pauseRun",
            "Pause a run and its children after the current step",
            pause,
        )
        .awaited(),
        Route::post(
            "/api/runs/{id}/resume",
            "resumeRun",
            "Resume a paused run, or retry one that an error holds",
            resume,
        )
        .awaited(),
        Route::post("/api/runs/{id}/stop", "stopRun", "End a run and keep its work", stop)
            .reads::<Stop>()
            .awaited(),
        Route::post("/api/runs/{id}/fork", "forkRun", "Start a new run from a step of this one", fork)
            .reads::<Fork>()
            .awaited(),
        Route::get(
            "/api/runs/{id}/replay",
            "replayRun",
            "Replay a run from the log without agents, and list where it would differ",
            replay,
        )
        .takes("with", Kind::Text, "The workflow to decide by; default: the definition that it started with")
        .paged(),
        Route::get("/api/workflows", "listWorkflows", "List the workflows that can be run", workflows)
            .paged(),
        Route::get("/api/workflows/{name}", "showWorkflow", "Show a workflow", workflow),
        Route::get(
            "/api/workflows/{name}/check",
            "checkWorkflow",
            "List what is wrong with a workflow",
            check,
        )
        .paged(),
        Route::get("/api/workflows/{name}/graph", "drawWorkflow", "Draw a workflow", graph)
            .takes("format", Kind::Text, "mermaid, svg or dot; mermaid by default")
            .takes("level", Kind::Number, "The level to draw; default: the workflow's own"),
        Route::post(
            "/api/workflows/check",
            "checkFiles",
            "List what is wrong with the files of a workflow; nothing is kept",
            check_files,
        )
        .reads::<Files>(),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Files {
    /// The texts, by their names from the workflow's folder, such as `workflow.toml`.
    files: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Begin {
    workflow: String,
    /// How much of the workflow is used; default: the workflow's own.
    #[serde(default)]
    level: Option<u32>,
    /// The slug of the PRD to work from.
    #[serde(default)]
    prd: Option<String>,
    #[serde(default)]
    title: Option<String>,
    /// The input that the workflow asks for.
    #[serde(default)]
    input: Map<String, Value>,
    /// Whether its items become tasks on the board; true by default.
    #[serde(default)]
    board: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reply {
    text: String,
    /// Whether what is asked is agreed to; true by default.
    #[serde(default)]
    approved: Option<bool>,
    /// The step whose question is meant; without it, the one that the run is at.
    #[serde(default)]
    step: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stop {
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fork {
    /// The step to begin with; without it, the last one that the run came to.
    #[serde(default)]
    at: Option<u64>,
    /// Another workflow to continue with, or the same one as it is now.
    #[serde(default)]
    workflow: Option<String>,
}

async fn list(call: Call) -> Result<Answer, Problem> {
    let limit = page_of::limit(&call.query)?;
    let runs = calls::runs::list(&call.app.project, call.query.get("after")?, limit).await?;
    let next = runs.last().map(|run| run.id).filter(|id| id.number() > 1 && runs.len() == limit);
    Ok(page_of::answer(runs.iter().map(RunView::to_row).collect::<Vec<_>>(), next))
}

async fn show(call: Call) -> Result<Answer, Problem> {
    let run = call.path("id")?;
    let view = calls::runs::show(&call.app.project, run).await?;
    Ok(Answer::json(view).version(calls::version(&call.app.project, &Versioned::Run(run)).await?))
}

async fn steps(call: Call) -> Result<Answer, Problem> {
    let steps = calls::runs::steps(&call.app.project, call.path("id")?).await?;
    page_of::cut(&call.query, &steps, |step| step.step.to_string())
}

async fn step(call: Call) -> Result<Answer, Problem> {
    calls::runs::state_at(&call.app.project, call.path("id")?, call.path("step")?).await.map(Answer::json)
}

async fn sessions(call: Call) -> Result<Answer, Problem> {
    let sessions = calls::runs::sessions(&call.app.project, call.path("id")?).await?;
    page_of::cut(&call.query, &sessions, |session| session.session.clone())
}

async fn start(call: Call) -> Result<Answer, Problem> {
    let body: Begin = call.body()?;
    let start = Start {
        workflow: body.workflow,
        level: body.level,
        prd: body.prd.as_deref().map(super::task_changes::prd).transpose()?,
        title: body.title,
        input: body.input,
        board: body.board.unwrap_or(true),
    };
    let run = calls::runs::start(&call.app.project, &call.caller(), start).await?;
    created(&call, run).await
}

async fn answer(call: Call) -> Result<Answer, Problem> {
    let ((run, caller), body): (_, Reply) = (checked(&call).await?, call.body()?);
    let (approved, asked) = (body.approved.unwrap_or(true), (run, body.step));
    calls::runs::answer(&call.app.project, &caller, asked, approved, body.text).await?;
    settled(&call, run).await
}

async fn pause(call: Call) -> Result<Answer, Problem> {
    call.no_body()?;
    let (run, caller) = checked(&call).await?;
    calls::runs::pause(&call.app.project, &caller, run).await?;
    settled(&call, run).await
}

async fn resume(call: Call) -> Result<Answer, Problem> {
    call.no_body()?;
    let (run, caller) = checked(&call).await?;
    calls::runs::resume(&call.app.project, &caller, run).await?;
    settled(&call, run).await
}

async fn stop(call: Call) -> Result<Answer, Problem> {
    let ((run, caller), body): (_, Stop) = (checked(&call).await?, call.body()?);
    calls::runs::stop(&call.app.project, &caller, run, body.reason).await?;
    settled(&call, run).await
}

async fn fork(call: Call) -> Result<Answer, Problem> {
    let ((run, caller), body): (_, Fork) = (checked(&call).await?, call.body()?);
    let forked =
        calls::runs::fork(&call.app.project, &caller, run, body.at, body.workflow.as_deref()).await?;
    created(&call, forked).await
}

async fn workflows(call: Call) -> Result<Answer, Problem> {
    page_of::cut(&call.query, &calls::runs::workflows(&call.app.project)?, |row| row.name.clone())
}

async fn workflow(call: Call) -> Result<Answer, Problem> {
    calls::runs::workflow(&call.app.project, &call.path::<String>("name")?).map(Answer::json)
}

async fn graph(call: Call) -> Result<Answer, Problem> {
    let format = match call.query.text("format") {
        None | Some("mermaid") => Drawing::Mermaid,
        Some("svg") => Drawing::Svg,
        Some("dot") => Drawing::Dot,
        Some(_) => return Err(invalid("format", "must be mermaid, svg or dot")),
    };
    let (name, level): (String, _) = (call.path("name")?, call.query.get("level")?);
    calls::runs::draw_workflow(&call.app.project, &name, level, format).map(Answer::json)
}

async fn check_files(call: Call) -> Result<Answer, Problem> {
    let body: Files = call.body()?;
    Ok(page_of::answer(calls::runs::check_files(body.files)?, None::<u32>))
}

async fn replay(call: Call) -> Result<Answer, Problem> {
    let (run, with) = (call.path("id")?, call.query.text("with"));
    let steps = calls::runs::replay(&call.app.project, run, with).await?;
    page_of::cut_by_number(&call.query, &steps)
}

async fn check(call: Call) -> Result<Answer, Problem> {
    let faults = calls::runs::check_workflow(&call.app.project, &call.path::<String>("name")?)?;
    page_of::cut_by_number(&call.query, &faults)
}

/// Reads the number of the run, and who changes it; refused if the run has moved since the client read it.
async fn checked(call: &Call) -> Result<(RunId, Caller), Problem> {
    let run = call.path("id")?;
    Ok((run, call.caller_about(Versioned::Run(run)).await?))
}

async fn created(call: &Call, run: RunId) -> Result<Answer, Problem> {
    let answer = settled(call, run).await?;
    Ok(answer.status(StatusCode::CREATED).header(header::LOCATION, &format!("/api/runs/{run}")))
}

/// Shows a run as soon as nothing more happens to it, or when the time is over.
async fn settled(call: &Call, run: RunId) -> Result<Answer, Problem> {
    let seq = calls::position(&call.app.project).await?;
    let mut wait = Wait::begin(call).await?;
    let view = loop {
        let view = calls::runs::show(&call.app.project, run).await?;
        if !calls::runs::is_under_way(&view) || !wait.is_worth_another_look().await? {
            break view;
        }
    };
    let status = if calls::runs::is_under_way(&view) { StatusCode::ACCEPTED } else { StatusCode::OK };
    let version = calls::version(&call.app.project, &Versioned::Run(run)).await?;
    Ok(Answer::json(view).version(version).seq(seq).status(status))
}
