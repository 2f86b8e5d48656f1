//! Sessions and their output, page by page or while the agent writes.

use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::following::{Following, Frames};
use crate::items::Items;
use crate::page_of;
use crate::route::{Kind, Route};
use crate::sessions;
use crate::stream_body;
use http::header;
use regatta_engine::SessionLog;
use regatta_engine::core::Problem;
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
            Kind::UpTo(page_of::ITEMS_MAX),
            "How many items a page has at most, up to 1000; 100 by default",
        ),
    ]
}

async fn show(call: Call) -> Result<Answer, Problem> {
    sessions::find(call.project(), &call.path::<String>("name")?).await.map(Answer::json)
}

async fn output(call: Call) -> Result<Answer, Problem> {
    let log = sessions::find(call.project(), &call.path::<String>("name")?).await?;
    if let Some(before) = call.query.text("before") {
        return back(&log, before, page_of::limit(&call.query)?);
    }
    let first = match (super::events::find_position(&call)?, call.query.get::<u64>("tail")?) {
        (Some(after), _) => after,
        (None, Some(tail)) => Items::new(&log).count(&log).await?.saturating_sub(tail),
        (None, None) => 0,
    };
    let accepts = call.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !call.query.flag("follow")? && !accepts.contains("text/event-stream") {
        let (limit, mut items) = (page_of::limit(&call.query)?, Items::new(&log));
        let page = items.page(&log, first, limit).await?;
        let next = items.number();
        let is_more = page.len() == limit && items.next(&log).await?.is_some();
        return Ok(page_of::answer(page, Some(next).filter(|_| is_more)));
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
    let page = sessions::page_before(log, place, limit)?;
    let items: Vec<_> = page.items.iter().map(|(_, timed)| log.show_item(timed)).collect();
    let previous = Some(page.begin.to_string()).filter(|_| page.begin > 0);
    Ok(Answer::json(json!({ "items": items, "next": null, "previous": previous })))
}
