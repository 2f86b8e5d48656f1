//! Some tasks as cards show them: with what was paid, and what their sessions are doing.

use crate::commands::{accounts, orders};
use crate::core::TaskId;
use crate::core::session::Scope;
use crate::error::Error;
use crate::project::Project;
use crate::view::session_log;
use crate::view::task::{Around, TaskView, view_with_run};

/// Returns these tasks, in this order; `is_open` tells whether a task that others depend on is not merged yet.
///
/// Tasks that do not exist are left out. Each is read on its own, so the cost does not depend on how many tasks there are.
pub async fn list_cards(
    project: &Project,
    tasks: &[TaskId],
    is_open: impl Fn(TaskId) -> bool,
) -> Result<Vec<TaskView>, Error> {
    let mut around = Around::load(project).await?;
    let mut views = Vec::new();
    for id in tasks {
        let task = match orders::get_task(project, *id).await {
            Ok(task) => task,
            Err(error) if error.explain().code == crate::core::Code::TaskNotFound => continue,
            Err(error) => return Err(error),
        };
        around.unverified = task.dependencies.iter().copied().filter(|on| is_open(*on)).collect();
        let mut view = view_with_run(project, &task, &around).await?;
        let spent = accounts::get_account(project, Scope::Task(*id)).await?.spent;
        view.spent = Some(spent).filter(|spent| spent.sessions > 0);
        if matches!(view.phase, "running" | "asking") {
            view.activity = session_log::find_activity(project, *id).await?;
        }
        if view.run_id.is_some() {
            view.role = session_log::find_role(project, *id).await?;
        }
        views.push(view);
    }
    Ok(views)
}
