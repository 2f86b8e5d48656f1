//! The board, and the cards on it.

use super::{clock, html, page, shell};
use crate::answer::{Answer, invalid};
use crate::app::App;
use crate::call::Call;
use crate::route::{Kind, Route};
use crate::rows::Rows;
use regatta_board::cards::{self, Board, Card, ColumnPart, Head};
use regatta_board::filter::Filter;
use regatta_board::shell::{Section, Shell};
use regatta_board::start::{self, Start};
use regatta_board::{Markup, words::Clock};
use regatta_engine::core::machine::Column;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{TaskRow, TaskView, list_cards, list_epics, runs};
use std::collections::{BTreeMap, BTreeSet};

/// How many cards of a column are in the page at first, and how many come with each further window.
const WINDOW: usize = 30;

/// How many cards are fetched at once.
const CARDS_MAX: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    let filter = "What is typed into the filter";
    vec![
        page("/", "board", "Show the board", board).takes("q", Kind::Text, filter),
        Route::get("/fragments/cards", "fragmentCards", "Show some cards", cards)
            .takes("ids", Kind::Text, "The numbers of the tasks, with commas")
            .takes("q", Kind::Text, filter),
        Route::get("/fragments/column", "fragmentColumn", "Show more cards of a column", column)
            .takes("column", Kind::Text, "The column")
            .takes("q", Kind::Text, filter)
            .takes("after", Kind::Text, "The rank of the last card that is shown")
            .takes("before", Kind::Text, "The rank of the first card that is shown, for those above it")
            .takes("limit", Kind::Number, "How many cards at most"),
    ]
}

async fn board(call: Call) -> Result<Answer, Problem> {
    let app = &call.app;
    let shell = shell(app, Section::Board, false).await?;
    let rows = app.shared.rows(&app.project).await?;
    let agents = agents(app);
    if agents.is_empty() || rows.list.is_empty() {
        return Ok(html(begin(app, &shell, agents)));
    }
    let (query, clock) = (call.query.text("q").unwrap_or_default(), clock());
    let filter = Filter::parse(query);
    let mut columns = Vec::new();
    for head in heads(app, &rows, &filter, &clock) {
        let (ids, next) = cards::window(shown(&rows, &filter), head.column, None, WINDOW);
        columns.push(ColumnPart { head, cards: render(app, &rows, &ids, &clock).await?, next });
    }
    let epics = epics(app).await?;
    Ok(html(cards::board(&Board { shell: &shell, query, columns, agents, epics })))
}

/// The page of a project that has just begun.
fn begin(app: &App, shell: &Shell, agents: Vec<String>) -> Markup {
    let config = app.project.config();
    start::page(&Start {
        shell,
        root: app.project.root().display().to_string(),
        branch: config.default_branch.to_string(),
        agents,
        checks: config.checks.values().map(|command| last_of(command)).collect(),
    })
}

/// A line for the shell is run as `sh -c LINE`; what a person wrote is the line.
fn last_of(command: &[String]) -> String {
    match command {
        [shell, flag, line] if shell == "sh" && flag == "-c" => line.clone(),
        other => other.join(" "),
    }
}

pub(super) fn agents(app: &App) -> Vec<String> {
    app.project.config().agents.keys().map(ToString::to_string).collect()
}

pub(super) async fn epics(app: &App) -> Result<Vec<(String, String)>, Problem> {
    let epics = list_epics(&app.project).await?;
    Ok(epics.into_iter().map(|epic| (epic.id.to_string(), epic.title)).collect())
}

/// Returns the rows that a filter shows.
fn shown<'a>(rows: &'a Rows, filter: &'a Filter) -> impl Iterator<Item = &'a TaskRow> {
    rows.list.iter().filter(|row| filter.admits(row, |on| rows.is_open(on)))
}

fn heads(app: &App, rows: &Rows, filter: &Filter, clock: &Clock) -> Vec<Head> {
    let at_once = app.project.config().settings.max_concurrent_agents;
    cards::heads(shown(rows, filter), at_once, clock)
}

/// Renders the cards of these tasks, in this order.
async fn render(app: &App, rows: &Rows, ids: &[TaskId], clock: &Clock) -> Result<Vec<Markup>, Problem> {
    let tasks = list_cards(&app.project, ids, |on| rows.is_open(on)).await?;
    let driven = tasks.iter().filter(|task| task.phase == "driven").filter_map(|task| task.run_id);
    let mut runs = BTreeMap::new();
    for run in driven.collect::<BTreeSet<_>>() {
        runs.insert(run, runs::show_run_only(&app.project, run).await?);
    }
    let card = |task: &TaskView| {
        let row = rows.find(task.id)?;
        let run = task.run_id.and_then(|run| runs.get(&run));
        Some(cards::card(Card { task, row, run }, clock))
    };
    Ok(tasks.iter().filter_map(card).collect())
}

async fn cards(call: Call) -> Result<Answer, Problem> {
    let app = &call.app;
    let mut ids = Vec::new();
    for id in call.query.text("ids").unwrap_or_default().split(',').filter(|id| !id.is_empty()) {
        ids.push(id.parse::<TaskId>().map_err(|error| invalid("ids", format!("is wrong: {error}")))?);
    }
    if ids.len() > CARDS_MAX {
        return Err(invalid("ids", format!("has more than {CARDS_MAX} numbers")));
    }
    let (rows, clock) = (app.shared.rows(&app.project).await?, clock());
    let filter = Filter::parse(call.query.text("q").unwrap_or_default());
    ids.retain(|id| rows.find(*id).is_some_and(|row| filter.admits(row, |on| rows.is_open(on))));
    let heads = heads(app, &rows, &filter, &clock);
    Ok(html(cards::cards(&heads, &render(app, &rows, &ids, &clock).await?, None)))
}

async fn column(call: Call) -> Result<Answer, Problem> {
    let app = &call.app;
    let name = call.query.text("column").unwrap_or_default();
    let column = Column::ALL.into_iter().find(|column| column.as_str() == name);
    let column = column.ok_or_else(|| invalid("column", "is none of the board"))?;
    let (rows, clock) = (app.shared.rows(&app.project).await?, clock());
    let filter = Filter::parse(call.query.text("q").unwrap_or_default());
    let limit =
        usize::try_from(call.query.number("limit", WINDOW as u64, CARDS_MAX as u64)?).unwrap_or(WINDOW);
    let (ids, next) = match call.query.text("before") {
        Some(before) => (cards::window_before(shown(&rows, &filter), column, before, limit.max(1)), None),
        None => cards::window(shown(&rows, &filter), column, call.query.text("after"), limit.max(1)),
    };
    let heads = heads(app, &rows, &filter, &clock);
    Ok(html(cards::cards(&heads, &render(app, &rows, &ids, &clock).await?, next.as_deref())))
}
