//! The page of a session that belongs to no task: a role of a run on its own.

use crate::log;
use crate::markup::{Markup, render};
use crate::shell::Shell;
use crate::words::Clock;
use askama::Template;
use regatta_engine::SessionLog;

#[derive(Template)]
#[template(path = "session.html")]
struct Page<'a> {
    shell: &'a Shell,
    log: &'a SessionLog,
    line: String,
    part: log::Part<'a>,
    rows: Markup,
}

/// Renders the page.
pub fn page(shell: &Shell, session: &SessionLog, part: log::Part<'_>, clock: &Clock) -> Markup {
    let rows = log::rows(part.items, part.is_open && !part.has_more, clock);
    render(&Page { shell, log: session, line: crate::task::session_line(session, clock), part, rows })
}
