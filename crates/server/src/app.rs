//! What all requests share, and the path of one: guard, access, route, answer.

use crate::access::{self, Access};
use crate::answer;
use crate::answer::Body;
use crate::error::Error;
use crate::guard::{self, From, Hosts};
use crate::hub::Hub;
use crate::keys::Keys;
use crate::limits::Limits;
use crate::page;
use crate::pages;
use crate::panics;
use crate::reviews::Reviews;
use crate::route::Routes;
use crate::routes;
use crate::rows::Shared;
use crate::viewed::Viewed;
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, header};
use hyper::body::Incoming;
use regatta_engine::Project;
use regatta_engine::core::{Actor, Code, Problem};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What all requests share.
pub(crate) struct App {
    pub(crate) project: Arc<Project>,
    pub(crate) keys: Keys,
    pub(crate) hosts: Hosts,
    pub(crate) limits: Limits,
    /// Who runs the server; whoever has the cookie or the token acts for them.
    pub(crate) actor: Actor,
    /// Cancelled when the server stops.
    pub(crate) stop: CancellationToken,
    pub(crate) routes: Routes,
    pub(crate) hub: Arc<Hub>,
    pub(crate) shared: Shared,
    pub(crate) reviews: Reviews,
    pub(crate) viewed: Viewed,
}

impl App {
    /// What routes need when a program of this machine calls them without a server.
    pub(crate) async fn without_server(project: Arc<Project>, actor: Actor) -> Result<Self, Error> {
        let keys = Keys::ensure(&project)?;
        Ok(App {
            hub: Hub::at_end(Arc::clone(&project)).await?,
            hosts: Hosts::new(&keys.host(), 0, None),
            reviews: Reviews::default(),
            viewed: Viewed::new(keys.viewed_folder()),
            keys,
            limits: Limits::default(),
            actor,
            stop: CancellationToken::new(),
            routes: Routes::new(routes::all()),
            shared: Shared::default(),
            project,
        })
    }
}

/// What a route asks of whoever calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing.
    Nothing,
    /// Nothing on this machine, and access through a proxy.
    Local,
    /// A cookie; without one there is a page that says how to get it.
    Page,
    /// A cookie or a token.
    Access,
    /// A token that may be good for nothing else.
    Mcp,
}

/// Answers a request.
pub(crate) async fn handle(app: Arc<App>, request: Request<Incoming>) -> Response<Body> {
    let mut response = match respond(app, request).await {
        Ok(response) => response,
        Err(problem) => answer::of_problem(&problem),
    };
    answer::harden(&mut response);
    response
}

async fn respond(app: Arc<App>, request: Request<Incoming>) -> Result<Response<Body>, Problem> {
    let (parts, body) = request.into_parts();
    let from = guard::check(&app.hosts, &parts)?;
    let found = app.routes.find(&parts.method, parts.uri.path());
    let needs = match &found {
        Ok((route, _)) => route.needs,
        // Clients of MCP ask with GET whether there is a stream, and take 401 for the end of the connection.
        Err(_) if app.routes.is_open(parts.uri.path()) => Needs::Nothing,
        Err(_) => Needs::Mcp,
    };
    match (needs, access::find(&app.keys, &parts)) {
        (Needs::Nothing, _) => {}
        (Needs::Local, _) if from == From::Loopback => {}
        (_, Ok(Access::Cookie | Access::Token)) | (Needs::Mcp, Ok(Access::McpToken)) => {}
        (_, Ok(Access::McpToken)) => return Err(access::unauthorized("its token is for /mcp alone")),
        (Needs::Page, Err(problem)) if problem.code == Code::Unauthorized => {
            return Ok(page::without_cookie(&parts).into_response(false, &HeaderMap::new()));
        }
        (_, Err(problem)) => return Err(problem),
    }
    // A browser that opens an address sees a page, also of an error.
    let is_page = needs == Needs::Page || found.is_err() && is_opened(&parts);
    let (route, path) = match found {
        Ok(found) => found,
        Err(problem) => return explain(&app, problem, is_page).await,
    };
    let handled = panics::contain(crate::call::run(Arc::clone(&app), route, path, parts, body));
    match handled.await.unwrap_or_else(|id| Err(answer::bug(id))) {
        Err(problem) => explain(&app, problem, is_page).await,
        answered => answered,
    }
}

fn is_opened(parts: &Parts) -> bool {
    let accepts = parts.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    parts.method == Method::GET && accepts.starts_with("text/html") && !parts.uri.path().starts_with("/api")
}

async fn explain(app: &App, problem: Problem, is_page: bool) -> Result<Response<Body>, Problem> {
    let page = if is_page { pages::explain(app, &problem).await } else { None };
    page.map(|page| page.into_response(false, &HeaderMap::new())).ok_or(problem)
}
