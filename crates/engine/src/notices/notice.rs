//! A notice, as it is sent.

use crate::clock;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Longer texts are cut: a notice says where to look.
const TEXT_CHARACTERS_MAX: usize = 500;

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeKind {
    /// Something waits for a person.
    Waiting,
    /// It has waited longer than it should.
    Overdue,
    /// A task or a run failed, and needs a person.
    Failed,
    /// A task is merged, or a run has completed.
    Done,
    /// Several things happened while nobody was notified.
    Summary,
}

impl NoticeKind {
    /// Returns its word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            NoticeKind::Waiting => "waiting",
            NoticeKind::Overdue => "overdue",
            NoticeKind::Failed => "failed",
            NoticeKind::Done => "done",
            NoticeKind::Summary => "summary",
        }
    }
}

/// A notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Its ID: the same however often it is sent.
    pub id: String,
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: NoticeKind,
    /// When it was made.
    pub at: Timestamp,
    /// The name of the project's folder.
    pub project: String,
    /// The task, if it is about one.
    #[serde(default)]
    pub task_id: Option<u32>,
    /// The run, if it is about one.
    #[serde(default)]
    pub run_id: Option<u32>,
    /// What happened, in one sentence.
    pub text: String,
    /// What to do.
    #[serde(default)]
    pub next: Option<String>,
    /// The code of the error, if something failed.
    #[serde(default)]
    pub code: Option<String>,
    /// Where to look, if the project is served.
    #[serde(default)]
    pub url: Option<String>,
}

impl Notice {
    /// Makes a notice about a text, which may come from an agent.
    pub(crate) fn new(kind: NoticeKind, project: &str, text: &str) -> Self {
        Notice {
            id: format!("msg_{}", Uuid::now_v7().simple()),
            kind,
            at: clock::now(),
            project: project.to_owned(),
            task_id: None,
            run_id: None,
            text: clean(text),
            next: None,
            code: None,
            url: None,
        }
    }

    pub(crate) fn next(mut self, next: &str) -> Self {
        self.next = Some(clean(next));
        self
    }

    /// Returns it as it is sent: one line of JSON.
    pub(crate) fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a notice is plain data")
    }
}

/// Titles come from people and agents: without control characters, in one line, and not too long.
fn clean(text: &str) -> String {
    let plain = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    plain.take(TEXT_CHARACTERS_MAX).collect()
}
