//! The page of a task: what it is, what its agent does, what went wrong, and what a person can say to it.
//!
//! The page is made of pieces that are fetched again on their own when something happens to the task: the head, the error, the
//! tabs, the bar above the log, and the panel. The log grows by its own lines; see [`crate::log`].

mod changes;
mod panel;
mod tabs;

use crate::act::attributes;
use crate::log;
use crate::markup::{Markup, render};
use crate::parts;
use crate::recovery;
use crate::shell::Shell;
use crate::timeline::Moment;
use crate::words::{self, Clock};
use askama::Template;
use regatta_engine::core::machine::Column;
use regatta_engine::core::{AgentState, Code, InputNote, TaskId};
use regatta_engine::messages::MessageView;
use regatta_engine::{DiffView, SessionLog, TaskView};
use serde_json::{Value, json};

pub use changes::changes;

/// What a task's page shows in its middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// What its agent says and does.
    Session,
    /// Its file.
    File,
    /// Its diff.
    Changes,
    /// Its chain inputs and output.
    Chain,
    /// Its messages.
    Messages,
}

impl Tab {
    /// All of them, in the order of the keys 1 to 5.
    pub const ALL: [Tab; 5] = [Tab::Session, Tab::File, Tab::Changes, Tab::Chain, Tab::Messages];

    /// Returns its name in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Tab::Session => "session",
            Tab::File => "file",
            Tab::Changes => "changes",
            Tab::Chain => "chain",
            Tab::Messages => "messages",
        }
    }

    /// Finds the tab of that name.
    pub fn find(name: &str) -> Option<Self> {
        Tab::ALL.into_iter().find(|tab| tab.name() == name)
    }
}

/// What every piece of the page knows.
pub struct About {
    /// The task, with its file.
    pub task: TaskView,
    /// Its sessions, oldest first.
    pub sessions: Vec<SessionLog>,
    /// The agents of the config.
    pub agents: Vec<String>,
    /// The tasks that depend on it.
    pub needed_by: Vec<TaskId>,
    /// What happened to it.
    pub timeline: Vec<Moment>,
    /// The newest commit that its checks were run at.
    pub checked_at: Option<String>,
    /// Whether the config names an editor.
    pub has_editor: bool,
    /// Its messages.
    pub messages: Vec<MessageView>,
    /// The time.
    pub clock: Clock,
    /// The tab that is shown.
    pub tab: Tab,
}

