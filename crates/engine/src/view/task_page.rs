//! One page of the list of tasks.

use crate::commands::orders;
use crate::core::TaskId;
use crate::core::machine::Column;
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
/// Reads the short rows of all tasks, and only the tasks of the page as a whole; words are looked for in all of them.
pub async fn list_task_page(
    project: &Project,
    filter: &Filter,
    after: Option<TaskId>,
    count_max: usize,
) -> Result<(Vec<TaskView>, bool), Error> {
    let rows = list::load_rows(project).await?;
    let mut around = Around::load(project).await?;
    around.unverified = rows.iter().filter(|row| row.column != Column::Verified).map(|row| row.id).collect();
    let is_after = |id: TaskId| after.is_none_or(|after| id > after);
    let mut views = Vec::new();
    if filter.text.is_some() {
        for task in list::load_tasks(project).await?.iter().filter(|task| is_after(task.id)) {
            let view = view_with_run(project, task, &around).await?;
            if filter.admits(view.as_row()) {
                views.push(view);
            }
            if views.len() > count_max {
                break;
            }
        }
    } else {
        let asked = rows.iter().filter(|row| is_after(row.id) && filter.admits(row.as_row()));
        for row in asked.take(count_max + 1) {
            let task = orders::get_task(project, row.id).await?;
            views.push(view_with_run(project, &task, &around).await?);
        }
    }
    let has_more = views.len() > count_max;
    views.truncate(count_max);
    Ok((views, has_more))
}
