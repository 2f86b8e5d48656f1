//! The page of one task, with its pieces, and the logs of sessions.

use super::{clock, fragment, html, page, shell};
use crate::answer::{Answer, no_route};
use crate::app::App;
use crate::call::Call;
use crate::calls;
use crate::route::{Kind, Route};
use regatta_board::log::{self, Part};
use regatta_board::shell::Section;
use regatta_board::task::{self, About, Middle, Tab};
use regatta_board::timeline::{self, Moment};
use regatta_board::words::Clock;
use regatta_board::{markdown, session};
use regatta_engine::core::{AnyEvent, Event, Problem, TaskId};
use regatta_engine::messages::MessageView;
use regatta_engine::{DiffView, Entry, SessionLog, TaskView, TranscriptPage, Versioned};
use serde_json::Value;

/// How many items of a session a page shows at first, and each time somebody asks for more.
const ITEMS_MAX: usize = 200;

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/tasks/{id}", "task", "Show one task", show)
            .takes("tab", Kind::Text, "session, file, changes, chain or messages")
            .takes("session", Kind::Text, "The session whose log is shown; the newest by default"),
        fragment("/fragments/tasks/{id}/{piece}", "fragmentTask", "Show a piece of a task's page", piece)
            .takes("tab", Kind::Text, "The tab that is shown")
            .takes("session", Kind::Text, "The session whose log is shown"),
        page("/sessions/{name}", "session", "Show the log of one session", show_session),
        fragment("/fragments/sessions/{name}/log", "fragmentLog", "Show a part of a session's log", part)
            .takes("from", Kind::Number, "The place where it begins")
            .takes("before", Kind::Number, "The place before which it ends"),
    ]
}

/// Everything that the pieces of a page are made from.
struct Loaded {
    task: TaskView,
    sessions: Vec<SessionLog>,
    agents: Vec<String>,
    needed_by: Vec<TaskId>,
    timeline: Vec<Moment>,
    checked_at: Option<String>,
    messages: Vec<MessageView>,
    has_editor: bool,
    clock: Clock,
    tab: Tab,
}

/// What the middle of the page is made from.
enum Content {
    Session(Option<(SessionLog, TranscriptPage)>),
    File(String, u64),
    Changes(Option<DiffView>),
    Chain(Value),
    Messages,
}

impl Loaded {
    async fn load(call: &Call) -> Result<Self, Problem> {
        let (app, id): (&App, TaskId) = (&call.app, call.path("id")?);
        let project = &app.project;
        let tab = call.query.text("tab").and_then(Tab::find).unwrap_or(Tab::Session);
        let task = calls::tasks::show_whole(project, id).await?;
        let rows = app.shared.rows(project).await?;
        let entries = calls::tasks::history(project, id).await?;
        Ok(Loaded {
            task,
            sessions: calls::tasks::sessions(project, id).await?,
            agents: project.config().agents.keys().map(ToString::to_string).collect(),
            needed_by: rows
                .list
                .iter()
                .filter(|row| row.dependencies.contains(&id))
                .map(|row| row.id)
                .collect(),
            timeline: timeline::of(&entries),
            checked_at: entries.iter().rev().find_map(commit_of),
            messages: calls::messages::list(project, &call.caller(), None, Some(id), false).await?,
            has_editor: project.config().editor.is_some(),
            clock: clock(),
            tab,
        })
    }

    fn about(&self) -> About<'_> {
        About {
            task: &self.task,
            sessions: &self.sessions,
            agents: &self.agents,
            needed_by: &self.needed_by,
            timeline: &self.timeline,
            checked_at: self.checked_at.as_deref(),
            has_editor: self.has_editor,
            messages: self.messages.len(),
            clock: &self.clock,
            tab: self.tab,
        }
    }

    async fn content(&self, call: &Call) -> Result<Content, Problem> {
        let (project, id) = (&call.app.project, self.task.id);
        Ok(match self.tab {
            Tab::Session => {
                let wanted = call.query.text("session");
                let named = |log: &&SessionLog| wanted.is_none_or(|wanted| log.session == wanted);
                match self.sessions.iter().rev().find(named) {
                    Some(session) => {
                        let page = calls::sessions::page_before(session, None, ITEMS_MAX)?;
                        Content::Session(Some((session.clone(), page)))
                    }
                    None => Content::Session(None),
                }
            }
            Tab::File => {
                let text = calls::tasks::file(project, &call.caller(), id).await?;
                Content::File(text, calls::version(project, &Versioned::TaskFile(id)).await?)
            }
            // A task without a worktree has no diff, which is no error of this page.
            Tab::Changes => Content::Changes(calls::tasks::diff(project, id).await.ok()),
            Tab::Chain => Content::Chain(calls::tasks::output(project, &call.caller(), id).await?),
            Tab::Messages => Content::Messages,
        })
    }

    fn middle<'a>(&'a self, content: &'a Content) -> Middle<'a> {
        match content {
            Content::Session(shown) => {
                Middle::Session(shown.as_ref().map(|(session, page)| (session, part_of(session, page))))
            }
            Content::File(text, version) => Middle::File(text, *version),
            Content::Changes(diff) => Middle::Changes(diff.as_ref()),
            Content::Chain(output) => Middle::Chain(output),
            Content::Messages => Middle::Messages(&self.messages),
        }
    }
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
    let loaded = Loaded::load(&call).await?;
    let content = loaded.content(&call).await?;
    let shell = shell(&call.app, Section::Board, false).await?;
    Ok(html(task::page(&shell, &loaded.about(), &loaded.middle(&content))))
}

async fn piece(call: Call) -> Result<Answer, Problem> {
    let name: String = call.path("piece")?;
    if name == "file" {
        let text = calls::tasks::file(&call.app.project, &call.caller(), call.path("id")?).await?;
        return Ok(html(task::file(call.path("id")?, &markdown::render(&text))));
    }
    let loaded = Loaded::load(&call).await?;
    if name == "middle" {
        let content = loaded.content(&call).await?;
        return Ok(html(task::middle(&loaded.about(), &loaded.middle(&content))));
    }
    if name == "logbar" {
        let shown = call.query.text("session").unwrap_or_default();
        return Ok(html(task::logbar(&loaded.about(), shown)));
    }
    let found = task::piece(&loaded.about(), &name);
    found.map(html).ok_or_else(|| no_route(&format!("/fragments/tasks/{}/{name}", loaded.task.id)))
}

async fn show_session(call: Call) -> Result<Answer, Problem> {
    let found = calls::sessions::find(&call.app.project, &call.path::<String>("name")?).await?;
    let page = calls::sessions::page_before(&found, None, ITEMS_MAX)?;
    let shell = shell(&call.app, Section::Runs, false).await?;
    Ok(html(session::page(&shell, &found, part_of(&found, &page), &clock())))
}

async fn part(call: Call) -> Result<Answer, Problem> {
    let found = calls::sessions::find(&call.app.project, &call.path::<String>("name")?).await?;
    let page = match call.query.get("before")? {
        Some(before) => calls::sessions::page_before(&found, Some(before), ITEMS_MAX)?,
        None => {
            let from = call.query.get("from")?.unwrap_or(0);
            calls::sessions::page_from(&found, from, ITEMS_MAX)?
        }
    };
    Ok(html(log::part(part_of(&found, &page), &clock())))
}
