//! What is around every page: the sidebar with its agents, the head of the document, the places for messages.
//!
//! A page is a template that extends `shell.html`, has a field `shell`, and fills the blocks `title`, `head`, `main` and
//! `scripts`.

use crate::markup::{Markup, render};
use crate::words::{self, Clock};
use askama::Template;
use regatta_engine::core::{AgentState, FailureClass, TaskId};
use regatta_engine::{AgentView, TaskRow};

/// What the navigation marks as the current page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// What waits for a person.
    Inbox,
    /// The board, and the pages of its tasks.
    Board,
    /// Runs.
    Runs,
}

impl Section {
    /// Returns its name in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Section::Inbox => "inbox",
            Section::Board => "board",
            Section::Runs => "runs",
        }
    }

    /// Finds the section of that name.
    pub fn find(name: &str) -> Option<Self> {
        [Section::Inbox, Section::Board, Section::Runs].into_iter().find(|section| section.name() == name)
    }
}

/// The sidebar: what changes while a page is open.
#[derive(Debug, Clone)]
pub struct Side {
    /// The project's name.
    pub project: String,
    /// What is marked as current.
    pub section: Section,
    /// How many things wait for a person.
    pub inbox: usize,
    /// The agents.
    pub agents: Vec<AgentLine>,
    /// What was paid today, if an agent says so.
    pub spent_today: Option<String>,
    /// Whether an engine works on the project.
    pub has_engine: bool,
}

impl Side {
    /// Says how many agents are at work.
    pub fn at_work(&self) -> String {
        match self.agents.iter().filter(|agent| agent.is_busy).count() {
            0 => "none at work".to_owned(),
            count => format!("{count} at work"),
        }
    }

    pub(crate) fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.section.name() == name
    }
}

/// An agent with its own status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLine {
    /// Its name.
    pub name: String,
    /// What it does.
    pub line: String,
    /// How the line looks: nothing, `acc` for what waits for a person, `warn` for a pause, `bad` for what is missing.
    pub tone: &'static str,
    /// Where it leads: the task or the run that it is about.
    pub address: Option<String>,
    /// Whether a session of it runs.
    pub is_busy: bool,
    /// What is special about it: that it plays a script.
    pub note: Option<&'static str>,
}

impl AgentLine {
    /// Says what an agent does; `find` returns the row of a task.
    pub fn of<'a>(agent: &AgentView, find: impl Fn(TaskId) -> Option<&'a TaskRow>, clock: &Clock) -> Self {
        let at = |line: String, tone: &'static str, address: Option<String>| AgentLine {
            name: agent.id.clone(),
            line,
            tone,
            address,
            is_busy: matches!(agent.state, AgentState::Running | AgentState::Starting),
            note: agent.note,
        };
        let of = |line: String, tone: &'static str, task: Option<TaskId>| {
            at(line, tone, task.map(|task| format!("/tasks/{task}")))
        };
        if let Some(missing) = agent.missing.first() {
            return of(words::one_line(missing, 60), "bad", None);
        }
        let tasks: Vec<&TaskRow> = agent.tasks.iter().filter_map(|task| find(*task)).collect();
        // What waits for a person comes first, then what is at work.
        let rank = |row: &&&TaskRow| match (&*row.phase, &*row.owner) {
            ("asking" | "halted", _) => 0,
            ("running" | "starting" | "preparing", _) => 1,
            ("parked", _) => 2,
            _ => 3,
        };
        let first = tasks.iter().min_by_key(rank);
        // A role that it plays comes before a task that only waits.
        if let Some(run) = agent.runs.first().filter(|_| first.is_none_or(|row| rank(&row) > 1)) {
            let more = agent.tasks.len() + agent.runs.len() - 1;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            return at(format!("run {run} · at work{more}"), "", Some(format!("/runs/{run}")));
        }
        let Some(row) = first else { return of("free".to_owned(), "", None) };
        let (says, tone) = match &*row.phase {
            "asking" => ("asks you".to_owned(), "acc"),
            "halted" => ("stopped, needs you".to_owned(), "acc"),
            "parked" => match &row.parked {
                Some(park) => {
                    let says = match park.class {
                        FailureClass::RateLimit => "limited",
                        _ => "paused",
                    };
                    return of(format!("{says} until {}", clock.time(park.until)), "warn", Some(row.id));
                }
                None => ("paused".to_owned(), "warn"),
            },
            "ready" => ("waits for review".to_owned(), ""),
            "preparing" | "starting" => ("about to start".to_owned(), ""),
            "checking" => ("checks run".to_owned(), ""),
            "driven" => ("in a run".to_owned(), ""),
            "unattended" => ("no engine".to_owned(), ""),
            "done" => return of("free".to_owned(), "", None),
            _ => ("at work".to_owned(), ""),
        };
        let others = tasks.len() + agent.runs.len() - 1;
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        of(format!("#{} · {says}{more}", row.id), tone, Some(row.id))
    }
}

/// What is around a page.
#[derive(Debug, Clone)]
pub struct Shell {
    /// The sidebar.
    pub side: Side,
    /// Whether the sidebar is a narrow rail, to give the width to the page.
    pub is_rail: bool,
    /// The last event that the page shows; the live connection follows from there.
    pub seq: u64,
}

impl Shell {
    pub(crate) fn asset(&self, path: &str) -> String {
        crate::assets::url(path)
    }

    /// Begins the title of the tab: the count of what waits, then the page.
    pub(crate) fn count(&self) -> String {
        match self.side.inbox {
            0 => String::new(),
            count => format!("({count}) "),
        }
    }
}

/// The sidebar alone.
#[derive(Template)]
#[template(path = "nav.html")]
struct Nav<'a> {
    side: &'a Side,
}

/// Renders the sidebar, for a page that is open.
pub fn nav(side: &Side) -> Markup {
    render(&Nav { side })
}
