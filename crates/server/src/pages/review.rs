//! The review of a task.

use super::{html, page, shell};
use crate::answer::Answer;
use crate::call::Call;
use crate::calls;
use crate::route::Route;
use regatta_board::shell::Section;
use regatta_board::soon;
use regatta_engine::core::Problem;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/tasks/{id}/review", "review", "Review the diff of a task", review)]
}

async fn review(call: Call) -> Result<Answer, Problem> {
    let task = calls::tasks::show(&call.app.project, call.path("id")?).await?;
    Ok(html(soon::page(&shell(&call.app, Section::Board, true).await?, &task.title)))
}
