//! What the engine writes in a task file: the metadata it owns, and the chain inputs.

use crate::commands::documents;
use crate::commands::orders;
use crate::core::{CriterionNote, EpicId, FileChange, InputNote, PrdSlug, Stage, Task, TaskId, is_title};
use crate::error::Error;
use crate::project::Project;
use crate::view::document_view::{epic_link, prd_link};
use regatta_files::{NewChainInput, NewCriterion, NewEpic, NewPrd, NewTaskFile, TaskFile, render_new};
use serde_json::{Value, json};

/// Stands in for the output of an upstream task until there is one; one line in parentheses is a placeholder.
const NO_OUTPUT: &str = "(No chain output yet)";

/// Writes the first version of a task's file.
pub(crate) fn render(project: &Project, task: &Task) -> TaskFile {
    render_new(&new_file(project, task))
}

fn new_file(project: &Project, task: &Task) -> NewTaskFile {
    let criterion = |criterion: &crate::core::Criterion| NewCriterion {
        text: criterion.text.clone(),
        checked: criterion.checked,
        check: criterion.check.clone(),
    };
    NewTaskFile {
        id: task.id.number(),
        title: task.title.clone(),
        status: task.column().to_string(),
        requirements: task.description.clone(),
        criteria: task.criteria.iter().map(criterion).collect(),
        dependencies: task.dependencies.iter().map(|on| on.number()).collect(),
        repository: project.root().file_name().map(|name| name.to_string_lossy().into_owned()),
        ..NewTaskFile::default()
    }
}

/// Names epic and PRD in a file that is just being made; later the lines belong to the people who edit them.
async fn with_documents(project: &Project, task: &Task, file: &TaskFile) -> Result<TaskFile, Error> {
    let is_filed = task.epic.is_some() || task.prd.is_some();
    let mut new = new_file(project, task);
    if !is_filed || file.text() != render_new(&new).text() {
        return Ok(file.clone());
    }
    (new.epic, new.prd) = name_documents(project, task.epic, task.prd.as_ref()).await?;
    Ok(render_new(&new))
}

/// Returns what a file says about an epic and a PRD; nothing about one that does not exist.
pub(crate) async fn name_documents(
    project: &Project,
    epic: Option<EpicId>,
    prd: Option<&PrdSlug>,
) -> Result<(Option<NewEpic>, Option<NewPrd>), Error> {
    let catalogue = documents::load_catalogue(project).await?.state;
    let epic = epic.and_then(|id| {
        let entry = catalogue.epics.get(&id)?;
        Some(NewEpic { id: id.number(), title: entry.title.clone(), link: Some(epic_link(id)) })
    });
    let prd = prd.and_then(|slug| {
        let entry = catalogue.prds.get(slug)?;
        Some(NewPrd { title: entry.title.clone(), link: Some(prd_link(slug)) })
    });
    Ok((epic, prd))
}

/// Returns the file with the engine's own parts brought up to date, and the resulting news.
pub(crate) async fn bring_in_line(
    project: &Project,
    task: &Task,
    file: &TaskFile,
) -> Result<(TaskFile, Vec<FileChange>), Error> {
    let mut wanted = with_documents(project, task, file).await?;
    // A person has to fix an invalid title; it stays as it is written.
    if wanted.title().is_some_and(|title| is_title(&title.plain()))
        && let Ok(file) = wanted.with_title(&task.title)
    {
        wanted = file;
    }
    for (key, value) in metadata(task) {
        let is_right = wanted.metadata().is_ok_and(|map| map.get(key) == Some(&value));
        // A person has to fix metadata that cannot be read: the errors are shown, and nothing is overwritten.
        if !is_right && let Ok(file) = wanted.with_metadata(key, &value) {
            wanted = file;
        }
    }
    let (inputs, notes) = inputs(project, task).await?;
    let is_told_of_none = wanted.chain_inputs().iter().any(|entry| entry.summary == NO_OUTPUT);
    if (notes != task.memory.inputs || !inputs.is_empty() || is_told_of_none)
        && let Ok(file) = wanted.with_chain_inputs(&inputs)
    {
        wanted = file;
    }
    let mut changes = Vec::new();
    if notes != task.memory.inputs {
        changes.push(FileChange::InputsEmbedded { inputs: notes });
    }
    changes.extend(criteria_if_other(task, &wanted));
    Ok((wanted, changes))
}

/// Returns the criteria of the file, if they differ from those in the log: the check that a criterion names
/// is only known once the file is read.
fn criteria_if_other(task: &Task, file: &TaskFile) -> Option<FileChange> {
    let criteria: Vec<CriterionNote> =
        file.criteria().iter().map(crate::task_files::changes::note_of).collect();
    let known = task.criteria.iter().map(|criterion| (&criterion.text, criterion.checked, &criterion.check));
    let is_same = criteria.iter().map(|note| (&note.text, note.checked, &note.check)).eq(known);
    (!is_same).then_some(FileChange::CriteriaSet { criteria })
}

fn metadata(task: &Task) -> Vec<(&'static str, Value)> {
    let mut pairs = vec![("status", json!(task.column())), ("total_sessions", json!(task.memory.entries))];
    // What was done before it was imported keeps the word of its file.
    if task.is_done_elsewhere() {
        pairs.remove(0);
    }
    if !task.dependencies.is_empty() {
        pairs.push(("dependencies", json!(task.dependencies)));
    }
    pairs
}

/// Returns the outputs of the upstream tasks. A task that has begun keeps the ones it began with, marked as
/// stale when the upstream task has changed them.
async fn inputs(project: &Project, task: &Task) -> Result<(Vec<NewChainInput>, Vec<InputNote>), Error> {
    let has_begun = task.sessions > 0 || !matches!(task.stage, Stage::Backlog);
    let (mut inputs, mut notes) = (Vec::new(), Vec::new());
    for on in &task.dependencies {
        let upstream = orders::get_task(project, *on).await?;
        let Some(output) = &upstream.memory.output else {
            inputs.push(NewChainInput {
                task: on.number(),
                title: upstream.title.clone(),
                summary: NO_OUTPUT.to_owned(),
                link: None,
                stale: false,
            });
            continue;
        };
        let used = task.memory.inputs.iter().find(|note| note.task_id == *on);
        let is_stale = has_begun && used.is_some_and(|note| note.digest != output.digest);
        let fresh = (&output.digest, &output.summary);
        let (digest, summary) = used.filter(|_| is_stale).map_or(fresh, |note| (&note.digest, &note.summary));
        let note =
            InputNote { task_id: *on, digest: digest.clone(), summary: summary.clone(), stale: is_stale };
        notes.push(note);
        inputs.push(NewChainInput {
            task: on.number(),
            title: upstream.title.clone(),
            summary: summary.clone(),
            link: Some(link_to(*on)),
            stale: is_stale,
        });
    }
    Ok((inputs, notes))
}

fn link_to(task: TaskId) -> String {
    format!("/api/tasks/{task}/chain-output")
}
