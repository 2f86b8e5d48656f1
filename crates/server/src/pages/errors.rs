//! The pages of error codes. They are in the binary, so they can be read without a network.

use super::{html, page, shell};
use crate::answer::{Answer, no_route};
use crate::call::Call;
use crate::route::Route;
use regatta_board::error_page;
use regatta_board::shell::Section;
use regatta_engine::core::Problem;

pub(super) fn routes() -> Vec<Route> {
    vec![page("/errors/{code}", "errorPage", "Show what an error code means", show)]
}

async fn show(call: Call) -> Result<Answer, Problem> {
    let code: String = call.path("code")?;
    let shell = shell(&call.app, Section::Board, false).await?;
    error_page::page(&shell, &code).map(html).ok_or_else(|| no_route(&format!("/errors/{code}")))
}
