//! Runs as people and programs see them.

use crate::clock;
use crate::commands::fork_point::find_fork_point;
use crate::commands::run_orders::{get_run, load_facts, load_index};
use crate::core::run::{Child, Hold, MemberCame, MemberState, Next, Phase, Run, Status};
use crate::core::{Failure, Park, RunId, Task, TaskId, WaitsFor};
use crate::error::Error;
use crate::log::{self, Stream};
use crate::project::Project;
use crate::run_files::{self, RunFileView};
use crate::runs::find_within;
use crate::runtime::engine;
use crate::runtime::holder::Holder;
use crate::session::retry::find_park;
use crate::view::collision::{self, CollisionView};
use crate::view::next_move::{NextMove, look};
use crate::view::recovery::{RecoveryView, recover_run};
use crate::view::signals::{self, SignalView};
use crate::view::steps::{StepView, find_steps};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Everything that is shown of a run.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    /// Its number.
    pub id: RunId,
    /// The workflow.
    pub workflow: String,
    /// The level.
    pub level: u32,
    /// Its status in one word.
    pub status: Status,
    /// The phase of its step; `unattended` if it needs an engine and none runs.
    pub phase: &'static str,
    /// Its current node.
    pub node: String,
    /// The item that the node works on.
    pub item: Option<String>,
    /// Its current step.
    pub step: u64,
    /// The pause before its role is tried again, if the last session broke off and had no task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parked: Option<Park>,
    /// Its question to a person.
    pub question: Option<String>,
    /// Its items on the board.
    pub tasks: BTreeMap<String, TaskId>,
    /// What those of them that are not merged are going to collide with, by the key of the item.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub collisions: BTreeMap<String, Vec<CollisionView>>,
    /// Its children, if it is at a `map` node.
    pub children: Vec<ChildView>,
    /// The nodes that it performs at the same time, if it is at a `parallel` node.
    pub members: Vec<MemberView>,
    /// Whether it pauses after its current step.
    pub pausing: bool,
    /// Why it failed or is held, or the error of the task that it waits for.
    pub error: Option<Failure>,
    /// What a person can do about the error; not in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Box<RecoveryView>>,
    /// Whose move it is: `you`, `engine`, or `nobody` when it has ended.
    pub owner: &'static str,
    /// What happens next, or what to do.
    pub next: String,
    /// Who or what makes that happen.
    pub waits_for: WaitsFor,
    /// Until when at the latest.
    pub until: Option<Timestamp>,
    /// The same; a person who lets it pass is overdue.
    pub deadline: Option<Timestamp>,
    /// Whether a person has let the deadline pass.
    pub overdue: bool,
    /// The state.
    pub state: Value,
    /// Its input.
    pub input: Value,
    /// The signals that it takes now; not in a list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalView>,
    /// Its files; not in a list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RunFileView>,
    /// How often each edge was taken, by scope.
    pub taken: BTreeMap<String, BTreeMap<String, u32>>,
    /// The run that waits for it.
    pub parent: Option<RunId>,
    /// The key of its item in that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_item: Option<String>,
    /// The run that it was forked from.
    pub forked_from: Option<RunId>,
    /// The items that a fork started from scratch, because their last commits are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub restarted: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When something last happened to it.
    pub updated_at: Timestamp,
}

impl RunView {
    /// Returns it as a line of the list: a state may be of any size, and there may be many.
    pub fn to_row(&self) -> Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Value::Object(fields) = &mut value {
            for field in ["state", "input", "taken"] {
                fields.shift_remove(field);
            }
        }
        value
    }
}

/// A child as it is shown.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildView {
    /// The key of its item.
    pub key: String,
    /// Its run, once it is started.
    pub run: Option<RunId>,
    /// Whether it has ended.
    pub ended: bool,
}

/// A member of a `parallel` node as it is shown.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    /// The node.
    pub node: String,
    /// The item that it works on.
    pub item: Option<String>,
    /// How far it is: `open`, `returned` or `failed`.
    pub status: &'static str,
}

