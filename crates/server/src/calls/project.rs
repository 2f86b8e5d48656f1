//! Calls about the project as a whole: its engine, agents, questions, cost and health.

use super::explain;
use crate::rows::Rows;
use regatta_board::words::Clock;
use regatta_engine::accounts::get_account;
use regatta_engine::core::machine::Column;
use regatta_engine::core::session::{Grant, Scope, Spent};
use regatta_engine::core::{Problem, RunId, TaskId};
use regatta_engine::cost::{CostQuery, CostView, find_cost};
use regatta_engine::orders::Caller;
use regatta_engine::{
    AgentView, Finding, Holder, InboxItem, InstalledView, Limit, Project, QuestionView, TaskRow, TaskView,
    add_to_config, answer_question, examine, find_installed, list_agents, list_cards, list_inbox,
    list_questions, list_rows, mend, raise_limit,
};
use std::time::{SystemTime, UNIX_EPOCH};

/// Finds the process that runs the engine.
pub(crate) async fn find_engine(project: &Project) -> Result<Option<Holder>, Problem> {
    regatta_engine::find_running(project).await.map_err(explain)
}

pub(crate) async fn agents(project: &Project) -> Result<Vec<AgentView>, Problem> {
    list_agents(project).await.map_err(explain)
}

pub(crate) async fn questions(project: &Project) -> Result<Vec<QuestionView>, Problem> {
    let found = list_questions(project).await.map_err(explain)?;
    Ok(found.into_iter().map(|(id, asked)| QuestionView::of(id, asked)).collect())
}

pub(crate) async fn answer(
    project: &Project,
    caller: &Caller,
    question: String,
    is_allowed: bool,
) -> Result<QuestionView, Problem> {
    let leave = if is_allowed { Grant::Allowed } else { Grant::Denied };
    let asked = answer_question(project, caller, &question, leave).await.map_err(explain)?;
    Ok(QuestionView::of(question, asked))
}

pub(crate) async fn cost(
    project: &Project,
    by: CostQuery,
    task: Option<TaskId>,
    run: Option<RunId>,
) -> Result<CostView, Problem> {
    find_cost(project, by, task, run).await.map_err(explain)
}

/// Looks for what does not add up, and repairs what can be repaired if that is asked for.
pub(crate) async fn examine_all(project: &Project, is_fix: bool) -> Result<Vec<Finding>, Problem> {
    let mut findings = examine(project).await.map_err(explain)?;
    if is_fix && findings.iter().any(|finding| finding.can_fix) {
        mend(project, &mut findings).await.map_err(explain)?;
    }
    Ok(findings)
}

/// Returns the rows of all tasks.
pub(crate) async fn rows(project: &Project) -> Result<Vec<TaskRow>, Problem> {
    list_rows(project).await.map_err(explain)
}

/// Returns what waits for a person, oldest first.
pub(crate) async fn inbox(project: &Project, rows: &[TaskRow]) -> Result<Vec<InboxItem>, Problem> {
    list_inbox(project, rows).await.map_err(explain)
}

/// Returns these tasks as cards show them.
pub(crate) async fn cards(
    project: &Project,
    tasks: &[TaskId],
    rows: &Rows,
) -> Result<Vec<TaskView>, Problem> {
    list_cards(project, tasks, |on| rows.is_open(on)).await.map_err(explain)
}

/// Finds the agents that are installed, which takes a while.
pub(crate) async fn installed(project: &Project) -> Vec<InstalledView> {
    find_installed(project).await
}

/// Writes entries for installed agents into the config; returns those that are new.
pub(crate) async fn add_installed(project: &Project) -> Result<Vec<InstalledView>, Problem> {
    let mut found = find_installed(project).await;
    found.retain(|agent| !agent.is_known);
    add_to_config(project, &found).map_err(explain)?;
    Ok(found)
}

/// Returns what was paid today, in millionths of a dollar; nothing if no agent says what it costs.
pub(crate) async fn spent_today(project: &Project, clock: &Clock) -> Result<Option<u64>, Problem> {
    let today = clock.now.to_zoned(clock.zone.clone()).date().to_string();
    let days = find_cost(project, CostQuery::Days, None, None).await.map_err(explain)?;
    let paid = days.lines.iter().filter(|line| line.name == today).map(|line| line.spent.cost_micros).sum();
    Ok(Some(paid).filter(|paid| *paid > 0))
}

/// Writes a limit of a budget into the config.
pub(crate) fn set_limit(project: &Project, limit: &Limit) -> Result<(), Problem> {
    raise_limit(project, limit).map_err(explain)
}

/// What is counted for Prometheus.
pub(crate) struct Figures {
    pub(crate) by_column: Vec<(&'static str, u64)>,
    pub(crate) queued: u64,
    /// How long the task that has waited longest in the queue has waited.
    pub(crate) queue_age_seconds: u64,
    pub(crate) for_you: u64,
    pub(crate) questions: u64,
    pub(crate) running: u64,
    pub(crate) spent: Spent,
}

pub(crate) async fn figures(project: &Project) -> Result<Figures, Problem> {
    let rows = list_rows(project).await.map_err(explain)?;
    let account = get_account(project, Scope::Project).await.map_err(explain)?;
    let count = |is_meant: &dyn Fn(&TaskRow) -> bool| rows.iter().filter(|row| is_meant(row)).count() as u64;
    let queued_since = rows.iter().filter(|row| row.queue_position.is_some()).map(|row| row.since).min();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let age = |since: i64| now.saturating_sub(u64::try_from(since).unwrap_or_default());
    Ok(Figures {
        queue_age_seconds: queued_since.map_or(0, age),
        by_column: Column::ALL.map(|column| (column.as_str(), count(&|row| row.column == column))).into(),
        queued: count(&|row| row.queue_position.is_some()),
        for_you: count(&|row| row.owner == "you"),
        questions: account.questions.len() as u64,
        running: account.held.len() as u64,
        spent: account.spent,
    })
}
