//! What the verbs answer, in camel case as everywhere in Regatta.

use serde::Serialize;
use serde_json::{Map, Value};

/// A task with its criteria.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct TaskAnswer {
    pub task_id: u32,
    pub title: String,
    pub description: String,
    pub criteria: Vec<CriterionAnswer>,
    /// What the project's checks said last, with the commit they were run at.
    pub evidence: Vec<EvidenceAnswer>,
    pub branch: Option<String>,
    /// The file that remembers the task; it may be edited.
    pub file: String,
    pub session: u32,
    pub run_id: Option<u32>,
    pub role: Option<String>,
    pub progress_entries: u32,
    /// What the last entry of the progress log says comes next.
    pub next: Option<String>,
    pub rejection_count: u32,
    /// What was written to the agent of the task since it last looked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<MessageAnswer>,
    /// What the reviewer said of the last change, until the next one is submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewAnswer>,
}

/// What a reviewer said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct ReviewAnswer {
    pub reason: String,
    pub feedback: Option<String>,
    pub comments: Vec<CommentAnswer>,
}

/// A comment on a file or its lines, or on the plan or output of the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct CommentAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `plan` or `output`, if it is about no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<&'static str>,
    /// `new`, or `old` when the lines are those before the change.
    pub side: &'static str,
    pub line: Option<u32>,
    pub end_line: Option<u32>,
    pub text: String,
    /// The lines as they were.
    pub quote: Option<String>,
}

/// A criterion: the claim, and whether the engine has seen that it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct CriterionAnswer {
    /// Its number, from 1.
    pub index: u32,
    pub text: String,
    pub checked: bool,
    pub verified: bool,
    pub check: Option<String>,
}

/// What a check said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct EvidenceAnswer {
    pub check: String,
    pub passed: bool,
    pub commit: String,
    /// The last lines that it printed.
    pub tail: String,
}

/// The outputs of the tasks before this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputsAnswer {
    /// One per task that has said something.
    pub inputs: Vec<InputAnswer>,
}

/// The output of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct InputAnswer {
    pub task_id: u32,
    pub title: String,
    pub summary: String,
    /// The whole text as it is now, or its beginning.
    pub output: Option<String>,
    pub is_cut: bool,
    /// Whether it has changed since this task began.
    pub stale: bool,
}

/// The entry that was appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProgressAnswer {
    /// Its number in the progress log.
    pub entry: u32,
}

/// The output that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutputAnswer {
    /// What is embedded of it in the tasks that depend on this one.
    pub summary: Option<String>,
}

/// The message that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SentAnswer {
    /// Its number.
    pub message_id: u32,
}

/// Messages, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessagesAnswer {
    /// The messages.
    pub messages: Vec<MessageAnswer>,
    /// How many more there are.
    pub more: u32,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct MessageAnswer {
    pub message_id: u32,
    pub from: String,
    pub to: String,
    pub kind: String,
    pub subject: Option<String>,
    pub body: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Value>,
    pub task_id: Option<u32>,
    pub run_id: Option<u32>,
    pub item: Option<String>,
    pub reply_to: Option<u32>,
    pub sent_at: String,
    /// Whether it had been read before.
    pub read: bool,
}

/// Whether to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// Continue.
    None,
    /// Bring the current work to a good stopping point and end; it continues another time.
    Pause,
    /// End; what is done is kept.
    Stop,
    /// End at once: the work was given up.
    Cancelled,
}

/// Whether to continue, and how much is left.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct SignalsAnswer {
    pub signal: Signal,
    pub reason: Option<String>,
    pub seconds_left: Option<u64>,
    pub budget_left: Option<BudgetLeft>,
    /// What was written to the agent of the task since it last looked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<MessageAnswer>,
}

/// How much of its budget a session has left.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct BudgetLeft {
    pub tokens: Option<u64>,
    pub cost: Option<f64>,
}

/// The result was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultAnswer {
    /// Whether it satisfies the schema of the role; without one, nothing was judged yet.
    pub is_valid: Option<bool>,
    /// Whether it replaces one that was submitted before.
    pub replaced: bool,
}
