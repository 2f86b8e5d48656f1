//! One line of the list of tasks, and the text that is kept of it.
//!
//! ```text
//!   backlog ⇥ m ⇥ waiting ⇥ you ⇥ 1790000000 ⇥ {"epicId":3} ⇥ Make it so
//!   column  priority  phase  owner  since      what few tasks have, as JSON    title
//! ```
//!
//! A list has thousands of them, and most tasks have only what is in the plain fields: reading those costs a tenth of
//! reading an object. The number is the key of the row.

use crate::core::machine::Column;
use crate::core::{Code, EpicId, Lacks, Park, Priority, Stage, Task, TaskId};
use crate::error::Error;
use crate::log::filter;
use crate::project::Project;
use crate::task_files::file_size;
use crate::view::task::{Around, Stand, UNATTENDED, next_move};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

const PRIORITIES: [Priority; 3] = [Priority::High, Priority::Medium, Priority::Low];

/// Words that most rows have: reading them allocates nothing.
const WORDS: [&str; 8] = ["waiting", "you", "done", "nobody", "ready", "engine", "running", "halted"];

/// One line of the list of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of a task")]
pub struct TaskRow {
    pub id: TaskId,
    pub title: String,
    pub column: Column,
    pub phase: Cow<'static, str>,
    pub priority: Priority,
    pub agent_id: Option<String>,
    pub epic_id: Option<EpicId>,
    pub dependencies: Vec<TaskId>,
    /// The lines that its diff adds and removes.
    pub lines: Option<(u64, u64)>,
    pub merge_commit: Option<String>,
    pub error: Option<Code>,
    /// The pause before its agent is tried again.
    pub parked: Option<Box<Park>>,
    pub owner: Cow<'static, str>,
    pub hidden: bool,
    pub warnings: Vec<String>,
    /// What it is going to collide with, in a few words.
    pub forecast: Option<String>,
    /// When it last moved, in seconds since 1970.
    pub since: i64,
    /// What its diff lacks; what that means for the configured checks is added when the list is read.
    pub lacks: Option<Box<Lacks>>,
    pub(crate) results: Vec<(String, bool)>,
    /// Whether a person has let the deadline pass; never stored.
    pub overdue: bool,
    /// Its current place in the queue; never stored.
    pub queue_position: Option<u32>,
    /// The agent that it currently waits for in the queue, or `any`; never stored.
    pub waits_for: Option<String>,
}

impl TaskRow {
    /// A row with nothing but what every task has.
    pub fn new(id: TaskId, title: String, column: Column, priority: Priority) -> Self {
        TaskRow {
            id,
            title,
            column,
            phase: Cow::Borrowed("waiting"),
            priority,
            agent_id: None,
            epic_id: None,
            dependencies: Vec::new(),
            lines: None,
            merge_commit: None,
            error: None,
            parked: None,
            owner: Cow::Borrowed("you"),
            hidden: false,
            warnings: Vec::new(),
            forecast: None,
            since: 0,
            lacks: None,
            results: Vec::new(),
            overdue: false,
            queue_position: None,
            waits_for: None,
        }
    }

    /// Tells whether what depends on it can begin. Only what is done can be hidden.
    pub fn is_done(&self) -> bool {
        self.column == Column::Verified || self.hidden
    }

    /// Makes the row of a task: everything in the table that depends on the task alone.
    pub(crate) fn of(task: &Task) -> Self {
        let (phase, owner, _) = next_move(task, None);
        let landed = if let Stage::Verified(landed) = &task.stage { Some(landed) } else { None };
        TaskRow {
            id: task.id,
            title: task.title.clone(),
            column: task.column(),
            phase: Cow::Borrowed(phase),
            priority: task.priority,
            agent_id: task.agent().map(ToString::to_string),
            epic_id: task.epic,
            dependencies: task.dependencies.iter().copied().collect(),
            lines: task.diff().map(|diff| (diff.lines_added, diff.lines_removed)),
            merge_commit: landed.map(|landed| landed.commit.to_string()),
            error: task.error.as_ref().map(|error| error.code),
            parked: task.find_park().cloned().map(Box::new),
            owner: Cow::Owned(owner),
            hidden: task.hidden,
            warnings: file_size::warn(task),
            forecast: task.forecast.summary(),
            since: task.updated_at.as_second(),
            lacks: matches!(task.stage, Stage::WaitingApproval(_)).then(|| Box::new(task.find_lacks(&[]))),
            results: if landed.is_none() { task.find_results() } else { Vec::new() },
            overdue: false,
            queue_position: None,
            waits_for: None,
        }
    }

