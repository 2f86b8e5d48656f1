//! MCP over streamable HTTP: a person's own agent at `/mcp`, the agent of a session at `/mcp/session`.
//!
//! They are not in the OpenAPI document: MCP describes its tools itself.

use crate::access::{find_token, unauthorized};
use crate::answer::Answer;
use crate::app::Needs;
use crate::call::Call;
use crate::mcp::{BoardTools, SessionTools};
use crate::route::Route;
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use regatta_engine::core::Problem;
use regatta_engine::endpoint;
use regatta_mcp::{Catalogue, Offered};
use std::sync::Arc;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/mcp", "mcp", "Serve a person's own agent over MCP", board).needs(Needs::Mcp),
        Route::post("/mcp/session", "mcpOfSession", "Serve the agent of a session over MCP", session)
            .needs(Needs::Nothing),
        Route::post("/mcp/session/{token}", "mcpOfUrl", "The same, with the token in the address", session)
            .needs(Needs::Nothing),
    ]
}

async fn board(call: Call) -> Result<Answer, Problem> {
    let tools = BoardTools::new(Arc::clone(&call.app));
    answer(&call, tools).await
}

async fn session(call: Call) -> Result<Answer, Problem> {
    let named: String = call.path("token")?;
    let shown = if named.is_empty() { find_token(&call.headers).unwrap_or_default() } else { &named };
    let found = endpoint::find_by_token(&call.app.project, shown).filter(|_| !shown.is_empty());
    let folder = found.ok_or_else(|| unauthorized("its token is not that of a session which runs now"))?;
    answer(&call, SessionTools::new(folder)).await
}

async fn answer(call: &Call, tools: impl Catalogue) -> Result<Answer, Problem> {
    let mut request = Request::new(call.bytes());
    *request.method_mut() = Method::POST;
    *request.headers_mut() = call.headers.clone();
    // Of no use behind the guard, and of no concern to the tools.
    drop_secrets(request.headers_mut());
    let answered = regatta_mcp::answer_http(Offered::new(Arc::new(tools)), call.app.hosts.names(), request);
    Ok(Answer::whole(answered.await.map(|body| body.boxed_unsync())))
}

fn drop_secrets(headers: &mut HeaderMap) {
    headers.remove(http::header::AUTHORIZATION);
    headers.remove(http::header::COOKIE);
}