/// Shows a run with its steps, which replays its events.
pub async fn show_run(project: &Project, run: RunId) -> Result<(RunView, Vec<StepView>), Error> {
    let view = show_run_only(project, run).await?;
    Ok((view, find_steps(&load_facts(project, run).await?)))
}

/// Returns a run as it stood when it came to a step.
pub async fn show_state_at(project: &Project, run: RunId, step: u64) -> Result<Value, Error> {
    let found = find_fork_point(&load_facts(project, run).await?, run, Some(step))?.run;
    let state: Value = found.sheet.state().clone();
    Ok(
        json!({ "runId": run, "step": step, "node": found.node.to_string(), "item": found.item, "state": state }),
    )
}

/// Shows a run without its steps.
pub async fn show_run_only(project: &Project, run: RunId) -> Result<RunView, Error> {
    let run_now = get_run(project, run).await?;
    let has_engine = is_attended(project, engine::find_running(project).await?.as_ref(), run).await?;
    let mut view = view_of(&run_now, look(project, &run_now, has_engine).await?);
    if !run_now.is_over() {
        view.collisions = find_collisions(project, &run_now).await?;
    }
    view.parked = find_park(project, &run_now).await?;
    if let Some(park) = view.parked.as_ref().filter(|_| has_engine) {
        view.next = format!("`{}` is tried again at {}", run_now.node, park.until);
    }
    view.recovery = recover_run(&view).map(Box::new);
    view.files = run_files::show(project, &run_now);
    view.signals = signals::list(project, &run_now).await?;
    Ok(view)
}

async fn find_collisions(
    project: &Project,
    run: &Run,
) -> Result<BTreeMap<String, Vec<CollisionView>>, Error> {
    let streams: Vec<_> = run.tasks.values().map(|task| log::task_stream(*task)).collect();
    let tasks = Stream::<Option<Task>>::load_many(project, &streams).await?;
    let forecasts = tasks.iter().map(|task| task.state.as_ref().map(|task| &task.forecast));
    let listed = run.tasks.keys().zip(forecasts).filter_map(|(key, forecast)| {
        Some((key.clone(), collision::list(forecast.filter(|forecast| !forecast.is_empty())?)))
    });
    Ok(listed.collect())
}

/// Lists the newest runs, newest first.
pub async fn list_runs(project: &Project, count_max: usize) -> Result<Vec<RunView>, Error> {
    list_runs_before(project, None, count_max).await
}

/// Lists the newest runs before one, newest first.
pub async fn list_runs_before(
    project: &Project,
    before: Option<RunId>,
    count_max: usize,
) -> Result<Vec<RunView>, Error> {
    let Some(newest) = load_index(project).await?.state.last() else { return Ok(Vec::new()) };
    let last = before.map_or(newest.number(), |before| newest.number().min(before.number() - 1));
    let engine = engine::find_running(project).await?;
    let mut views = Vec::new();
    let numbers = (1..=last).rev().take(count_max);
    for id in numbers.filter_map(|number| RunId::new(number).ok()) {
        let run = get_run(project, id).await?;
        let has_engine = is_attended(project, engine.as_ref(), id).await?;
        views.push(view_of(&run, look(project, &run, has_engine).await?));
    }
    Ok(views)
}

/// Lists the runs that a run has started, those that have ended too, the oldest first.
pub async fn list_children(project: &Project, run: RunId) -> Result<Vec<RunView>, Error> {
    let run = get_run(project, run).await?;
    let definition = project.definitions().get(project, &run.digest).await?;
    // The family is only read where there can be one.
    if find_within(&definition, &run.within).children.is_empty() {
        return Ok(Vec::new());
    }
    let is_child = |other: &&Run| other.parent.as_ref().is_some_and(|parent| parent.run_id == run.id);
    let mut held = project.families().enter(project, run.id).await?;
    let mut ids: Vec<RunId> = held.family().known.runs().filter(is_child).map(|child| child.id).collect();
    drop(held);
    ids.sort_unstable();
    let engine = engine::find_running(project).await?;
    let mut views = Vec::new();
    for id in ids {
        let child = get_run(project, id).await?;
        let has_engine = is_attended(project, engine.as_ref(), id).await?;
        views.push(view_of(&child, look(project, &child, has_engine).await?));
    }
    Ok(views)
}

