//! The pages of the board, one file per group: each fetches objects from the engine, and `board` makes HTML of them.
//!
//! A page is whole when it arrives. What changes while it is open is fetched again as a fragment, the same HTML in a smaller
//! piece. Pages change nothing: their scripts and forms use the API.

mod assets;
mod board;
mod dialogs;
mod errors;
mod inbox;
mod review;
mod runs;
mod task;

use crate::answer::Answer;
use crate::app::{App, Needs};
use crate::call::Call;
use crate::route::{Handler, Kind, Route, Word};
use crate::rows::Rows;
use regatta_board::Markup;
use regatta_board::problem;
use regatta_board::shell::{self, AgentLine, Section, Shell, Side};
use regatta_board::words::{self, Clock};
use regatta_engine::core::Problem;
use regatta_engine::cost::{CostQuery, find_cost};
use regatta_engine::{Project, find_running, list_agents};
use std::sync::Arc;

const HTML: &str = "text/html; charset=utf-8";

/// Returns the routes of all pages and fragments.
pub(crate) fn routes() -> Vec<Route> {
    let own = vec![Route::get("/fragments/nav", "fragmentNav", "Show the sidebar", nav).takes(
        "at",
        Kind::Text,
        "What is marked as current: inbox, board or runs",
    )];
    let groups = [
        own,
        assets::routes(),
        board::routes(),
        dialogs::routes(),
        errors::routes(),
        inbox::routes(),
        review::routes(),
        task::routes(),
        runs::routes(),
    ];
    groups.into_iter().flatten().collect()
}

/// A page: a browser without a cookie learns how to get one, and an error is a page, too.
fn page(path: Word, name: Word, summary: Word, run: impl Handler) -> Route {
    Route::get(path, name, summary, run).needs(Needs::Page)
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
    let agents = list_agents(&app.project).await?;
    let find = |task| rows.find(task);
    let root = app.project.root();
    Ok(Side {
        project: root
            .file_name()
            .map_or_else(|| "project".to_owned(), |name| name.to_string_lossy().into_owned()),
        section,
        inbox: app.shared.inbox(&app.project).await?.len(),
        agents: agents.iter().map(|agent| AgentLine::of(agent, find, &clock)).collect(),
        spent_today: spent_today(&app.project, &clock).await?.map(words::money),
        has_engine: find_running(&app.project).await?.is_some(),
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

/// Returns what was paid today, in millionths of a dollar; nothing if no agent says what it costs.
async fn spent_today(project: &Project, clock: &Clock) -> Result<Option<u64>, Problem> {
    let today = clock.now.to_zoned(clock.zone.clone()).date().to_string();
    let days = find_cost(project, CostQuery::Days, None, None).await?;
    let paid = days.lines.iter().filter(|line| line.name == today).map(|line| line.spent.cost_micros).sum();
    Ok(Some(paid).filter(|paid| *paid > 0))
}
