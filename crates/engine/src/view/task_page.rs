//! One page of the list of tasks.

use crate::commands::orders;
use crate::core::{AgentId, Task, TaskId};
use crate::error::Error;
use crate::log::filter::{Filter, Row};
use crate::log::list;
use crate::project::Project;
use crate::view::task::{Around, TaskView, view_with_run};

impl TaskView {
    /// Returns what a filter looks at.
    pub fn as_row(&self) -> Row<'_> {
        Row {
            column: self.column,
            agent: self.agent_id.as_deref(),
            epic: self.epic_id,
            title: &self.title,
            description: &self.description,
            hidden: self.hidden,
        }
    }
}

/// Returns the tasks after one that a filter admits, by number, and whether there are more.
///
/// Reads no more of the list than the page needs, and the log only for what the tasks of the page depend on.
pub async fn list_task_page(
    project: &Project,
    filter: &Filter,
    after: Option<TaskId>,
    count_max: usize,
) -> Result<(Vec<TaskView>, bool), Error> {
    let from = after.map_or(0, |after| u64::from(after.number()) + 1);
    let filter = filter.clone();
    let is_asked = move |task: &Task| filter.admits(row_of(task));
    let tasks = list::load_tasks_from(project, from, count_max.saturating_add(1), is_asked).await?;
    let dependencies = tasks.iter().flat_map(|task| &task.dependencies).copied().collect();
    let mut around = Around::load(project).await?;
    around.unverified = orders::load_unverified(project, &dependencies).await?;
    let mut views = Vec::with_capacity(tasks.len());
    for task in &tasks {
        views.push(view_with_run(project, task, &around).await?);
    }
    let has_more = views.len() > count_max;
    views.truncate(count_max);
    Ok((views, has_more))
}

/// Returns what a filter looks at.
fn row_of(task: &Task) -> Row<'_> {
    Row {
        column: task.column(),
        agent: task.agent().map(AgentId::as_str),
        epic: task.epic,
        title: &task.title,
        description: &task.description,
        hidden: task.hidden,
    }
}
