//! Calls about runs and workflows.

use super::explain;
use super::tasks::is_moving;
use regatta_engine::core::session::Scope;
use regatta_engine::core::{PrdSlug, Problem, RunId};
use regatta_engine::orders::Caller;
use regatta_engine::runs::{
    self, Drawing, DrawingView, Listed, NewRun, RunView, StepView, WorkflowRow, WorkflowView, list_faults,
    list_workflows, show_workflow,
};
use regatta_engine::{Project, SessionLog, documents, list_session_logs};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a new run is made of.
pub(crate) struct Start {
    pub(crate) workflow: String,
    pub(crate) level: Option<u32>,
    pub(crate) prd: Option<PrdSlug>,
    pub(crate) title: Option<String>,
    pub(crate) input: serde_json::Map<String, Value>,
    pub(crate) board: bool,
}

pub(crate) async fn list(
    project: &Project,
    before: Option<RunId>,
    count_max: usize,
) -> Result<Vec<RunView>, Problem> {
    runs::list_runs_before(project, before, count_max).await.map_err(explain)
}

pub(crate) async fn show(project: &Project, run: RunId) -> Result<RunView, Problem> {
    runs::show_run_only(project, run).await.map_err(explain)
}

/// Tells whether something still happens to a run without a person.
pub(crate) fn is_under_way(run: &RunView) -> bool {
    is_moving(run.waits_for)
}

pub(crate) async fn steps(project: &Project, run: RunId) -> Result<Vec<StepView>, Problem> {
    runs::show_run(project, run).await.map(|(_, steps)| steps).map_err(explain)
}

pub(crate) async fn state_at(project: &Project, run: RunId, step: u64) -> Result<Value, Problem> {
    runs::show_state_at(project, run, step).await.map_err(explain)
}

pub(crate) async fn sessions(project: &Project, run: RunId) -> Result<Vec<SessionLog>, Problem> {
    runs::get_run(project, run).await.map_err(explain)?;
    list_session_logs(project, Scope::Run(run)).await.map_err(explain)
}

pub(crate) async fn start(project: &Project, caller: &Caller, start: Start) -> Result<RunId, Problem> {
    let workflow = find_workflow(project, &start.workflow)?;
    let mut input = start.input;
    if let Some(slug) = &start.prd {
        let prd = documents::get_prd(project, slug).await.map_err(explain)?;
        input.insert("prd".to_owned(), prd.text.into());
        input.insert("title".to_owned(), start.title.unwrap_or(prd.title).into());
    } else if let Some(title) = start.title {
        input.insert("title".to_owned(), title.into());
    }
    let new = NewRun {
        workflow,
        level: start.level,
        prd: start.prd,
        input: Value::Object(input),
        board: start.board,
        recording: None,
    };
    runs::create(project, caller, new).await.map_err(explain)
}

/// Answers what a run asks in a step, or in the one that it is at.
pub(crate) async fn answer(
    project: &Project,
    caller: &Caller,
    (run, step): (RunId, Option<u64>),
    approved: bool,
    text: String,
) -> Result<(), Problem> {
    let step = match step {
        Some(step) => step,
        None => runs::get_run(project, run).await.map_err(explain)?.step,
    };
    runs::answer(project, caller, (run, step), approved, text).await.map_err(explain)
}

pub(crate) async fn pause(project: &Project, caller: &Caller, run: RunId) -> Result<(), Problem> {
    runs::pause(project, caller, run).await.map_err(explain)
}

pub(crate) async fn resume(project: &Project, caller: &Caller, run: RunId) -> Result<(), Problem> {
    runs::resume(project, caller, run).await.map_err(explain)
}

pub(crate) async fn stop(
    project: &Project,
    caller: &Caller,
    run: RunId,
    reason: Option<String>,
) -> Result<(), Problem> {
    runs::stop(project, caller, run, reason).await.map_err(explain)
}

pub(crate) async fn fork(
    project: &Project,
    caller: &Caller,
    run: RunId,
    step: Option<u64>,
    with: Option<&str>,
) -> Result<RunId, Problem> {
    let with = with.map(|name| find_workflow(project, name)).transpose()?;
    runs::fork(project, caller, run, step, with.as_ref()).await.map_err(explain)
}

pub(crate) fn workflows(project: &Project) -> Result<Vec<WorkflowRow>, Problem> {
    let listed = list_workflows(Some(project)).map_err(explain)?;
    Ok(listed.iter().map(WorkflowRow::of).collect())
}

pub(crate) fn workflow(project: &Project, name: &str) -> Result<WorkflowView, Problem> {
    show_workflow(&find_workflow(project, name)?, Some(project)).map_err(explain)
}

pub(crate) fn check_workflow(project: &Project, name: &str) -> Result<Vec<Value>, Problem> {
    Ok(list_faults(&find_workflow(project, name)?))
}

pub(crate) fn draw_workflow(
    project: &Project,
    name: &str,
    level: Option<u32>,
    format: Drawing,
) -> Result<DrawingView, Problem> {
    runs::draw_workflow(&find_workflow(project, name)?, level, format).map_err(explain)
}

pub(crate) fn check_files(files: BTreeMap<String, String>) -> Result<Vec<Value>, Problem> {
    runs::check_files(files).map_err(explain)
}

pub(crate) async fn replay(project: &Project, run: RunId, with: Option<&str>) -> Result<Vec<Value>, Problem> {
    let with = with.map(|name| find_workflow(project, name)).transpose()?;
    let steps = runs::replay(project, run, with.as_ref()).await.map_err(explain)?;
    Ok(steps.iter().map(|step| serde_json::to_value(step).unwrap_or_default()).collect())
}

/// Finds a workflow by its name alone: a client does not choose folders of this machine.
fn find_workflow(project: &Project, name: &str) -> Result<Listed, Problem> {
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(crate::answer::invalid("workflow", "must be a name of `GET /api/workflows`"));
    }
    runs::find_workflow(Some(project), name).map_err(explain)
}
