//! Runs as people and programs see them.

use super::agents::find_park;
use super::orders::{get_run, load_facts, load_index};
use super::steps::{StepView, find_steps};
use crate::core::run::{Hold, Next, Phase, Run, Status};
use crate::core::{Failure, Park, RunId, TaskId};
use crate::error::Error;
use crate::project::Project;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
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
    /// What it is in one word.
    pub status: Status,
    /// How far it is with its step.
    pub phase: &'static str,
    /// The node that it is at.
    pub node: String,
    /// The item that the node works on.
    pub item: Option<String>,
    /// The step that it is at.
    pub step: u64,
    /// The pause before its role is tried again, if the last session broke off and was for no task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parked: Option<Park>,
    /// What it asks a person.
    pub question: Option<String>,
    /// Its items on the board.
    pub tasks: BTreeMap<String, TaskId>,
    /// Its children, if it is at a `map` node.
    pub children: Vec<ChildView>,
    /// Why it failed or is held.
    pub error: Option<Failure>,
    /// What happens next, or what to do.
    pub next: String,
    /// The state.
    pub state: Value,
    /// What it was given.
    pub input: Value,
    /// How often each edge was taken, by scope.
    pub taken: BTreeMap<String, BTreeMap<String, u32>>,
    /// The run that waits for it.
    pub parent: Option<RunId>,
    /// The run that it was forked from.
    pub forked_from: Option<RunId>,
    /// The items that it began anew as a fork, because the commit that they stood at is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anew: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When something last happened to it.
    pub updated_at: Timestamp,
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

/// Shows a run.
pub async fn show_run(project: &Project, run: RunId) -> Result<(RunView, Vec<StepView>), Error> {
    let run_now = get_run(project, run).await?;
    let mut view = view_of(&run_now);
    if let Some(park) = find_park(project, &run_now).await? {
        view.next = format!("`{}` is tried again at {}", run_now.node, park.until);
        view.parked = Some(park);
    }
    Ok((view, find_steps(&load_facts(project, run).await?)))
}

/// Lists the newest runs, newest first.
pub async fn list_runs(project: &Project, count_max: usize) -> Result<Vec<RunView>, Error> {
    let Some(last) = load_index(project).await?.state.last() else { return Ok(Vec::new()) };
    let mut views = Vec::new();
    let numbers = (1..=last.number()).rev().take(count_max);
    for id in numbers.filter_map(|number| RunId::new(number).ok()) {
        views.push(view_of(&get_run(project, id).await?));
    }
    Ok(views)
}

fn view_of(run: &Run) -> RunView {
    let (phase, question, children) = match &run.phase {
        Phase::Publishing => ("publishing", None, Vec::new()),
        Phase::Performing { .. } => ("performing", None, Vec::new()),
        Phase::Asking { question } => ("asking", Some(question.clone()), Vec::new()),
        Phase::Mapping(mapping) => {
            let child = |child: &crate::core::run::Child| ChildView {
                key: child.item.key.clone(),
                run: child.run,
                ended: child.end.is_some(),
            };
            ("mapping", None, mapping.children.iter().map(child).collect())
        }
        Phase::Landing { .. } => ("landing", None, Vec::new()),
        Phase::Ending => ("ending", None, Vec::new()),
        Phase::Completed { .. } => ("completed", None, Vec::new()),
        Phase::Failed { .. } => ("failed", None, Vec::new()),
    };
    let error = match (&run.phase, &run.hold) {
        (Phase::Failed { error }, _) | (_, Some(Hold::Error { error })) => Some(error.clone()),
        _ => None,
    };
    RunView {
        id: run.id,
        workflow: run.workflow.clone(),
        level: run.level,
        status: run.status(),
        phase,
        node: run.node.to_string(),
        item: run.item.clone(),
        step: run.step,
        parked: None,
        question,
        tasks: run.tasks.clone(),
        children,
        next: next_of(run, error.as_ref()),
        error,
        state: run.state.clone(),
        input: run.input.clone(),
        taken: run.taken.clone(),
        parent: run.parent.as_ref().map(|parent| parent.run_id),
        forked_from: run.forked.map(|fork| fork.run_id),
        anew: run.anew.clone(),
        created_at: run.created_at,
        updated_at: run.updated_at,
    }
}

/// Says what happens next by itself, or what a person must do.
fn next_of(run: &Run, error: Option<&Failure>) -> String {
    let id = run.id;
    match (&run.phase, &run.hold) {
        (Phase::Completed { .. }, _) => "nothing; it is done".to_owned(),
        (Phase::Failed { .. }, _) => error.map_or_else(String::new, |error| error.hint.clone()),
        (_, Some(Hold::Paused)) => format!("regatta run resume {id}"),
        (_, Some(Hold::Error { error })) => format!("{}; then regatta run resume {id}", error.hint),
        (_, Some(Hold::Stopping { .. })) => "it is being stopped".to_owned(),
        (Phase::Asking { .. }, None) => format!("regatta run answer {id} \"…\""),
        (Phase::Landing { task, .. }, None) => format!(
            "regatta task diff {task}, then regatta task approve {task} or regatta task reject {task} --reason \"…\""
        ),
        (Phase::Publishing, None) => "its items go on the board".to_owned(),
        (Phase::Performing { .. }, None) => match &run.item {
            Some(item) => format!("`{}` works on {item}", run.node),
            None => format!("`{}` is performed", run.node),
        },
        (Phase::Mapping(_), None) => "its children run".to_owned(),
        (Phase::Ending, None) => "it ends".to_owned(),
    }
}

/// Says in one line where a step leads.
pub fn describe_next(next: &Next) -> String {
    match next {
        Next::Perform { node, item: Some(item) } => format!("{node} for {item}"),
        Next::Perform { node, item: None } | Next::End { node } => node.to_string(),
        Next::Ask { question, .. } => format!("a question: {question}"),
        Next::Map { node, items, .. } => format!("{node}, {} children", items.len()),
        Next::Land { item, task_id, .. } => format!("approval of {item} (#{task_id})"),
    }
}
