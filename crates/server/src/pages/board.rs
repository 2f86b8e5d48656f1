//! The board, and the cards on it.

use super::{html, page, shell};
use crate::answer::Answer;
use crate::call::Call;
use crate::route::Route;
use regatta_board::shell::Section;
use regatta_board::soon;
use regatta_engine::core::Problem;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/", "board", "Show the board", board)]
}

async fn board(call: Call) -> Result<Answer, Problem> {
    Ok(html(soon::page(&shell(&call.app, Section::Board, false).await?, "Board")))
}
