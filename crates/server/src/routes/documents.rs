//! Epics and PRDs.

use super::Paged as _;
use super::task_changes::given;
use crate::answer::Answer;
use crate::call::Call;
use crate::page_of;
use crate::route::Route;
use http::{Method, StatusCode, header};
use regatta_engine::core::document::{AddEpic, AddPrd, ChangeEpic, ChangePrd};
use regatta_engine::core::{EpicId, PrdSlug, Problem};
use regatta_engine::{Versioned, documents, list_epics, list_prds, orders, show_epic, show_prd};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/epics", "listEpics", "List the epics", epics).paged(),
        Route::post("/api/epics", "addEpic", "Add an epic", add_epic).reads::<NewEpic>().creates(),
        Route::get("/api/epics/{id}", "showEpic", "Show one epic with its tasks", epic),
        Route::new(
            Method::PATCH,
            "/api/epics/{id}",
            "editEpic",
            "Change an epic; what is not named stays",
            edit_epic,
        )
        .reads::<EpicChange>(),
        Route::get("/api/prds", "listPrds", "List the PRDs", prds).paged(),
        Route::post("/api/prds", "addPrd", "Add a PRD", add_prd).reads::<NewPrd>().creates(),
        Route::get("/api/prds/{slug}", "showPrd", "Show one PRD with its text", prd),
        Route::new(
            Method::PATCH,
            "/api/prds/{slug}",
            "editPrd",
            "Change a PRD; what is not named stays",
            edit_prd,
        )
        .reads::<PrdChange>(),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewEpic {
    title: String,
    #[serde(default)]
    description: String,
    #[schemars(with = "Option<String>")]
    prd: Option<PrdSlug>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EpicChange {
    title: Option<String>,
    description: Option<String>,
    /// The PRD that it is made for; null takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    prd: Option<Option<PrdSlug>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewPrd {
    slug: String,
    title: String,
    /// The document, in Markdown.
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PrdChange {
    title: Option<String>,
    text: Option<String>,
}

async fn epics(call: Call) -> Result<Answer, Problem> {
    page_of::cut(&call.query, &list_epics(call.project()).await?, |epic| epic.id.to_string())
}

async fn epic(call: Call) -> Result<Answer, Problem> {
    answer_epic(&call, call.path("id")?).await
}

async fn add_epic(call: Call) -> Result<Answer, Problem> {
    let body: NewEpic = call.body()?;
    let add = AddEpic::new(&body.title, body.description, body.prd).map_err(orders::invalid)?;
    let id = documents::add_epic(call.project(), &call.caller(), add).await?;
    let answer = changed(&call, answer_epic(&call, id).await?).await?;
    Ok(answer.status(StatusCode::CREATED).header(header::LOCATION, &format!("/api/epics/{id}")))
}

async fn edit_epic(call: Call) -> Result<Answer, Problem> {
    let (id, body): (EpicId, EpicChange) = (call.path("id")?, call.body()?);
    let caller = call.caller_about(Versioned::Epic(id)).await?;
    let change = ChangeEpic::new(id, body.title, body.description, body.prd).map_err(orders::invalid)?;
    documents::change_epic(call.project(), &caller, change).await?;
    changed(&call, answer_epic(&call, id).await?).await
}

async fn prds(call: Call) -> Result<Answer, Problem> {
    page_of::cut(&call.query, &list_prds(call.project()).await?, |prd| prd.slug.to_string())
}

async fn prd(call: Call) -> Result<Answer, Problem> {
    answer_prd(&call, &call.path("slug")?).await
}

async fn add_prd(call: Call) -> Result<Answer, Problem> {
    let body: NewPrd = call.body()?;
    let add = AddPrd::new(&body.slug, &body.title, body.text).map_err(orders::invalid)?;
    let slug = documents::add_prd(call.project(), &call.caller(), add).await?;
    let answer = changed(&call, answer_prd(&call, &slug).await?).await?;
    Ok(answer.status(StatusCode::CREATED).header(header::LOCATION, &format!("/api/prds/{slug}")))
}

async fn edit_prd(call: Call) -> Result<Answer, Problem> {
    let (slug, body): (PrdSlug, PrdChange) = (call.path("slug")?, call.body()?);
    let caller = call.caller_about(Versioned::Prd(slug.clone())).await?;
    let change = ChangePrd::new(slug.clone(), body.title, body.text).map_err(orders::invalid)?;
    documents::change_prd(call.project(), &caller, change).await?;
    changed(&call, answer_prd(&call, &slug).await?).await
}

async fn answer_epic(call: &Call, id: EpicId) -> Result<Answer, Problem> {
    call.show(&Versioned::Epic(id), show_epic(call.project(), id).await?).await
}

async fn answer_prd(call: &Call, slug: &PrdSlug) -> Result<Answer, Problem> {
    call.show(&Versioned::Prd(slug.clone()), show_prd(call.project(), slug).await?).await
}

async fn changed(call: &Call, answer: Answer) -> Result<Answer, Problem> {
    Ok(answer.seq(call.position().await?))
}
