//! The pages of the board, one file per group: each fetches objects by `calls`, and `board` makes HTML of them.
//!
//! A page is whole when it arrives. What changes while it is open is fetched again as a fragment, the same HTML in a smaller
//! piece. Pages change nothing: their scripts and forms use the API.

mod assets;
mod board;
mod dialogs;
mod inbox;
mod review;
mod runs;
mod task;

use crate::answer::Answer;
use crate::app::{App, Needs};
use crate::call::Call;
use crate::calls;
use crate::route::{Kind, Route};
use crate::rows::Rows;
use regatta_board::Markup;
use regatta_board::problem;
use regatta_board::shell::{self, AgentLine, Section, Shell, Side};
use regatta_board::words::{self, Clock};
use regatta_engine::core::Problem;
use std::sync::Arc;

const HTML: &str = "text/html; charset=utf-8";

/// Returns the routes of all pages and fragments.
pub(crate) fn routes() -> Vec<Route> {
    let own = vec![fragment("/fragments/nav", "fragmentNav", "Show the sidebar", nav).takes(
        "at",
        Kind::Text,
        "What is marked as current: inbox, board or runs",
    )];
    let groups = [
        own,
        assets::routes(),
        board::routes(),
        dialogs::routes(),
        inbox::routes(),
        review::routes(),
        task::routes(),
        runs::routes(),
    ];
    groups.into_iter().flatten().collect()
}

/// A page: a browser without a cookie learns how to get one, and an error is a page, too.
fn page<F>(path: &'static str, name: &'static str, summary: &'static str, run: fn(Call) -> F) -> Route
where
    F: Future<Output = Result<Answer, Problem>> + Send + 'static,
{
    Route::get(path, name, summary, run).needs(Needs::Page)
}

/// A piece of a page that is open.
fn fragment<F>(path: &'static str, name: &'static str, summary: &'static str, run: fn(Call) -> F) -> Route
where
    F: Future<Output = Result<Answer, Problem>> + Send + 'static,
{
    Route::get(path, name, summary, run)
}

/// Answers with HTML.
fn html(markup: Markup) -> Answer {
    Answer::text(HTML, markup.into_string())
}

/// Returns the time and the zone of this machine, which is the reader's.
fn clock() -> Clock {
    Clock { now: jiff::Timestamp::now(), zone: jiff::tz::TimeZone::system() }
}

/// Loads what is around a page.
async fn shell(app: &App, section: Section, is_rail: bool) -> Result<Shell, Problem> {
    let rows = app.shared.rows(&app.project).await?;
    let side = side(app, &rows, section).await?;
    Ok(Shell { side, is_rail, seq: rows.seq })
}

async fn side(app: &App, rows: &Arc<Rows>, section: Section) -> Result<Side, Problem> {
    let clock = clock();
    let agents = calls::project::agents(&app.project).await?;
    let find = |task| rows.find(task);
    let root = app.project.root();
    Ok(Side {
        project: root
            .file_name()
            .map_or_else(|| "project".to_owned(), |name| name.to_string_lossy().into_owned()),
        section,
        inbox: app.shared.inbox(&app.project).await?.len(),
        agents: agents.iter().map(|agent| AgentLine::of(agent, find, &clock)).collect(),
        spent_today: calls::project::spent_today(&app.project, &clock).await?.map(words::money),
        has_engine: calls::project::find_engine(&app.project).await?.is_some(),
    })
}

async fn nav(call: Call) -> Result<Answer, Problem> {
    let section = call.query.text("at").and_then(Section::find).unwrap_or(Section::Board);
    let rows = call.app.shared.rows(&call.app.project).await?;
    Ok(html(shell::nav(&side(&call.app, &rows, section).await?)))
}

/// Answers a browser with the page of an error; nothing if not even that can be made.
pub(crate) async fn explain(app: &App, problem: &Problem) -> Option<Answer> {
    let shell = shell(app, Section::Board, false).await.ok()?;
    Some(html(problem::page(&shell, problem)).status(crate::status::status_of(problem.code)))
}