/// What the middle of the page shows.
pub enum Middle<'a> {
    /// The log of a session, or nothing if there is none yet.
    Session(Option<(&'a SessionLog, log::Part<'a>)>),
    /// The task's file, with its version.
    File(&'a str, u64),
    /// The diff, if there is one.
    Changes(Option<&'a DiffView>),
    /// The inputs and the output.
    Chain(&'a Value),
    /// Messages to it and about it.
    Messages(&'a [MessageView]),
}

#[derive(Template)]
#[template(path = "task.html")]
struct Page<'a> {
    shell: &'a Shell,
    about: &'a About,
    middle: Markup,
    has_note: bool,
}

/// Renders the page.
pub fn page(shell: &Shell, about: &About, middle: Markup) -> Markup {
    let has_note = about.tab == Tab::Session && about.task.column != Column::Verified;
    render(&Page { shell, about, middle, has_note })
}

/// Renders the middle.
pub fn middle(about: &About, middle: &Middle<'_>) -> Markup {
    tabs::middle(about, middle)
}

/// Renders a piece of the page, by its name; nothing if there is none of that name.
pub fn piece(about: &About, name: &str) -> Option<Markup> {
    Some(match name {
        "head" => head(about),
        "error" => error(about),
        "tabs" => tabs::bar(about),
        "panel" => panel::panel(about),
        _ => return None,
    })
}

#[derive(Template)]
#[template(path = "task_head.html")]
struct Head<'a> {
    task: &'a TaskView,
    state: Markup,
    actions: Vec<Act>,
}

/// A button of the head.
struct Act {
    label: String,
    icon: &'static str,
    class: &'static str,
    /// Its attributes, or the address of a link.
    attributes: Markup,
    address: Option<String>,
}

impl Act {
    fn posts(label: impl Into<String>, icon: &'static str, class: &'static str, request: &Value) -> Self {
        Act { label: label.into(), icon, class, attributes: attributes(request), address: None }
    }
}

pub(crate) fn head(about: &About) -> Markup {
    let task = &about.task;
    let (word, mark) = state_of(task);
    let (class, icon) = match mark {
        Mark::None => ("line", String::new()),
        Mark::Live => ("line", "<span class=\"live\"></span>".to_owned()),
        Mark::You => ("acc", parts::small("eye").into_string()),
        Mark::Stop(icon) => ("bad", parts::small(icon).into_string()),
    };
    let state = Markup::new(format!(
        "<span class=\"chip {class} only-desk\" data-state=\"{}\">{icon}{word}</span>",
        task.phase
    ));
    render(&Head { task, state, actions: actions(about) })
}

/// What stands beside the state of a task, so that it is not told by colour alone.
enum Mark {
    None,
    Live,
    You,
    Stop(&'static str),
}

/// Says in a word or two where the task is, and whether an agent is at work or a person must act.
fn state_of(task: &TaskView) -> (&'static str, Mark) {
    let is_live = matches!(task.agent_state, AgentState::Running | AgentState::Starting);
    match (task.column, task.phase, task.error.as_ref().map(|error| error.code)) {
        (Column::Backlog, "queued", _) => ("Queued", Mark::None),
        (Column::Backlog, ..) => ("Backlog", Mark::None),
        (Column::InProgress, "halted", _) => ("In progress: stopped", Mark::Stop("x")),
        (Column::InProgress, "unattended", _) => ("In progress: no engine", Mark::None),
        (Column::InProgress, "by_hand", _) => ("In your hands", Mark::You),
        (Column::InProgress, ..) => ("In progress", if is_live { Mark::Live } else { Mark::None }),
        (Column::WaitingApproval, "ready", Some(Code::WorktreeMergeConflict)) => {
            ("Waiting approval: conflict", Mark::Stop("conflict"))
        }
        (Column::WaitingApproval, "ready", Some(_)) => ("Waiting approval: not merged", Mark::Stop("x")),
        (Column::WaitingApproval, "ready", None) => ("Waiting approval", Mark::You),
        (Column::WaitingApproval, "checking", _) => ("Checks run", Mark::Live),
        (Column::WaitingApproval, ..) => ("Waiting approval", Mark::None),
        (Column::Verified, ..) => ("Verified", Mark::None),
    }
}

fn actions(about: &About) -> Vec<Act> {
    let task = &about.task;
    let path = |verb: &str| format!("/api/tasks/{}/{verb}", task.id);
    let cancel = || {
        let ask = json!({ "title": format!("Cancel #{}?", task.id), "text": "The agent is stopped. Its work is kept and can be brought back.",
            "label": "Why (optional)", "field": "reason", "ok": "Cancel task", "danger": true });
        Act::posts(
            "Cancel task",
            "x",
            "plain danger extra",
            &json!({ "method": "POST", "path": path("cancel"), "body": {}, "ask": ask }),
        )
    };
    match task.column {
        Column::Backlog if task.queue_position.is_some() => {
            vec![Act::posts(
                "Take out of the queue",
                "queue",
                "",
                &json!({ "method": "POST", "path": path("dequeue"), "body": {} }),
            )]
        }
        Column::Backlog => vec![Act::posts(
            "Assign",
            "play",
            if task.recovery.is_some() { "" } else { "primary" },
            &json!({ "method": "POST", "path": path("assign"), "body": {}, "choose": "agentId", "choices": about.agents }),
        )],
        Column::InProgress => {
            let mut acts = Vec::new();
            if task.phase == "unattended" || task.phase == "parked" {
                acts.push(Act::posts(
                    "Continue now",
                    "retry",
                    "",
                    &json!({ "method": "POST", "path": path("resume"), "body": {} }),
                ));
            }
            let ask = json!({ "title": format!("Submit #{} for review?", task.id),
                "text": "What is in the worktree now is put up for review, and a running session ends.", "ok": "Submit for review" });
            acts.push(Act::posts(
                "Submit for review",
                "check",
                "extra",
                &json!({ "method": "POST", "path": path("submit"), "body": {}, "ask": ask }),
            ));
            acts.push(cancel());
            acts
        }
        Column::WaitingApproval => {
            let review = Act {
                label: "Review".to_owned(),
                icon: "eye",
                class: if task.recovery.is_some() { "" } else { "primary" },
                attributes: Markup::default(),
                address: Some(format!("/tasks/{}/review", task.id)),
            };
            vec![review, cancel()]
        }
        Column::Verified => Vec::new(),
    }
}

pub(crate) fn error(about: &About) -> Markup {
    let task = &about.task;
    let opens = about.has_editor.then(|| format!("/api/tasks/{}/open", task.id));
    let panel = match &task.recovery {
        Some(recovery) => format!("<div class=\"errpage\">{}</div>", recovery::panel(recovery, opens)),
        None => String::new(),
    };
    Markup::new(format!(
        "<div id=\"task-error\" data-live=\"task:{0}\" data-src=\"/fragments/tasks/{0}/error\">{panel}</div>",
        task.id
    ))
}

/// The sessions' names for a list, newest first, with how each ended.
pub(crate) fn session_line(session: &SessionLog, clock: &Clock) -> String {
    let end = match &session.end {
        None => "running".to_owned(),
        Some(end) => {
            let usage = &end.usage;
            let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
            let mut parts = vec![words::took(usage.milliseconds)];
            if tokens > 0 {
                parts.push(format!("{} tokens", words::tokens(tokens)));
            }
            parts.extend(usage.cost_micros.map(words::money));
            parts.join(" · ")
        }
    };
    let role = session.role.as_ref().map_or_else(String::new, |role| format!(" as {role}"));
    format!("{}{role} · {} · {end}", session.agent_id, clock.time(session.opened_at))
}

pub(crate) fn is_stale(input: &InputNote) -> bool {
    input.stale
}

pub(crate) fn agent_name(task: &TaskView) -> &str {
    task.agent_id.as_deref().unwrap_or("the agent")
}

/// Renders the bar above the log of a session.
pub fn logbar(about: &About, shown: &str) -> Markup {
    tabs::logbar(about, shown)
}

/// Renders the file of a task alone.
pub fn file(task: TaskId, shown: &Markup) -> Markup {
    Markup::new(format!(
        "<article class=\"md\" id=\"file\" data-live=\"task:{task}\" data-slow data-src=\"/fragments/tasks/{task}/file\">{shown}</article>"
    ))
}

pub(crate) fn tab_bar(about: &About) -> Markup {
    tabs::bar(about)
}

pub(crate) fn side_panel(about: &About) -> Markup {
    panel::panel(about)
}

/// Names a sender or a recipient: a person or an agent by the name, the rest as it is written.
pub(crate) fn party(party: &regatta_engine::core::message::Party) -> String {
    use regatta_engine::core::message::Party;
    match party {
        Party::Agent(agent) => agent.to_string(),
        Party::Person(name) => name.clone(),
        Party::Engine => "the engine".to_owned(),
        Party::Role(role) => format!("the {role}"),
        Party::Task(task) => format!("the agent of #{task}"),
    }
}

pub(crate) fn tone(tone: &str) -> &'static str {
    match tone {
        "ok" => "i s ok",
        "warn" => "i s warn",
        "bad" => "i s bad",
        _ => "i s",
    }
}
