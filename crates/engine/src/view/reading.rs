//! What agents and people read beside a task: a PRD, an epic, a chain output, an archive, each as one object.
//!
//! The verbs of the command line print these objects, and the endpoint of a session answers with them: in a
//! session the verbs ask the endpoint, since the project cannot be reached from a sandbox.

use crate::commands::orders::{self, Caller};
use crate::core::{EpicId, PrdSlug, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::task_files;
use crate::task_files::archive;
use crate::task_files::edits;
use crate::view::document_view::{show_epic, show_prd};
use serde::Serialize;
use serde_json::{Value, json};

/// Returns a PRD with its text.
pub async fn prd(project: &Project, slug: &PrdSlug) -> Result<Value, Error> {
    show_prd(project, slug).await.map(to_value)
}

/// Returns an epic with its tasks.
pub async fn epic(project: &Project, epic: EpicId) -> Result<Value, Error> {
    show_epic(project, epic).await.map(to_value)
}

/// Returns the output of a task for the tasks that depend on it; reads its file first.
pub async fn output(project: &Project, caller: &Caller, task: TaskId) -> Result<Value, Error> {
    let file = edits::refresh(project, caller, task).await?;
    Ok(json!({ "taskId": task, "output": file.chain_output(), "summary": file.summary_of_output() }))
}

/// Returns the sessions that were moved out of the file of a task.
pub fn archive(project: &Project, task: TaskId) -> Result<Value, Error> {
    let path = task_files::archive_path(project, task);
    let text = archive::read(project, task)?;
    Ok(json!({ "taskId": task, "file": path.display().to_string(), "text": text }))
}

/// Checks that a task exists, for a verb that reads nothing else of it.
pub async fn check_task(project: &Project, task: TaskId) -> Result<(), Error> {
    orders::get_task(project, task).await.map(drop)
}

fn to_value(view: impl Serialize) -> Value {
    serde_json::to_value(view).expect("a view is plain data")
}