    /// Returns the text that is kept of it.
    pub(crate) fn to_text(&self) -> String {
        let more = More {
            agent_id: self.agent_id.clone(),
            epic_id: self.epic_id,
            dependencies: self.dependencies.clone(),
            lines: self.lines,
            merge_commit: self.merge_commit.clone(),
            error: self.error,
            parked: self.parked.clone(),
            hidden: self.hidden,
            warnings: self.warnings.clone(),
            forecast: self.forecast.clone(),
            lacks: self.lacks.clone(),
            results: self.results.clone(),
        };
        let more = if more == More::default() {
            String::new()
        } else {
            serde_json::to_string(&more).expect("a row has only text keys")
        };
        let (column, priority) = (self.column.as_str(), letter_of(self.priority));
        // A person's name may hold anything.
        let owner = self.owner.replace('\t', " ");
        format!("{column}\t{priority}\t{}\t{owner}\t{}\t{more}\t{}", self.phase, self.since, self.title)
    }

    /// Reads the text that is kept of the task with this number.
    pub(crate) fn read(key: u64, text: &str) -> Result<Self, Unreadable> {
        let unreadable = || Unreadable(format!("row {key} of the list of tasks cannot be read"));
        let [column, priority, phase, owner, since, more, title] = split(text).ok_or_else(unreadable)?;
        let id =
            u32::try_from(key).ok().and_then(|number| TaskId::new(number).ok()).ok_or_else(unreadable)?;
        let column = Column::ALL.into_iter().find(|known| known.as_str() == column).ok_or_else(unreadable)?;
        let priority = PRIORITIES.into_iter().find(|known| letter_of(*known) == priority);
        let since = since.parse().map_err(|_| unreadable())?;
        let more = match more {
            "" => More::default(),
            more => serde_json::from_str(more)?,
        };
        Ok(TaskRow {
            id,
            title: title.to_owned(),
            column,
            phase: word(phase),
            priority: priority.ok_or_else(unreadable)?,
            agent_id: more.agent_id,
            epic_id: more.epic_id,
            dependencies: more.dependencies,
            lines: more.lines,
            merge_commit: more.merge_commit,
            error: more.error,
            parked: more.parked,
            owner: word(owner),
            hidden: more.hidden,
            warnings: more.warnings,
            forecast: more.forecast,
            since,
            lacks: more.lacks,
            results: more.results,
            overdue: false,
            queue_position: None,
            waits_for: None,
        })
    }

