//! The table of routes, one file per group.

pub(crate) mod answers;
mod comment;
mod documents;
mod events;
mod health;
mod live;
mod mcp;
mod messages;
mod metrics;
mod notes;
mod project;
mod recovery;
mod runs;
mod sessions;
mod streams;
mod task_changes;
pub(crate) mod tasks;
mod viewed;

use crate::app::Needs;
use crate::page;
use crate::page_of::ITEMS_MAX;
use crate::route::{Kind, Route};
use crate::waiting::WAIT_MAX;

/// Returns every route.
pub(crate) fn all() -> Vec<Route> {
    let pages = vec![
        Route::get("/open", "open", "Turn a one-time code into a cookie", page::open)
            .needs(Needs::Nothing)
            .takes("code", Kind::Text, "The one-time code"),
    ];
    let groups = [
        pages,
        crate::pages::routes(),
        health::routes(),
        tasks::routes(),
        task_changes::routes(),
        viewed::routes(),
        runs::routes(),
        documents::routes(),
        messages::routes(),
        notes::routes(),
        project::routes(),
        recovery::routes(),
        events::routes(),
        live::routes(),
        mcp::routes(),
        metrics::routes(),
        sessions::routes(),
        streams::routes(),
    ];
    groups.into_iter().flatten().collect()
}

/// Returns the method and the address of every route.
pub fn list_routes() -> Vec<String> {
    all().iter().map(|route| format!("{} {}", route.method, route.path)).collect()
}

/// The parameters of a list.
trait Paged {
    /// Adds them.
    fn paged(self) -> Self;
}

impl Paged for Route {
    fn paged(self) -> Self {
        self.takes("limit", Kind::UpTo(ITEMS_MAX), "How many items at most, up to 1000; 100 by default")
            .takes("after", Kind::Text, "Where the page begins: `next` of the page before")
    }
}

/// The parameter of a change that sets something off.
/// Adds the parameters that say which events are sent.
trait OfEvents {
    fn of_events(self) -> Self;
}

impl OfEvents for Route {
    fn of_events(self) -> Self {
        let known = "The number of the last event that is known; `Last-Event-ID` comes first";
        let kinds = "Only events of this type, or of all that begin so if it ends with a colon";
        self.takes("after", Kind::Number, known)
            .takes("task", Kind::Number, "Only events of this task")
            .takes("run", Kind::Number, "Only events of this run")
            .takes("type", Kind::Text, kinds)
    }
}

trait Awaited {
    /// Adds it.
    fn awaited(self) -> Self;
}

impl Awaited for Route {
    fn awaited(self) -> Self {
        self.takes(
            "wait",
            Kind::UpTo(WAIT_MAX),
            "How many seconds to wait for what the change sets off, up to 60",
        )
    }
}
