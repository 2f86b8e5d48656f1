//! A step whose task was cancelled under it: the run waits, and a person decides how to continue.

use crate::commands::orders;
use crate::core::run::Run;
use crate::core::{Code, Failure, Problem, ReviewPhase, RunId, Stage, Task, TaskId, WorkPhase};
use crate::error::Error;
use crate::project::Project;

/// Reports that the task of the current step was cancelled, if it was.
pub(crate) async fn find(project: &Project, run: RunId, task: TaskId) -> Result<Option<Failure>, Error> {
    let found = orders::get_task(project, task).await?;
    let is_cancelled = found.stage == Stage::Backlog || is_being_cancelled(&found);
    Ok(is_cancelled.then(|| explain_step(run, task)))
}

/// Tells whether earlier work of a run on an item was cancelled without a person having been notified.
///
/// A fork that has yet to continue from a commit has not started its task. A task that could not start,
/// because its worktree could not be made, is in the backlog with that error.
pub(crate) fn is_work_gone(run: &Run, item: &str, task: &Task) -> bool {
    let was_taken_up = task.sessions > 0 || (task.attempts > 0 && task.error.is_none());
    task.stage == Stage::Backlog && was_taken_up && run.heads.contains_key(item)
}

/// Tells whether a task is being cancelled.
pub(crate) fn is_being_cancelled(task: &Task) -> bool {
    match &task.stage {
        Stage::InProgress(work) => {
            matches!(work.phase, WorkPhase::Stopping { .. } | WorkPhase::Removing { .. })
        }
        Stage::WaitingApproval(review) => {
            matches!(review.phase, ReviewPhase::Stopping { .. } | ReviewPhase::Removing { .. })
        }
        Stage::Backlog | Stage::Verified(_) => false,
    }
}

/// Says why a step was not performed.
pub(crate) fn explain_step(run: RunId, task: TaskId) -> Failure {
    explain(
        task,
        format!("run {run} worked on task #{task}, which was cancelled"),
        format!(
            "`regatta run --resume {run}` performs the step again in a new worktree; or `regatta run stop {run}`"
        ),
    )
}

/// Says why a step cannot continue from those before it.
pub(crate) fn explain_work(run: RunId, task: TaskId) -> Failure {
    explain(
        task,
        format!("run {run} worked on task #{task}, which was cancelled before this step"),
        format!(
            "`regatta run fork {run}` continues from the commit that the work had reached; `regatta run \
             --resume {run}` performs the step in a new worktree without it; or `regatta run stop {run}`"
        ),
    )
}

/// Says why a task that a run put up is not merged.
///
/// A fork of a child has no parent, and the child's own parent would still wait: only the end of the child
/// lets it continue.
pub(crate) fn explain_landing(run: RunId, task: TaskId, parent: Option<RunId>) -> Failure {
    let next = match parent {
        Some(parent) => format!("`regatta run stop {run}`: run {parent} continues with this item as failed"),
        None => format!("`regatta run stop {run}`, or `regatta run fork {run}` to do it again"),
    };
    explain(task, format!("run {run} waits for task #{task}, which was cancelled"), next)
}

fn explain(task: TaskId, what: String, next: String) -> Failure {
    let problem = Problem::new(Code::TaskCancelled, what, "a person cancelled its work", next);
    Failure::from(problem.with("taskId", task.number()))
}
