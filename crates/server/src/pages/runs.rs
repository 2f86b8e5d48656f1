//! The list of runs, and the page of one.

use super::{html, page, shell};
use crate::answer::Answer;
use crate::call::Call;
use crate::calls;
use crate::route::Route;
use regatta_board::shell::Section;
use regatta_board::soon;
use regatta_engine::core::Problem;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/runs", "runs", "Show the runs", runs), page("/runs/{id}", "run", "Show one run", run)]
}

async fn runs(call: Call) -> Result<Answer, Problem> {
    Ok(html(soon::page(&shell(&call.app, Section::Runs, false).await?, "Runs")))
}

async fn run(call: Call) -> Result<Answer, Problem> {
    let run = calls::runs::show(&call.app.project, call.path("id")?).await?;
    Ok(html(soon::page(&shell(&call.app, Section::Runs, false).await?, &format!("Run {}", run.id))))
}
