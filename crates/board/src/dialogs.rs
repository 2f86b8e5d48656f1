//! Dialogs and lists that open over a page: a new task, what is found, the keys.

use crate::markup::{Markup, escape, render};
use crate::parts;
use askama::Template;
use regatta_engine::TaskRow;
use regatta_engine::core::machine::Column;
use regatta_engine::runs::RunView;

#[derive(Template)]
#[template(path = "new_task.html")]
struct NewTask<'a> {
    agents: &'a [String],
    epics: &'a [(String, String)],
}

/// Renders the dialog of a new task.
pub fn new_task(agents: &[String], epics: &[(String, String)]) -> Markup {
    render(&NewTask { agents, epics })
}

#[derive(Template)]
#[template(path = "keys.html")]
struct Keys;

/// Renders the list of keys.
pub fn keys() -> Markup {
    render(&Keys)
}

#[derive(Template)]
#[template(path = "find.html")]
struct Find<'a> {
    tasks: &'a [&'a TaskRow],
    runs: &'a [RunView],
    query: &'a str,
}

impl Find<'_> {
    fn icon(&self, row: &TaskRow) -> Markup {
        parts::drawn(
            match (row.column, &*row.phase) {
                (Column::Verified, _) => "merge",
                (_, "ready") => "eye",
                (_, "asking") => "ask",
                (_, "queued") => "queue",
                (Column::Backlog, _) => "person",
                (_, "halted") => "x",
                (_, "parked") => "clock",
                _ => "play",
            },
            "i dim",
        )
    }

    /// Marks what was typed where it stands in a title.
    fn mark(&self, title: &str) -> Markup {
        let wanted = self.query.trim().to_lowercase();
        // Lower case may have another length; then nothing is marked.
        let place =
            Some(title.to_lowercase()).filter(|lower| lower.len() == title.len() && !wanted.is_empty());
        let place = place.and_then(|lower| lower.find(&wanted));
        let parts = place.and_then(|at| {
            Some((title.get(..at)?, title.get(at..at + wanted.len())?, title.get(at + wanted.len()..)?))
        });
        Markup::new(match parts {
            Some((before, found, after)) => {
                format!("{}<mark>{}</mark>{}", escape(before), escape(found), escape(after))
            }
            None => escape(title),
        })
    }
}

/// Renders what was found, for the palette.
pub fn find(tasks: &[&TaskRow], runs: &[RunView], query: &str) -> Markup {
    render(&Find { tasks, runs, query })
}
