//! The inbox: what waits for a person.

use super::{html, page, shell};
use crate::answer::Answer;
use crate::app::App;
use crate::call::Call;
use crate::route::Route;
use regatta_board::shell::Section;
use regatta_board::soon;
use regatta_engine::core::Problem;
use regatta_engine::core::machine::Column;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/inbox", "inbox", "Show what waits for a person", inbox)]
}

/// Counts what waits for a person.
pub(super) async fn count(app: &App) -> Result<usize, Problem> {
    let rows = app.rows.get(&app.project).await?;
    Ok(rows.list.iter().filter(|row| row.column != Column::Backlog && row.owner == "you").count())
}

async fn inbox(call: Call) -> Result<Answer, Problem> {
    Ok(html(soon::page(&shell(&call.app, Section::Inbox, false).await?, "Inbox")))
}
