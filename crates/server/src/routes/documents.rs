//! Epics and PRDs.

use super::Paged as _;
use super::task_changes::{given, prd as slug};
use crate::answer::Answer;
use crate::call::Call;
use crate::calls;
use crate::page_of;
use crate::route::Route;
use http::{Method, StatusCode, header};
use regatta_engine::Versioned;
use regatta_engine::core::{EpicId, PrdSlug, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/epics", "listEpics", "List the epics", epics).paged(),
        Route::post("/api/epics", "addEpic", "Add an epic", add_epic).reads::<NewEpic>(),
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
        Route::post("/api/prds", "addPrd", "Add a PRD", add_prd).reads::<NewPrd>(),
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
    #[serde(default)]
    prd: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EpicChange {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    /// The PRD that it is made for; null takes it away.
    #[serde(default, deserialize_with = "given")]
    prd: Option<Option<String>>,
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
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

async fn epics(call: Call) -> Result<Answer, Problem> {
    page_of::cut(&call.query, &calls::documents::epics(&call.app.project).await?, |epic| epic.id.to_string())
}

async fn epic(call: Call) -> Result<Answer, Problem> {
    show_epic(&call, call.path("id")?).await
}

async fn add_epic(call: Call) -> Result<Answer, Problem> {
    let body: NewEpic = call.body()?;
    let prd = body.prd.as_deref().map(slug).transpose()?;
    let id =
        calls::documents::add_epic(&call.app.project, &call.caller(), &body.title, body.description, prd)
            .await?;
    let answer = changed(&call, show_epic(&call, id).await?).await?;
    Ok(answer.status(StatusCode::CREATED).header(header::LOCATION, &format!("/api/epics/{id}")))
}

async fn edit_epic(call: Call) -> Result<Answer, Problem> {
    let (id, body): (EpicId, EpicChange) = (call.path("id")?, call.body()?);
    let caller = call.caller_about(Versioned::Epic(id)).await?;
    let prd = body.prd.map(|prd| prd.as_deref().map(slug).transpose()).transpose()?;
    calls::documents::change_epic(&call.app.project, &caller, id, body.title, body.description, prd).await?;
    changed(&call, show_epic(&call, id).await?).await
}

async fn prds(call: Call) -> Result<Answer, Problem> {
    page_of::cut(&call.query, &calls::documents::prds(&call.app.project).await?, |prd| prd.slug.to_string())
}

async fn prd(call: Call) -> Result<Answer, Problem> {
    show_prd(&call, &call.path("slug")?).await
}

async fn add_prd(call: Call) -> Result<Answer, Problem> {
    let body: NewPrd = call.body()?;
    let (project, caller) = (&call.app.project, call.caller());
    let slug = calls::documents::add_prd(project, &caller, &body.slug, &body.title, body.text).await?;
    let answer = changed(&call, show_prd(&call, &slug).await?).await?;
    Ok(answer.status(StatusCode::CREATED).header(header::LOCATION, &format!("/api/prds/{slug}")))
}

async fn edit_prd(call: Call) -> Result<Answer, Problem> {
    let (slug, body): (PrdSlug, PrdChange) = (call.path("slug")?, call.body()?);
    let caller = call.caller_about(Versioned::Prd(slug.clone())).await?;
    calls::documents::change_prd(&call.app.project, &caller, slug.clone(), body.title, body.text).await?;
    changed(&call, show_prd(&call, &slug).await?).await
}

async fn show_epic(call: &Call, id: EpicId) -> Result<Answer, Problem> {
    let view = calls::documents::epic(&call.app.project, id).await?;
    Ok(Answer::json(view).version(calls::version(&call.app.project, &Versioned::Epic(id)).await?))
}

async fn show_prd(call: &Call, slug: &PrdSlug) -> Result<Answer, Problem> {
    let view = calls::documents::prd(&call.app.project, slug).await?;
    Ok(Answer::json(view).version(calls::version(&call.app.project, &Versioned::Prd(slug.clone())).await?))
}

async fn changed(call: &Call, answer: Answer) -> Result<Answer, Problem> {
    Ok(answer.seq(calls::position(&call.app.project).await?))
}
