//! Sessions and their output, page by page or while the agent writes.

use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::calls;
use crate::following::{Following, Frames};
use crate::page_of;
use crate::route::{Kind, Route};
use crate::stream_body;
use http::header;
use regatta_engine::core::Problem;
use regatta_engine::{Follower, SessionLog};
use serde_json::json;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/sessions/{name}", "showSession", "Show one session", show),
        Route::get(
            "/api/sessions/{name}/output",
            "showOutput",
            "Show what an agent said and did; with `follow` or `Accept: text/event-stream`, while it works",
            output,
        )
        .takes("after", Kind::Number, "How many items are known; `Last-Event-ID` comes first")
        .takes("tail", Kind::Number, "Begin with the last so many items")
        .takes(
            "before",
            Kind::Text,
            "Show the items before a place: `previous` of the page after, or `end` for the last items",
        )
        .takes("follow", Kind::Flag, "Send what comes as server-sent events, until the session has ended")
        .takes(
            "limit",
            Kind::Number,
            "How many items a page has at most, up to 1000; 100 by default",
        ),
    ]
}

async fn show(call: Call) -> Result<Answer, Problem> {
    calls::sessions::find(&call.app.project, &call.path::<String>("name")?).await.map(Answer::json)
}

async fn output(call: Call) -> Result<Answer, Problem> {
    let log = calls::sessions::find(&call.app.project, &call.path::<String>("name")?).await?;
    if let Some(before) = call.query.text("before") {
        return back(&log, before, page_of::limit(&call.query)?);
    }
    let mut follower = Follower::new(&log.transcript);
    let items = calls::sessions::read(&log, &mut follower)?;
    let tail = call.query.get::<usize>("tail")?.map(|tail| items.len().saturating_sub(tail));
    let first = super::events::find_position(&call)?
        .and_then(|after| usize::try_from(after).ok())
        .or(tail)
        .unwrap_or(0);
    let accepts = call.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !call.query.flag("follow")? && !accepts.contains("text/event-stream") {
        let page: Vec<_> = items.iter().skip(first).take(page_of::limit(&call.query)?).collect();
        let next = first.saturating_add(page.len());
        return Ok(page_of::answer(page, Some(next).filter(|next| *next < items.len())));
    }
    let (sender, body) = stream_body::channel();
    tokio::spawn(Following::new(&call.app, log, first, Frames::Own).run(sender));
    Ok(Answer::stream("text/event-stream", body))
}

/// Answers with the items before a place in the transcript, of which no more is read than is shown.
fn back(log: &SessionLog, before: &str, limit: usize) -> Result<Answer, Problem> {
    let place = match before {
        "end" => None,
        place => {
            Some(place.parse().map_err(|_| invalid("before", "must be `end` or a cursor of this list"))?)
        }
    };
    let page = calls::sessions::page_before(log, place, limit)?;
    let items: Vec<_> = page.items.iter().map(|(_, timed)| log.show_item(timed)).collect();
    let previous = Some(page.begin.to_string()).filter(|_| page.begin > 0);
    Ok(Answer::json(json!({ "items": items, "next": null, "previous": previous })))
}
