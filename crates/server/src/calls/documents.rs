//! Calls about epics and PRDs.

use super::{explain, faulty};
use regatta_engine::core::document::{AddEpic, AddPrd, ChangeEpic, ChangePrd};
use regatta_engine::core::{EpicId, PrdSlug, Problem};
use regatta_engine::orders::Caller;
use regatta_engine::{EpicView, PrdView, Project, documents, list_epics, list_prds, show_epic, show_prd};

pub(crate) async fn epics(project: &Project) -> Result<Vec<EpicView>, Problem> {
    list_epics(project).await.map_err(explain)
}

pub(crate) async fn epic(project: &Project, epic: EpicId) -> Result<EpicView, Problem> {
    show_epic(project, epic).await.map_err(explain)
}

pub(crate) async fn prds(project: &Project) -> Result<Vec<PrdView>, Problem> {
    list_prds(project).await.map_err(explain)
}

pub(crate) async fn prd(project: &Project, slug: &PrdSlug) -> Result<PrdView, Problem> {
    show_prd(project, slug).await.map_err(explain)
}

pub(crate) async fn add_epic(
    project: &Project,
    caller: &Caller,
    title: &str,
    description: String,
    prd: Option<PrdSlug>,
) -> Result<EpicId, Problem> {
    let add = AddEpic::new(title, description, prd).map_err(faulty)?;
    documents::add_epic(project, caller, add).await.map_err(explain)
}

pub(crate) async fn change_epic(
    project: &Project,
    caller: &Caller,
    epic: EpicId,
    title: Option<String>,
    description: Option<String>,
    prd: Option<Option<PrdSlug>>,
) -> Result<(), Problem> {
    let change = ChangeEpic::new(epic, title, description, prd).map_err(faulty)?;
    documents::change_epic(project, caller, change).await.map_err(explain)
}

pub(crate) async fn add_prd(
    project: &Project,
    caller: &Caller,
    slug: &str,
    title: &str,
    text: String,
) -> Result<PrdSlug, Problem> {
    let add = AddPrd::new(slug, title, text).map_err(faulty)?;
    documents::add_prd(project, caller, add).await.map_err(explain)
}

pub(crate) async fn change_prd(
    project: &Project,
    caller: &Caller,
    slug: PrdSlug,
    title: Option<String>,
    text: Option<String>,
) -> Result<(), Problem> {
    let change = ChangePrd::new(slug, title, text).map_err(faulty)?;
    documents::change_prd(project, caller, change).await.map_err(explain)
}
