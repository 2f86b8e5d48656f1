//! The log: page by page, or as it grows.

use super::OfEvents as _;
use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::log_page;
use crate::page_of;
use crate::route::{Kind, Route};
use crate::stream_body;
use http::{HeaderName, header};
use regatta_engine::EventFilter;
use regatta_engine::core::Problem;
use std::sync::Arc;

/// Where a client that was interrupted stood.
const LAST: HeaderName = HeaderName::from_static("last-event-id");

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "/api/events",
            "followEvents",
            "Follow the log as server-sent events, or read a page of it with `Accept: application/json`",
            events,
        )
        .of_events()
        .takes(
            "limit",
            Kind::UpTo(page_of::ITEMS_MAX),
            "How many events a page has at most, up to 1000; 100 by default",
        ),
    ]
}

async fn events(call: Call) -> Result<Answer, Problem> {
    let filter = filter_of(&call)?;
    let accepts = call.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (start, head) = start_of(&call).await?;
    if accepts.split(',').any(|media| media.trim().starts_with("application/json")) {
        return page(&call, start.unwrap_or(0), &filter).await;
    }
    let (sender, body) = stream_body::channel();
    let hub = Arc::clone(&call.app.hub);
    tokio::spawn(hub.feed(start.unwrap_or(head), filter, sender, call.app.stop.clone()));
    Ok(Answer::stream("text/event-stream", body).seq(head))
}

pub(super) fn filter_of(call: &Call) -> Result<EventFilter, Problem> {
    let filter = EventFilter {
        task: call.query.get("task")?,
        run: call.query.get("run")?,
        kind: call.query.text("type").map(str::to_owned),
    };
    Ok(filter.checked()?)
}

/// Returns the last event that the client knows, if it says so, and the last that there is.
pub(super) async fn start_of(call: &Call) -> Result<(Option<u64>, u64), Problem> {
    let head = call.position().await?;
    match find_position(call)? {
        Some(after) if after > head => {
            Err(invalid("after", format!("is past the end of the log, which has {head} events")))
        }
        after => Ok((after, head)),
    }
}

async fn page(call: &Call, after: u64, filter: &EventFilter) -> Result<Answer, Problem> {
    let limit = page_of::limit(&call.query)?;
    let (items, next) = log_page::read(call.project(), after, limit, filter).await?;
    Ok(page_of::answer(items, next))
}

pub(super) fn find_position(call: &Call) -> Result<Option<u64>, Problem> {
    let last = call.headers.get(&LAST).and_then(|value| value.to_str().ok()).map(str::trim);
    match last.filter(|last| !last.is_empty()) {
        Some(last) => {
            last.parse().map(Some).map_err(|_| invalid(LAST.as_str(), "must be the number of an event"))
        }
        None => call.query.get("after"),
    }
}
