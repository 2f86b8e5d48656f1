//! What sessions used, as people and programs see it.

use crate::commands::accounts;
use crate::commands::run_orders::get_run;
use crate::core::session::{Event, Scope, Spent, Subject, Usage};
use crate::core::{Fact, RunId, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::view::session_log;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum CostQuery {
    Days,
    Tasks,
    Runs,
    Agents,
    Sessions,
}

/// Lines and their sum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostView {
    /// What a line is about.
    pub by: &'static str,
    /// The lines.
    pub lines: Vec<CostLine>,
    /// Their sum.
    pub total: CostLine,
}

/// What one day, task, run, agent or session used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostLine {
    /// Which.
    pub name: String,
    /// What it used.
    #[serde(flatten)]
    pub spent: Spent,
    /// How many of the sessions are still running: what they used is what their agents have said so far.
    pub running: u64,
}

impl CostLine {
    fn add_running(&mut self, usage: &Usage) {
        self.spent = self.spent.plus(usage);
        self.running += 1;
    }
}

/// Counts what was used, in all or by the sessions of one task or run.
pub async fn find_cost(
    project: &Project,
    by: CostQuery,
    task: Option<TaskId>,
    run: Option<RunId>,
) -> Result<CostView, Error> {
    let scope = task.map(Scope::Task).or(run.map(Scope::Run)).unwrap_or(Scope::Project);
    let running = session_log::list_running(project, scope).await?;
    let total = accounts::get_account(project, scope).await?.spent;
    let mut lines = match (by, scope) {
        (CostQuery::Days, Scope::Project) => of_accounts(project, "day").await?,
        (CostQuery::Tasks, Scope::Project) => of_accounts(project, "task").await?,
        (CostQuery::Runs, Scope::Project) => of_runs(project).await?,
        _ => of_sessions(&accounts::list_sessions(project, scope).await?, by),
    };
    let mut total = CostLine { name: "total".to_owned(), spent: total, running: 0 };
    for (subject, usage) in &running {
        total.add_running(usage);
        // Without a scope the sessions of a child are counted with the run that a person began.
        let name = match (by, scope) {
            (CostQuery::Runs, Scope::Project) => name_of_root(subject),
            _ => name_of(subject, by),
        };
        if matches!((by, scope), (CostQuery::Tasks | CostQuery::Runs, Scope::Project)) && name == "-" {
            continue;
        }
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.add_running(usage),
            None => {
                let mut line = CostLine { name, spent: Spent::default(), running: 0 };
                line.add_running(usage);
                lines.push(line);
            }
        }
    }
    let by = match by {
        CostQuery::Days => "day",
        CostQuery::Tasks => "task",
        CostQuery::Runs => "run",
        CostQuery::Agents => "agent",
        CostQuery::Sessions => "session",
    };
    Ok(CostView { by, lines, total })
}

async fn of_accounts(project: &Project, kind: &str) -> Result<Vec<CostLine>, Error> {
    let accounts = accounts::list_accounts(project, kind).await?;
    let mut lines: Vec<CostLine> = accounts
        .into_iter()
        .map(|(name, account)| CostLine { name, spent: account.spent, running: 0 })
        .collect();
    // Numbers as numbers; days sort the same either way.
    lines.sort_by_key(|line| (line.name.parse::<u64>().unwrap_or(0), line.name.clone()));
    Ok(lines)
}

/// What a child used is counted with the run that a person began; a look at that run alone tells them apart.
async fn of_runs(project: &Project) -> Result<Vec<CostLine>, Error> {
    let mut lines = Vec::new();
    for line in of_accounts(project, "run").await? {
        let run: Option<RunId> = line.name.parse().ok();
        let is_child = match run {
            Some(run) => get_run(project, run).await?.parent.is_some(),
            None => false,
        };
        if !is_child {
            lines.push(line);
        }
    }
    Ok(lines)
}

fn of_sessions(facts: &[Fact<Event>], by: CostQuery) -> Vec<CostLine> {
    let mut lines: Vec<CostLine> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for fact in facts {
        let Event::SessionClosed { subject, usage, .. } = &fact.event else { continue };
        let name = name_of(subject, by);
        let place = *places.entry(name.clone()).or_insert_with(|| {
            lines.push(CostLine { name, spent: Spent::default(), running: 0 });
            lines.len() - 1
        });
        lines[place].spent = lines[place].spent.plus(usage);
    }
    lines
}

fn name_of_root(subject: &Subject) -> String {
    let root = subject.above.last().copied().or(subject.run_id);
    root.map_or_else(|| "-".to_owned(), |run| run.to_string())
}

fn name_of(subject: &Subject, by: CostQuery) -> String {
    let or_none = |name: Option<String>| name.unwrap_or_else(|| "-".to_owned());
    match by {
        CostQuery::Days => subject.day.to_string(),
        CostQuery::Tasks => or_none(subject.task_id.map(|task| task.to_string())),
        CostQuery::Runs => or_none(subject.run_id.map(|run| run.to_string())),
        CostQuery::Agents => subject.agent_id.to_string(),
        CostQuery::Sessions => {
            let task = subject.task_id.map(|task| format!("task {task}"));
            let run = subject.run_id.map(|run| format!("run {run}"));
            let place = or_none(task.or(run));
            format!("{place}, session {}, {}", subject.number, subject.agent_id)
        }
    }
}
