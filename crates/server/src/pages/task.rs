//! The page of one task.

use super::{html, page, shell};
use crate::answer::Answer;
use crate::call::Call;
use crate::calls;
use crate::route::Route;
use regatta_board::shell::Section;
use regatta_board::soon;
use regatta_engine::core::Problem;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/tasks/{id}", "task", "Show one task", task)]
}

async fn task(call: Call) -> Result<Answer, Problem> {
    let task = calls::tasks::show_whole(&call.app.project, call.path("id")?).await?;
    Ok(html(soon::page(&shell(&call.app, Section::Board, false).await?, &task.title)))
}
