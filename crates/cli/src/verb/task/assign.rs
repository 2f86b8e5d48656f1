//! `regatta task assign`.

use super::{agent_id, bad_field, list, priority};
use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::follow::{Begin, WaitOptions};
use clap::Args;
use regatta_engine::core::{Assignee, Problem, TaskId};
use regatta_engine::{Project, find_rows, orders, show_task};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Assign tasks to an agent and wait for its sessions to end, or take them yourself with `--me`
///
/// If the agent is busy or the limit of running agents is reached, a task is queued by priority, then by age. It is
/// assigned as soon as there is room, and this command waits for that too. While `regatta up` runs, it only watches.
#[derive(Args)]
pub(crate) struct Assign {
    /// Task numbers.
    #[arg(value_name = "ID", required = true)]
    tasks: Vec<TaskId>,
    /// Agent, or `any` for the first that is free [default: the only agent, or `agent` in `[project]`].
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Take them yourself: create their worktrees and start no agent.
    #[arg(long, conflicts_with_all = ["agent", "no_queue"])]
    me: bool,
    /// New priority: high, medium or low.
    #[arg(long)]
    priority: Option<String>,
    /// Refuse instead of queueing if the agent is busy or the limit is reached.
    #[arg(long)]
    no_queue: bool,
    #[command(flatten)]
    options: WaitOptions,
}

impl Assign {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let to = self.assignee()?;
        let priority = self.priority.as_deref().map(priority).transpose()?;
        let mut tasks = self.tasks.clone();
        let mut seen = BTreeSet::new();
        tasks.retain(|task| seen.insert(*task));
        let give = async |project: &_, caller: &_, task| match self.me {
            true => orders::take(project, caller, task, priority).await,
            false => orders::assign(project, caller, task, to.clone(), priority, !self.no_queue).await,
        };
        let whom = if self.me { "you".to_owned() } else { describe(&to) };
        if let [task] = tasks[..] {
            let title = format!("#{task} goes to {whom}");
            let order = async |project: &_, caller: &_| give(project, caller, task).await;
            return self.options.carry_out(place, task, &title, Begin::WhenSettled, order).await;
        }
        if self.options.has_id() {
            return Err(bad_field("commandId", "is for one command, and so for one task".to_owned()));
        }
        let project = Arc::new(place.open().await?);
        let title = format!("{} tasks go to {whom}", tasks.len());
        let outcomes = self.options.carry_out_all(place, &project, &tasks, &title, give).await?;
        print_all(place, &project, &tasks, &outcomes).await
    }

    fn assignee(&self) -> Result<Assignee, Problem> {
        match &self.agent {
            Some(name) => Ok(agent_id(name)?.into()),
            None => Ok(Assignee::Default),
        }
    }
}

fn describe(to: &Assignee) -> String {
    match to {
        Assignee::Agent(agent) => agent.to_string(),
        Assignee::Any => "the first free agent".to_owned(),
        Assignee::Default => "the project's agent".to_owned(),
    }
}

/// Prints what became of each task: a table with the errors below it, or an array.
async fn print_all(
    place: &Place,
    project: &Project,
    tasks: &[TaskId],
    outcomes: &BTreeMap<TaskId, Result<(), Problem>>,
) -> Result<Exit, Problem> {
    let mut documents = Vec::new();
    for task in tasks {
        let view = show_task(project, *task).await.ok();
        let mut document = match &view {
            Some(view) => serde_json::to_value(view).expect("a task is plain data"),
            None => json!({ "id": task }),
        };
        if let Some(Err(problem)) = outcomes.get(task) {
            document["error"] = problem.to_json()["error"].take();
        }
        documents.push(document);
    }
    let rows = find_rows(project, tasks).await?;
    place.screen.data(&Value::from(documents), |_| list::render(&rows.iter().collect::<Vec<_>>(), &rows));
    let mut failed = tasks.iter().filter_map(|task| outcomes.get(task)?.as_ref().err()).peekable();
    if failed.peek().is_none() {
        return Ok(Exit::Done);
    }
    // With `--json` they are in the array, and stderr has one document at most.
    if !place.screen.is_json() {
        failed.for_each(|problem| place.screen.problem(problem));
    }
    Ok(Exit::Failed)
}
