//! The tabs of a task's page, and what stands below each.

use super::{About, Middle, Tab, changes, session_line};
use crate::log;
use crate::markdown;
use crate::markup::{Markup, escape, render};
use crate::parts;
use crate::words::{self, Clock};
use askama::Template;
use regatta_engine::core::machine::Column;
use regatta_engine::messages::MessageView;
use regatta_engine::{SessionLog, TaskView};
use serde_json::Value;

struct Item {
    tab: Tab,
    word: &'static str,
    note: Markup,
    key: usize,
}

#[derive(Template)]
#[template(path = "task_tabs.html")]
struct Bar<'a> {
    task: &'a TaskView,
    shown: Tab,
    items: Vec<Item>,
}

pub(super) fn bar(about: &About) -> Markup {
    let items = Tab::ALL.into_iter().zip(1..).map(|(tab, key)| {
        let (word, note) = match tab {
            Tab::Session => ("Session", Markup::default()),
            Tab::File => ("Task file", Markup::default()),
            Tab::Changes => ("Changes", lines_of(&about.task)),
            Tab::Chain => ("Inputs and output", stale_mark(&about.task)),
            Tab::Messages => ("Messages", count_mark(about.messages.len())),
        };
        Item { tab, word, note, key }
    });
    render(&Bar { task: &about.task, shown: about.tab, items: items.collect() })
}

fn lines_of(task: &TaskView) -> Markup {
    let Some(diff) = &task.diff else { return Markup::default() };
    Markup::new(format!("<span class=\"dim\">+{} −{}</span>", diff.lines_added, diff.lines_removed))
}

fn stale_mark(task: &TaskView) -> Markup {
    if !task.inputs.iter().any(super::is_stale) {
        return Markup::default();
    }
    Markup::new(format!("<span class=\"chip warn\">{}changed</span>", parts::small("alert")))
}

fn count_mark(count: usize) -> Markup {
    if count == 0 {
        return Markup::default();
    }
    Markup::new(format!("<span class=\"dim\">{count}</span>"))
}

pub(super) fn middle(about: &About, middle: &Middle<'_>) -> Markup {
    match middle {
        Middle::Session(shown) => session(about, *shown),
        Middle::File(text, version) => {
            render(&File { task: &about.task, text, version: *version, shown: markdown::render(text) })
        }
        Middle::Changes(diff) => match diff {
            Some(diff) => changes(diff),
            None => nothing("folder", "No changes yet", "What the agent changes is shown here."),
        },
        Middle::Chain(output) => chain(about, output),
        Middle::Messages(messages) => render(&Messages { messages, clock: &about.clock }),
    }
}

#[derive(Template)]
#[template(path = "task_session.html")]
struct Session<'a> {
    bar: Markup,
    log: &'a SessionLog,
    part: log::Part<'a>,
    rows: Markup,
}

#[derive(Template)]
#[template(path = "task_logbar.html")]
struct LogBar<'a> {
    task: &'a TaskView,
    shown: &'a str,
    others: Vec<(String, String, bool)>,
    line: String,
    is_newest: bool,
    is_open: bool,
}

/// Renders the bar above a log: which session it is, and whether it is followed.
pub(super) fn logbar(about: &About, shown: &str) -> Markup {
    let others = about.sessions.iter().rev().map(|other| {
        let of = about.sessions.len();
        let name = format!("Session {} of {of}", other.number);
        (other.session.clone(), name, other.session == shown)
    });
    let own = about.sessions.iter().find(|session| session.session == shown);
    render(&LogBar {
        task: &about.task,
        shown,
        others: others.collect(),
        line: own.map_or_else(String::new, |own| line_of(about, own)),
        is_newest: about.sessions.last().is_none_or(|newest| newest.session == shown),
        is_open: own.is_some_and(SessionLog::is_open),
    })
}

/// Says what a session has used: so far, as its agent says, while it runs.
fn line_of(about: &About, session: &SessionLog) -> String {
    let activity = about
        .task
        .activity
        .as_ref()
        .filter(|activity| session.is_open() && activity.session == session.number);
    let Some(activity) = activity else { return session_line(session, &about.clock) };
    let mut parts = vec![activity.agent_id.to_string(), about.clock.age(activity.started_at)];
    parts.extend(
        activity
            .tokens
            .filter(|tokens| *tokens > 0)
            .map(|tokens| format!("{} tokens", words::tokens(tokens))),
    );
    parts.extend(activity.cost_micros.map(words::money));
    parts.join(" · ")
}

fn session(about: &About, shown: Option<(&SessionLog, log::Part<'_>)>) -> Markup {
    let Some((session, part)) = shown else {
        return match about.task.column {
            Column::Backlog => nothing(
                "term",
                "No session yet",
                "Assign the task, and what its agent does is shown here as it happens.",
            ),
            _ => nothing("term", "No session yet", "It is shown here as soon as it starts."),
        };
    };
    render(&Session {
        bar: logbar(about, &session.session),
        log: session,
        rows: log::rows(part.items, part.is_open && !part.has_more, &about.clock),
        part,
    })
}

#[derive(Template)]
#[template(path = "task_file.html")]
struct File<'a> {
    task: &'a TaskView,
    text: &'a str,
    version: u64,
    shown: Markup,
}

#[derive(Template)]
#[template(path = "task_chain.html")]
struct Chain<'a> {
    task: &'a TaskView,
    needed_by: &'a [regatta_engine::core::TaskId],
    inputs: Vec<(String, Markup, bool)>,
    output: Option<Markup>,
}

fn chain(about: &About, output: &Value) -> Markup {
    let inputs = about.task.inputs.iter();
    let inputs =
        inputs.map(|input| (input.task_id.to_string(), markdown::render(&input.summary), input.stale));
    let output = output["output"].as_str().filter(|text| !text.trim().is_empty()).map(markdown::render);
    render(&Chain { task: &about.task, needed_by: &about.needed_by, inputs: inputs.collect(), output })
}

#[derive(Template)]
#[template(path = "task_messages.html")]
struct Messages<'a> {
    messages: &'a [MessageView],
    clock: &'a Clock,
}

/// An empty state: what would be here, and what to do about it.
fn nothing(icon: &str, what: &str, next: &str) -> Markup {
    Markup::new(format!(
        "<div class=\"none grow\" id=\"middle\">{}<p class=\"b\">{}</p><p class=\"mid\">{}</p></div>",
        parts::icon(icon),
        escape(what),
        escape(next)
    ))
}
