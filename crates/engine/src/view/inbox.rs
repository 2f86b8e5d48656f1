//! What waits for a person, oldest first: the one list that the inbox, the API and the counts are made from.
//!
//! What continues by itself is not in it: a pause with a time, a queue, work that an agent does. Nor is work that a person
//! does by hand: nobody waits for them but themselves.

use crate::clock;
use crate::commands::questions::list_questions;
use crate::core::machine::Column;
use crate::core::run::Status;
use crate::core::{Code, Failure, RunId, TaskId, WaitsFor};
use crate::error::Error;
use crate::log::task_row::TaskRow;
use crate::project::Project;
use crate::view::cards::list_cards;
use crate::view::question::QuestionView;
use crate::view::run::{RunView, list_runs};
use crate::view::task::{TaskView, UNATTENDED};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;

/// How many of the newest runs are looked at: an older one that still waits is found through its task.
const RUNS_MAX: usize = 200;

/// What kind of thing waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InboxKind {
    /// A diff to approve or to send back.
    Review,
    /// An agent that asks for permission.
    Permission,
    /// A run that asks a question.
    Question,
    /// Work that failed, conflicts, or was stopped.
    Problem,
    /// A budget that is used up.
    Budget,
    /// A run that is paused.
    Paused,
}

/// One thing that waits for a person.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    /// What kind of thing.
    pub kind: InboxKind,
    /// Since when.
    pub since: Timestamp,
    /// The task that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskView>,
    /// The run that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<WaitingRun>,
    /// The question of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionView>,
}

/// A run that waits, without its state.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingRun {
    /// Its number.
    pub id: RunId,
    /// The workflow.
    pub workflow: String,
    /// The node that it is at.
    pub node: String,
    /// Its current step.
    pub step: u64,
    /// The item that the node works on.
    pub item: Option<String>,
    /// What it asks.
    pub question: Option<String>,
    /// Why it is held.
    pub error: Option<Failure>,
}

/// Returns what waits for a person, oldest first; `rows` are those of all tasks.
pub async fn list_inbox(project: &Project, rows: &[TaskRow]) -> Result<Vec<InboxItem>, Error> {
    let mut items = Vec::new();
    let questions = list_questions(project).await?;
    let asking: BTreeSet<TaskId> = questions.iter().filter_map(|(_, asked)| asked.subject.task_id).collect();
    let is_meant = |row: &&TaskRow| asking.contains(&row.id) || may_wait(row);
    let wanted: Vec<TaskId> = rows.iter().filter(is_meant).map(|row| row.id).collect();
    let tasks = list_cards(project, &wanted, |_| false).await?;
    for (name, asked) in questions {
        let task = asked.subject.task_id.and_then(|id| tasks.iter().find(|task| task.id == id).cloned());
        // A question whose engine is gone is asked again by the next one.
        if task.as_ref().is_some_and(|task| task.question.is_none()) {
            continue;
        }
        let since = task.as_ref().map_or_else(clock::now, |task| task.updated_at);
        let question = Some(QuestionView::of(name, asked));
        items.push(InboxItem { kind: InboxKind::Permission, since, task, run: None, question });
    }
    let others = tasks.into_iter().filter(|task| !asking.contains(&task.id) && waits(task));
    items.extend(others.map(|task| InboxItem {
        kind: kind_of(&task),
        since: task.updated_at,
        task: Some(task),
        run: None,
        question: None,
    }));
    items.extend(list_runs(project, RUNS_MAX).await?.into_iter().filter_map(of_run));
    items.sort_by_key(|item| item.since);
    Ok(items)
}

/// Tells by its row whether a task can wait for a person.
fn may_wait(row: &TaskRow) -> bool {
    match row.column {
        Column::Backlog => row.error.is_some(),
        Column::InProgress => row.owner == "you" && row.phase != UNATTENDED && row.phase != "by_hand",
        Column::WaitingApproval => row.owner == "you" && row.phase != UNATTENDED,
        Column::Verified => row.owner == "you" && !row.hidden,
    }
}

fn waits(task: &TaskView) -> bool {
    task.error.is_some() || task.waits_for == WaitsFor::You
}

fn kind_of(task: &TaskView) -> InboxKind {
    match &task.error {
        Some(error) if error.code == Code::BudgetExceeded => InboxKind::Budget,
        Some(_) => InboxKind::Problem,
        None if task.column != Column::WaitingApproval => InboxKind::Problem,
        None if task.checks.iter().any(|check| !check.passed) => InboxKind::Problem,
        None => InboxKind::Review,
    }
}

/// A run that waits at a task or for its children has that task or those children in the list.
fn of_run(run: RunView) -> Option<InboxItem> {
    let is_over = matches!(run.status, Status::Completed | Status::Failed);
    if is_over || run.owner != "you" || run.phase == UNATTENDED {
        return None;
    }
    let is_paused = run.status == Status::Paused;
    let kind = match (&run.question, &run.error) {
        (Some(_), _) => InboxKind::Question,
        (None, _) if matches!(run.phase, "landing" | "mapping") && !is_paused => return None,
        (None, Some(error)) if error.code == Code::BudgetExceeded => InboxKind::Budget,
        (None, Some(_)) => InboxKind::Problem,
        (None, None) if is_paused => InboxKind::Paused,
        // It waits because a run above it is paused.
        (None, None) => return None,
    };
    let waiting = WaitingRun {
        id: run.id,
        workflow: run.workflow,
        node: run.node,
        step: run.step,
        item: run.item,
        question: run.question,
        error: run.error,
    };
    Some(InboxItem { kind, since: run.updated_at, task: None, run: Some(waiting), question: None })
}
