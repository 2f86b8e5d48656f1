//! An order to edit a task: the change of its file, and what that means to the rules.

use crate::core::{Criterion, FileChange, Filed, Revise, Task};
use crate::error::Error;
use crate::project::Project;
use crate::task_files::{self, edits};
use regatta_files::{EditError, NewCriterion, NewEpic, NewPrd, TaskFile};
use serde_json::json;

/// What the file should say about the epic and the PRD of the order.
pub(crate) struct Named {
    pub(crate) epic: Option<NewEpic>,
    pub(crate) prd: Option<NewPrd>,
}

/// Finds how the file names the epic and the PRD of the order.
pub(crate) async fn name(project: &Project, task: &Task, revise: &Revise) -> Result<Named, Error> {
    let Some(filed) = filed(task, revise) else { return Ok(Named { epic: None, prd: None }) };
    let (epic, prd) = task_files::name_documents(project, filed.epic_id, filed.prd.as_ref()).await?;
    Ok(Named { epic, prd })
}

/// Applies the order to the file; what the task says already is no change.
pub(crate) fn apply(
    task: &Task,
    revise: &Revise,
    named: &Named,
    file: &TaskFile,
) -> Result<(TaskFile, Vec<FileChange>), Error> {
    let failed = |error| edits::not_edited(task.id, &error);
    let mut changed = file.clone();
    let title = revise.title.clone().filter(|title| *title != task.title);
    if let Some(title) = &title {
        changed = changed.with_title(title).map_err(failed)?;
    }
    let mut description = revise.description.clone().filter(|text| *text != task.description);
    if let Some(text) = &description {
        changed = changed.with_requirements(text).map_err(failed)?;
        // As in the file, where headings are deepened.
        description = Some(changed.requirements().unwrap_or_default().to_owned());
    }
    let before_criteria = changed.clone();
    if let Some(criteria) = &revise.criteria {
        let criteria: Vec<NewCriterion> = criteria.iter().map(|text| new_criterion(text)).collect();
        changed = changed.with_criteria(&criteria).map_err(failed)?;
    }
    let priority = revise.priority.filter(|priority| *priority != task.priority);
    let mut changes = Vec::new();
    let filed = filed(task, revise);
    if let Some(filed) = &filed {
        changed = with_filed(task, filed, named, &changed).map_err(failed)?;
    }
    if title.is_some() || description.is_some() || priority.is_some() || filed.is_some() {
        changes.push(FileChange::Edited { title, description, priority, filed });
    } else if changed.text() != file.text() {
        // Only criteria change: the order is still an edit, which may be refused.
        changes.push(FileChange::Edited { title: None, description: None, priority: None, filed: None });
    }
    changes.extend(task_files::changes_between(&before_criteria, &changed));
    Ok((changed, changes))
}

/// Rewrites the lines of the context that name what has changed; the others stay as they are.
fn with_filed(task: &Task, filed: &Filed, named: &Named, file: &TaskFile) -> Result<TaskFile, EditError> {
    let mut changed = file.clone();
    if filed.epic_id != task.epic {
        changed = changed.with_epic(named.epic.as_ref())?;
        // A person has to fix metadata that cannot be read.
        if let Ok(file) = changed.with_metadata("epic_id", &json!(filed.epic_id)) {
            changed = file;
        }
    }
    if filed.prd != task.prd {
        changed = changed.with_prd(named.prd.as_ref())?;
    }
    Ok(changed)
}

fn new_criterion(text: &str) -> NewCriterion {
    let Criterion { text, check, .. } = Criterion::parse(text);
    NewCriterion { text, checked: false, check }
}

/// A task without a PRD gets that of its epic only when it is created; here both are exactly as ordered.
fn filed(task: &Task, revise: &Revise) -> Option<Filed> {
    let epic_id = revise.epic.unwrap_or(task.epic);
    let prd = revise.prd.clone().unwrap_or_else(|| task.prd.clone());
    (epic_id != task.epic || prd != task.prd).then_some(Filed { epic_id, prd })
}
