//! Events and followed outputs on one connection, because a browser has six per host.

use super::OfEvents as _;
use super::events::{filter_of, start_of};
use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::following::{Following, Frames, Marks};
use crate::route::{Kind, Route};
use crate::sessions;
use crate::stream_body;
use regatta_engine::core::Problem;
use std::sync::Arc;

/// How many sessions one connection follows.
const SESSIONS_MAX: usize = 16;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "/api/live",
            "followAll",
            "Follow the log and the output of sessions as server-sent events on one connection",
            live,
        )
        .of_events()
        .takes(
            "sessions",
            Kind::Text,
            "Names of sessions, with commas; `NAME:N` leaves out the first N items, and `NAME@:BYTES` sends no items, but says how far the output has come",
        ),
    ]
}

async fn live(call: Call) -> Result<Answer, Problem> {
    let filter = filter_of(&call)?;
    let (start, head) = start_of(&call).await?;
    let names: Vec<&str> =
        call.query.text("sessions").unwrap_or_default().split(',').filter(|name| !name.is_empty()).collect();
    if names.len() > SESSIONS_MAX {
        return Err(invalid("sessions", format!("has more than {SESSIONS_MAX} names")));
    }
    let (sender, body) = stream_body::channel();
    for name in names {
        let (name, known) = name.split_once(':').unwrap_or((name, "0"));
        let known = known
            .parse()
            .map_err(|_| invalid("sessions", "must be names, each with a number after a colon or none"))?;
        let log = sessions::find(call.project(), name.trim_end_matches('@')).await?;
        if name.ends_with('@') {
            tokio::spawn(Marks::new(&call.app, log, known).run(sender.clone()));
        } else {
            tokio::spawn(Following::new(&call.app, log, known, Frames::Shared).run(sender.clone()));
        }
    }
    let hub = Arc::clone(&call.app.hub);
    tokio::spawn(hub.feed(start.unwrap_or(head), filter, sender, call.app.stop.clone()));
    Ok(Answer::stream("text/event-stream", body).seq(head))
}