    /// Returns what a filter looks at; the description is not in the short row.
    pub fn as_row(&self) -> filter::Row<'_> {
        filter::Row {
            column: self.column,
            agent: self.agent_id.as_deref(),
            epic: self.epic_id,
            title: &self.title,
            description: "",
            hidden: self.hidden,
        }
    }

    /// Adds what depends on the config.
    pub(crate) fn judge(&mut self, checks: &[String]) {
        let lacks = self.lacks.take().map(|lacks| lacks.with_checks(checks, &self.results));
        self.lacks = lacks.filter(|lacks| !lacks.is_empty()).map(Box::new);
    }

    /// Marks it overdue if it has waited for a person since before `limit`.
    pub(crate) fn mark(&mut self, limit: i64, unverified: &[TaskId]) {
        let is_open = |on: &TaskId| unverified.binary_search(on).is_ok();
        let is_blocked = self.phase == "waiting" && self.dependencies.iter().any(is_open);
        let is_persons = self.owner == "you" || self.phase == "by_hand";
        self.overdue = is_persons && !is_blocked && self.since < limit;
    }

    /// Adds what depends on the current state of the project.
    pub(crate) async fn stand(&mut self, project: &Project, around: &Around) -> Result<(), Error> {
        if let Some((queued, place)) = around.find_queued(self.id) {
            (self.queue_position, self.waits_for) = (Some(place), Some(queued.agent.to_string()));
            // A task that cannot be assigned waits for a person to do something about it.
            let owner = if self.error.is_some() { "you" } else { "engine" };
            (self.phase, self.owner) = (Cow::Borrowed("queued"), Cow::Borrowed(owner));
        }
        match around.stand(project, self.id, &self.phase, &self.owner).await? {
            Stand::AsLogged => {}
            Stand::Unattended => {
                self.owner = Cow::Borrowed("you");
                if self.queue_position.is_none() {
                    self.phase = Cow::Borrowed(UNATTENDED);
                }
            }
            Stand::Asking(..) => (self.phase, self.owner) = (Cow::Borrowed("asking"), Cow::Borrowed("you")),
        }
        Ok(())
    }
}

/// Why a row cannot be read.
#[derive(Debug)]
pub(crate) struct Unreadable(pub(crate) String);

impl From<serde_json::Error> for Unreadable {
    fn from(error: serde_json::Error) -> Self {
        Unreadable(error.to_string())
    }
}

/// What few tasks have.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct More {
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epic_id: Option<EpicId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependencies: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Code>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parked: Option<Box<Park>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lacks: Option<Box<Lacks>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    results: Vec<(String, bool)>,
}

/// Splits the text of a row; the title comes last, because it alone may hold a tab.
///
/// A list has thousands of rows with short fields, where the searchers of `str` cost several times what they find.
fn split(text: &str) -> Option<[&str; 7]> {
    let (mut fields, mut rest) = ([""; 7], text);
    for field in &mut fields[..6] {
        let end = rest.bytes().position(|byte| byte == b'\t')?;
        (*field, rest) = (&rest[..end], &rest[end + 1..]);
    }
    fields[6] = rest;
    Some(fields)
}

fn letter_of(priority: Priority) -> &'static str {
    match priority {
        Priority::High => "h",
        Priority::Medium => "m",
        Priority::Low => "l",
    }
}

fn word(text: &str) -> Cow<'static, str> {
    let known = WORDS.into_iter().find(|known| *known == text);
    known.map_or_else(|| Cow::Owned(text.to_owned()), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_kept() {
        let plain = "backlog\tm\twaiting\tyou\t1790000000\t\tMake it so";
        let full = "verified\th\tdone\tagent a\t-3\t{\"agentId\":\"a\",\"epicId\":3,\"dependencies\":[1,2],\"lines\":[4,5],\
                    \"hidden\":true,\"warnings\":[\"a\\tb\"]}\tWith a\ttab";
        for text in [plain, full] {
            assert_eq!(TaskRow::read(7, text).unwrap().to_text(), text);
        }
        let row = TaskRow::read(7, full).unwrap();
        assert_eq!((row.id.number(), &*row.title, &*row.owner), (7, "With a\ttab", "agent a"));
        assert_eq!((row.lines, row.hidden, &*row.warnings[0]), (Some((4, 5)), true, "a\tb"));
    }

    #[test]
    fn what_is_no_row_is_refused() {
        for text in [
            "",
            "backlog\tm",
            "backlog\tx\twaiting\tyou\t1\t\tT",
            "backlog\tm\twaiting\tyou\tx\t\tT",
            "backlog\tm\twaiting\tyou\t1\t{\tT",
            "{\"id\":1}",
        ] {
            assert!(TaskRow::read(7, text).is_err(), "{text}");
        }
        assert!(TaskRow::read(0, "backlog\tm\twaiting\tyou\t1\t\tT").is_err(), "no task has that number");
    }
}
