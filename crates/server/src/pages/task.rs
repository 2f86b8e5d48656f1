//! The page of one task, with its pieces, and the logs of sessions.

use super::{clock, html, page, shell};
use crate::answer::{Answer, no_route};
use crate::call::Call;
use crate::route::{Kind, Route};
use crate::routes::tasks::show_whole;
use crate::sessions;
use regatta_board::log::{self, Part};
use regatta_board::shell::Section;
use regatta_board::task::{self, About, Middle, Tab};
use regatta_board::{Markup, markdown, session, timeline};
use regatta_engine::core::session::Scope;
use regatta_engine::core::{AnyEvent, Event, Problem, TaskId};
use regatta_engine::messages::{self, Filter};
use regatta_engine::{
    Entry, SessionLog, TaskRow, TranscriptPage, Versioned, edits, find_version, list_session_logs,
    list_task_events, reading, show_diff,
};

/// How many items of a session a page shows at first, and each time somebody asks for more.
const ITEMS_MAX: usize = 200;

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/tasks/{id}", "task", "Show one task", show)
            .takes("tab", Kind::Text, "session, file, changes, chain or messages")
            .takes("session", Kind::Text, "The session whose log is shown; the newest by default"),
        Route::get("/fragments/tasks/{id}/{piece}", "fragmentTask", "Show a piece of a task's page", piece)
            .takes("tab", Kind::Text, "The tab that is shown")
            .takes("session", Kind::Text, "The session whose log is shown"),
        page("/sessions/{name}", "session", "Show the log of one session", show_session),
        Route::get("/fragments/sessions/{name}/log", "fragmentLog", "Show a part of a session's log", part)
            .takes("from", Kind::Number, "The place where it begins")
            .takes("before", Kind::Number, "The place before which it ends"),
    ]
}

async fn load(call: &Call) -> Result<About, Problem> {
    let (project, id): (_, TaskId) = (call.project(), call.path("id")?);
    let task = show_whole(project, id).await?;
    let rows = call.app.shared.rows(project).await?;
    let needs = |row: &&TaskRow| row.dependencies.contains(&id);
    let entries = list_task_events(project, id).await?;
    Ok(About {
        task,
        sessions: list_session_logs(project, Scope::Task(id)).await?,
        agents: project.config().agents.keys().map(ToString::to_string).collect(),
        needed_by: rows.list.iter().filter(needs).map(|row| row.id).collect(),
        timeline: timeline::of(&entries),
        checked_at: entries.iter().rev().find_map(commit_of),
        has_editor: project.config().editor.is_some(),
        messages: messages::list_some(project, &Filter { task: Some(id), ..Filter::default() }).await?,
        clock: clock(),
        tab: call.query.text("tab").and_then(Tab::find).unwrap_or(Tab::Session),
    })
}

/// Renders what the tab shows.
async fn middle(call: &Call, about: &About) -> Result<Markup, Problem> {
    let (project, id) = (call.project(), about.task.id);
    let render = |middle: Middle<'_>| task::middle(about, &middle);
    Ok(match about.tab {
        Tab::Session => {
            let wanted = call.query.text("session");
            let named = |log: &&SessionLog| wanted.is_none_or(|wanted| log.session == wanted);
            match about.sessions.iter().rev().find(named) {
                Some(session) => {
                    let page = sessions::page_before(session, None, ITEMS_MAX)?;
                    render(Middle::Session(Some((session, part_of(session, &page)))))
                }
                None => render(Middle::Session(None)),
            }
        }
        Tab::File => {
            let file = edits::refresh(project, &call.caller(), id).await?;
            render(Middle::File(file.text(), find_version(project, &Versioned::TaskFile(id)).await?))
        }
        // A task without a worktree has no diff, which is no error of this page.
        Tab::Changes => render(Middle::Changes(show_diff(project, id).await.ok().as_ref())),
        Tab::Chain => render(Middle::Chain(&reading::output(project, &call.caller(), id).await?)),
        Tab::Messages => render(Middle::Messages(&about.messages)),
    })
}

/// Returns the commit that checks were run at.
fn commit_of(entry: &Entry) -> Option<String> {
    match &entry.event {
        AnyEvent::Task(Event::ChecksRan { commit, .. }) => Some(commit.to_string()),
        _ => None,
    }
}

fn part_of<'a>(session: &SessionLog, page: &'a TranscriptPage) -> Part<'a> {
    Part {
        items: &page.items,
        begin: page.begin,
        end: page.end,
        // A line that is being written is no whole line yet.
        has_more: page.end < page.length && page.items.len() == ITEMS_MAX,
        is_open: session.is_open(),
    }
}

async fn show(call: Call) -> Result<Answer, Problem> {
    let about = load(&call).await?;
    let shell = shell(&call.app, Section::Board, false).await?;
    Ok(html(task::page(&shell, &about, middle(&call, &about).await?)))
}

async fn piece(call: Call) -> Result<Answer, Problem> {
    let name: String = call.path("piece")?;
    if name == "file" {
        let id = call.path("id")?;
        let file = edits::refresh(&call.app.project, &call.caller(), id).await?;
        return Ok(html(task::file(id, &markdown::render(file.text()))));
    }
    let about = load(&call).await?;
    let found = match name.as_str() {
        "middle" => Some(middle(&call, &about).await?),
        "logbar" => Some(task::logbar(&about, call.query.text("session").unwrap_or_default())),
        _ => task::piece(&about, &name),
    };
    found.map(html).ok_or_else(|| no_route(&format!("/fragments/tasks/{}/{name}", about.task.id)))
}

async fn show_session(call: Call) -> Result<Answer, Problem> {
    let found = sessions::find(&call.app.project, &call.path::<String>("name")?).await?;
    let page = sessions::page_before(&found, None, ITEMS_MAX)?;
    let shell = shell(&call.app, Section::Runs, false).await?;
    Ok(html(session::page(&shell, &found, part_of(&found, &page), &clock())))
}

async fn part(call: Call) -> Result<Answer, Problem> {
    let found = sessions::find(&call.app.project, &call.path::<String>("name")?).await?;
    let page = match call.query.get("before")? {
        Some(before) => sessions::page_before(&found, Some(before), ITEMS_MAX)?,
        None => {
            let from = call.query.get("from")?.unwrap_or(0);
            sessions::page_from(&found, from, ITEMS_MAX)?
        }
    };
    Ok(html(log::part(part_of(&found, &page), &clock())))
}