/// Tells whether an engine runs that performs the steps of a run.
async fn is_attended(project: &Project, engine: Option<&Holder>, run: RunId) -> Result<bool, Error> {
    match engine.map(|engine| &engine.own) {
        None => Ok(false),
        Some(None) => Ok(true),
        Some(Some(own)) => own.has_run(project, run).await,
    }
}

fn view_of(run: &Run, next_move: NextMove) -> RunView {
    let question = match run.phase() {
        Some(Phase::Asking { question }) => Some(question.clone()),
        _ => None,
    };
    let children = match run.phase() {
        Some(Phase::Mapping(mapping)) => mapping.children().iter().map(view_of_child).collect(),
        _ => Vec::new(),
    };
    RunView {
        id: run.id,
        workflow: run.workflow.clone(),
        level: run.level,
        status: run.status(),
        phase: next_move.phase,
        node: run.node.to_string(),
        item: run.item.clone(),
        step: run.step,
        parked: None,
        question,
        tasks: run.tasks.clone(),
        collisions: BTreeMap::new(),
        children,
        members: run.members().iter().map(view_of_member).collect(),
        pausing: matches!(run.hold(), Some(Hold::Paused)) && run.status() != Status::Paused,
        error: next_move.error,
        recovery: None,
        owner: next_move.owner,
        next: next_move.next,
        waits_for: next_move.wait.waits_for,
        until: next_move.wait.until,
        deadline: next_move.wait.until,
        overdue: next_move.wait.is_overdue(clock::now()),
        state: run.sheet.state().clone(),
        input: run.sheet.input().clone(),
        signals: Vec::new(),
        files: Vec::new(),
        taken: run.taken.clone(),
        parent: run.parent.as_ref().map(|parent| parent.run_id),
        parent_item: run.parent.as_ref().map(|parent| parent.item.clone()),
        forked_from: run.forked.map(|fork| fork.run_id),
        restarted: run.restarted.clone(),
        created_at: run.created_at,
        updated_at: run.updated_at,
    }
}

fn view_of_child(child: &Child) -> ChildView {
    ChildView { key: child.item.key.clone(), run: child.run, ended: child.end.is_some() }
}

fn view_of_member(state: &MemberState) -> MemberView {
    let status = match &state.came {
        // One whose result does not fit is asked again.
        None | Some(MemberCame::Refused { .. }) => "open",
        Some(MemberCame::Returned { .. }) => "returned",
        Some(MemberCame::Failed { .. }) => "failed",
    };
    MemberView { node: state.member.node.to_string(), item: state.member.item.clone(), status }
}

/// Says in one line where a step leads.
pub fn describe_next(next: &Next) -> String {
    match next {
        Next::Perform { node, item: Some(item) } => format!("{node} for {item}"),
        Next::Perform { node, item: None } | Next::Pass { node } | Next::End { node } => node.to_string(),
        Next::Parallel { node, members } => {
            let names: Vec<&str> = members.iter().map(|member| member.node.as_str()).collect();
            format!("{node}: {}", names.join(", "))
        }
        Next::Ask { question, .. } => format!("a question: {question}"),
        Next::Map { node, items, .. } if items.len() == 1 => format!("{node}, 1 child"),
        Next::Map { node, items, .. } => format!("{node}, {} children", items.len()),
        Next::Land { item, task_id, .. } => format!("approval of {item} (#{task_id})"),
    }
}
