//! Epics and PRDs as people and programs see them: one shape for the CLI's JSON, and later for HTTP.

use crate::commands::documents::{get_epic, get_prd, load_catalogue};
use crate::core::document::{Epic, PrdEntry};
use crate::core::machine::Column;
use crate::core::{EpicId, PrdSlug, Task, TaskId};
use crate::error::Error;
use crate::log::{SNAPSHOT_FORMAT, State, Stream};
use crate::project::Project;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// An epic with its tasks, in camel case.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct EpicView {
    pub id: EpicId,
    pub title: String,
    pub description: String,
    pub prd: Option<PrdSlug>,
    pub tasks: Vec<MemberView>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub link: String,
}

/// A task of an epic.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct MemberView {
    pub id: TaskId,
    pub title: String,
    pub column: Column,
}

/// A PRD, in camel case; the text is left out of lists.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct PrdView {
    pub slug: PrdSlug,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    pub bytes: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub link: String,
}

impl EpicView {
    /// Counts the tasks that are merged.
    pub fn count_done(&self) -> usize {
        self.tasks.iter().filter(|task| task.column == Column::Verified).count()
    }
}

/// Returns one epic.
pub async fn show_epic(project: &Project, epic: EpicId) -> Result<EpicView, Error> {
    let epic = get_epic(project, epic).await?;
    let tasks: Vec<Task> = load_all(project, "task/").await?;
    Ok(view(epic, &tasks))
}

/// Returns all epics by number.
pub async fn list_epics(project: &Project) -> Result<Vec<EpicView>, Error> {
    let mut epics: Vec<Epic> = load_all(project, "epic/").await?;
    epics.sort_by_key(|epic| epic.id);
    let tasks: Vec<Task> = load_all(project, "task/").await?;
    Ok(epics.into_iter().map(|epic| view(epic, &tasks)).collect())
}

/// Returns one PRD.
pub async fn show_prd(project: &Project, prd: &PrdSlug) -> Result<PrdView, Error> {
    let prd = get_prd(project, prd).await?;
    Ok(PrdView {
        link: prd_link(&prd.slug),
        slug: prd.slug,
        title: prd.title,
        bytes: prd.text.len() as u64,
        text: Some(prd.text),
        created_at: prd.created_at,
        updated_at: prd.updated_at,
    })
}

/// Returns all PRDs by slug, without their texts.
pub async fn list_prds(project: &Project) -> Result<Vec<PrdView>, Error> {
    let entry = |(slug, entry): (PrdSlug, PrdEntry)| PrdView {
        link: prd_link(&slug),
        slug,
        title: entry.title,
        text: None,
        bytes: entry.bytes,
        created_at: entry.created_at,
        updated_at: entry.updated_at,
    };
    Ok(load_catalogue(project).await?.state.prds.into_iter().map(entry).collect())
}

/// Returns the URL path of an epic.
pub(crate) fn epic_link(epic: EpicId) -> String {
    format!("/api/epics/{epic}")
}

/// Returns the URL path of a PRD.
pub(crate) fn prd_link(prd: &PrdSlug) -> String {
    format!("/api/prds/{prd}")
}

fn view(epic: Epic, tasks: &[Task]) -> EpicView {
    let member = |task: &Task| MemberView { id: task.id, title: task.title.clone(), column: task.column() };
    let mut members: Vec<MemberView> =
        tasks.iter().filter(|task| task.epic == Some(epic.id)).map(member).collect();
    members.sort_by_key(|task| task.id);
    EpicView {
        link: epic_link(epic.id),
        id: epic.id,
        title: epic.title,
        description: epic.description,
        prd: epic.prd,
        tasks: members,
        created_at: epic.created_at,
        updated_at: epic.updated_at,
    }
}

async fn load_all<T>(project: &Project, prefix: &str) -> Result<Vec<T>, Error>
where
    Option<T>: State,
{
    let mut all = Vec::new();
    for loaded in project.store().load_prefix(prefix, SNAPSHOT_FORMAT).await? {
        all.extend(Stream::<Option<T>>::from_loaded(loaded)?.state);
    }
    Ok(all)
}
