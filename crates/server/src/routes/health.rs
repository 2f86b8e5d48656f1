//! Whether the engine is alive, and what the API is.

use crate::answer::Answer;
use crate::app::Needs;
use crate::call::Call;
use crate::openapi;
use crate::reference;
use crate::route::Route;
use http::StatusCode;
use regatta_engine::core::Problem;
use regatta_engine::find_running;
use serde_json::json;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "/healthz",
            "health",
            "Tell whether the engine is alive, and where the log stands",
            health,
        )
        .needs(Needs::Local),
        Route::get("/api/openapi.json", "describe", "Describe the API, in OpenAPI 3.1", describe),
        Route::get(
            "/api/reference",
            "showReference",
            "Show the reference of the API as a page",
            show_reference,
        )
        .needs(Needs::Page),
        Route::get(reference::STYLE_PATH, "styleReference", "Style the reference", style).needs(Needs::Page),
    ]
}

async fn describe(call: Call) -> Result<Answer, Problem> {
    Ok(Answer::json(openapi::describe(&call.app.routes.list)))
}

async fn show_reference(call: Call) -> Result<Answer, Problem> {
    let page = reference::render(&openapi::describe(&call.app.routes.list));
    Ok(Answer::text("text/html; charset=utf-8", page))
}

async fn style(_: Call) -> Result<Answer, Problem> {
    Ok(Answer::text("text/css; charset=utf-8", reference::STYLE))
}

async fn health(call: Call) -> Result<Answer, Problem> {
    let seq = call.position().await?;
    let holder = find_running(call.project()).await?;
    let lease = holder.as_ref().map(|holder| {
        json!({ "pid": holder.pid, "host": holder.host, "command": holder.command, "since": holder.since })
    });
    let config = call.app.project.config_state();
    let status = if holder.is_some() { "ok" } else { "no_engine" };
    let answer = Answer::json(json!({ "status": status, "seq": seq, "lease": lease, "config": config }));
    Ok(if holder.is_some() { answer } else { answer.status(StatusCode::SERVICE_UNAVAILABLE) })
}
