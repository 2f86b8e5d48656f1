//! The inbox: what waits for a person.

use super::{clock, html, page, shell};
use crate::answer::Answer;
use crate::call::Call;
use crate::route::{Kind, Route};
use regatta_board::inbox::{self, Show};
use regatta_board::shell::Section;
use regatta_engine::core::{AgentState, Problem};
use regatta_engine::list_agents;

pub(super) fn routes() -> Vec<Route> {
    let show = "What is listed: all, reviews, questions or problems";
    vec![
        page("/inbox", "inbox", "Show what waits for a person", inbox).takes("show", Kind::Text, show),
        Route::get("/fragments/inbox", "fragmentInbox", "Show the list of the inbox", list).takes(
            "show",
            Kind::Text,
            show,
        ),
    ]
}

async fn inbox(call: Call) -> Result<Answer, Problem> {
    let shell = shell(&call.app, Section::Inbox, false).await?;
    let items = call.app.shared.inbox(&call.app.project).await?;
    Ok(html(inbox::page(&shell, &items, Show::find(call.query.text("show").unwrap_or_default()), &clock())))
}

async fn list(call: Call) -> Result<Answer, Problem> {
    let items = call.app.shared.inbox(&call.app.project).await?;
    let agents = list_agents(&call.app.project).await?;
    let at_work = agents.iter().filter(|agent| agent.state == AgentState::Running).count();
    let show = Show::find(call.query.text("show").unwrap_or_default());
    Ok(html(inbox::list(&items, show, &clock(), at_work)))
}
