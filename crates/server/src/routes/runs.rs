//! Runs and workflows.

use super::{Awaited as _, Paged as _};
use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::page_of;
use crate::route::{Kind, Route};
use crate::waiting::{Wait, is_moving};
use http::{StatusCode, header};
use regatta_engine::core::session::Scope;
use regatta_engine::core::{PrdSlug, Problem, RunId};
use regatta_engine::orders::Caller;
use regatta_engine::runs::{
    self, Drawing, Listed, NewRun, RunView, WorkflowRow, list_faults, list_workflows, show_workflow,
};
use regatta_engine::{Versioned, documents, list_session_logs};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/runs", "listRuns", "List the runs, newest first, without their states", list)
            .paged(),
        Route::post("/api/runs", "startRun", "Start a run of a workflow", start)
            .reads::<Begin>()
            .awaited()
            .creates(),
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
        Route::post("/api/runs/{id}/signal", "signalRun", "Send a signal to a run", signal)
            .reads::<Signal>()
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
            .awaited()
            .creates(),
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
    level: Option<u32>,
    /// The slug of the PRD to work from.
    #[schemars(with = "Option<String>")]
    prd: Option<PrdSlug>,
    title: Option<String>,
    /// The input that the workflow asks for.
    #[serde(default)]
    input: Map<String, Value>,
    /// Whether its items become tasks on the board; true by default.
    board: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reply {
    text: String,
    /// Whether what is asked is agreed to; true by default.
    approved: Option<bool>,
    /// The step whose question is meant; without it, the one that the run is at.
    step: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Signal {
    /// One of the `signals` of the run.
    signal: String,
    /// What the schema of the signal asks for.
    #[serde(default)]
    input: Map<String, Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stop {
    reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fork {
    /// The step to begin with; without it, the last one that the run came to.
    at: Option<u64>,
    /// Another workflow to continue with, or the same one as it is now.
    workflow: Option<String>,
}

async fn list(call: Call) -> Result<Answer, Problem> {
    let limit = page_of::limit(&call.query)?;
    let runs = runs::list_runs_before(call.project(), call.query.get("after")?, limit).await?;
    let next = runs.last().map(|run| run.id).filter(|id| id.number() > 1 && runs.len() == limit);
    Ok(page_of::answer(runs.iter().map(RunView::to_row).collect::<Vec<_>>(), next))
}

async fn show(call: Call) -> Result<Answer, Problem> {
    let run = call.path("id")?;
    call.show(&Versioned::Run(run), runs::show_run_only(call.project(), run).await?).await
}

async fn steps(call: Call) -> Result<Answer, Problem> {
    let (_, steps) = runs::show_run(call.project(), call.path("id")?).await?;
    page_of::cut(&call.query, &steps, |step| step.step.to_string())
}

async fn step(call: Call) -> Result<Answer, Problem> {
    Ok(Answer::json(runs::show_state_at(call.project(), call.path("id")?, call.path("step")?).await?))
}

async fn sessions(call: Call) -> Result<Answer, Problem> {
    let run = call.path("id")?;
    runs::get_run(call.project(), run).await?;
    let sessions = list_session_logs(call.project(), Scope::Run(run)).await?;
    page_of::cut(&call.query, &sessions, |session| session.session.clone())
}

async fn start(call: Call) -> Result<Answer, Problem> {
    let body: Begin = call.body()?;
    let workflow = find_workflow(&call, &body.workflow)?;
    let (mut input, mut title) = (body.input, body.title);
    if let Some(slug) = &body.prd {
        let prd = documents::get_prd(call.project(), slug).await?;
        input.insert("prd".to_owned(), prd.text.into());
        title.get_or_insert(prd.title);
    }
    input.extend(title.map(|title| ("title".to_owned(), title.into())));
    let (input, board) = (Value::Object(input), body.board.unwrap_or(true));
    let new = NewRun { workflow, level: body.level, prd: body.prd, input, board, recording: None };
    let run = runs::create(call.project(), &call.caller(), new).await?;
    created(&call, run).await
}

async fn answer(call: Call) -> Result<Answer, Problem> {
    let ((run, caller), body): (_, Reply) = (checked(&call).await?, call.body()?);
    let step = match body.step {
        Some(step) => step,
        None => runs::get_run(call.project(), run).await?.step,
    };
    runs::answer(call.project(), &caller, (run, step), body.approved.unwrap_or(true), body.text).await?;
    settled(&call, run).await
}

async fn signal(call: Call) -> Result<Answer, Problem> {
    let ((run, caller), body): (_, Signal) = (checked(&call).await?, call.body()?);
    runs::signal(call.project(), &caller, run, &body.signal, Value::Object(body.input)).await?;
    settled(&call, run).await
}

async fn pause(call: Call) -> Result<Answer, Problem> {
    call.no_body()?;
    let (run, caller) = checked(&call).await?;
    runs::pause(call.project(), &caller, run).await?;
    settled(&call, run).await
}

async fn resume(call: Call) -> Result<Answer, Problem> {
    call.no_body()?;
    let (run, caller) = checked(&call).await?;
    runs::resume(call.project(), &caller, run).await?;
    settled(&call, run).await
}

async fn stop(call: Call) -> Result<Answer, Problem> {
    let ((run, caller), body): (_, Stop) = (checked(&call).await?, call.body()?);
    runs::stop(call.project(), &caller, run, body.reason).await?;
    settled(&call, run).await
}

async fn fork(call: Call) -> Result<Answer, Problem> {
    let ((run, caller), body): (_, Fork) = (checked(&call).await?, call.body()?);
    let workflow = body.workflow.map(|name| find_workflow(&call, &name)).transpose()?;
    let forked = runs::fork(call.project(), &caller, run, body.at, workflow.as_ref()).await?;
    created(&call, forked).await
}

async fn workflows(call: Call) -> Result<Answer, Problem> {
    let listed = list_workflows(Some(call.project()))?;
    let rows: Vec<WorkflowRow> = listed.iter().map(WorkflowRow::of).collect();
    page_of::cut(&call.query, &rows, |row| row.name.clone())
}

async fn workflow(call: Call) -> Result<Answer, Problem> {
    Ok(Answer::json(show_workflow(&named_workflow(&call)?, Some(call.project()))?))
}

async fn graph(call: Call) -> Result<Answer, Problem> {
    let format = match call.query.text("format") {
        None | Some("mermaid") => Drawing::Mermaid,
        Some("svg") => Drawing::Svg,
        Some("dot") => Drawing::Dot,
        Some(_) => return Err(invalid("format", "must be mermaid, svg or dot")),
    };
    let level = call.query.get("level")?;
    Ok(Answer::json(runs::draw_workflow(&named_workflow(&call)?, level, format)?))
}

async fn check_files(call: Call) -> Result<Answer, Problem> {
    let body: Files = call.body()?;
    Ok(page_of::answer(runs::check_files(body.files)?, None::<u32>))
}

async fn replay(call: Call) -> Result<Answer, Problem> {
    let with = call.query.text("with").map(|name| find_workflow(&call, name)).transpose()?;
    let steps = runs::replay(call.project(), call.path("id")?, with.as_ref()).await?;
    page_of::cut_by_number(&call.query, &steps)
}

async fn check(call: Call) -> Result<Answer, Problem> {
    page_of::cut_by_number(&call.query, &list_faults(&named_workflow(&call)?))
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
    let seq = call.position().await?;
    let mut wait = Wait::begin(call).await?;
    let view = loop {
        let view = runs::show_run_only(call.project(), run).await?;
        if !is_moving(view.waits_for) || !wait.is_worth_another_look().await? {
            break view;
        }
    };
    let status = if is_moving(view.waits_for) { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok(call.show(&Versioned::Run(run), view).await?.seq(seq).status(status))
}

fn named_workflow(call: &Call) -> Result<Listed, Problem> {
    find_workflow(call, &call.path::<String>("name")?)
}

/// Finds a workflow by its name alone: a client does not choose folders of this machine.
fn find_workflow(call: &Call, name: &str) -> Result<Listed, Problem> {
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(invalid("workflow", "must be a name of `GET /api/workflows`"));
    }
    Ok(runs::find_workflow(Some(call.project()), name)?)
}
