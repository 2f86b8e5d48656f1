//! What the verbs are called with: the types, their schemas and their limits.
//!
//! A field that is not known is refused, so that a mistyped one is noticed. Limits stand in the schema and are checked
//! here, because not every client keeps to a schema. A task may be named where the verb is about it, and is compared with
//! the session's own before anything else.

use crate::fault::FieldFault;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Longer entries belong in a file.
const PROGRESS_CHARACTERS_MAX: usize = 20_000;
/// What later tasks must know is a page, not a book.
const OUTPUT_CHARACTERS_MAX: usize = 50_000;
const CRITERION_CHARACTERS_MAX: usize = 1_000;
const BODY_CHARACTERS_MAX: usize = 20_000;
const SUBJECT_CHARACTERS_MAX: usize = 200;
const NAME_CHARACTERS_MAX: usize = 80;
/// As many as an agent reads with care in one go.
const MESSAGES_MAX: u32 = 100;
const MESSAGES_DEFAULT: u32 = 20;

/// The arguments of a verb.
pub(crate) trait Argument: for<'de> Deserialize<'de> + JsonSchema + 'static {
    /// Names the fields that pass their limits.
    fn check(&self, _faults: &mut Faults) {}
}

/// Bad fields, collected.
#[derive(Debug, Default)]
pub(crate) struct Faults(pub(crate) Vec<FieldFault>);

impl Faults {
    fn length(&mut self, field: &'static str, text: &str, min: usize, max: usize) {
        let count = text.chars().count();
        if !(min..=max).contains(&count) {
            let problem = format!("must have {min} to {max} characters, not {count}");
            self.0.push(FieldFault { field, problem });
        }
    }
}

/// A verb that needs no more than the task, if that.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfTask {
    /// The number of your own task; it may be left out, and another one is refused.
    #[serde(default)]
    #[allow(dead_code, reason = "it is compared before the arguments are read")]
    task_id: Option<u32>,
}

impl Argument for OfTask {}

/// A verb that needs nothing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

impl Argument for Nothing {}

/// Reads what earlier tasks say.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadInputs {
    /// The number of one task whose whole chain output you want; without it, you get those of all tasks that yours depends
    /// on, long ones cut.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub from: Option<u32>,
    /// The number of your own task; it may be left out, and another one is refused.
    #[serde(default)]
    pub task_id: Option<u32>,
}

impl Argument for ReadInputs {}

/// Reads a requirements document.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadPrd {
    /// Its slug; without it, that of your task.
    #[serde(default)]
    #[schemars(length(min = 1, max = NAME_CHARACTERS_MAX))]
    pub slug: Option<String>,
}

impl Argument for ReadPrd {
    fn check(&self, faults: &mut Faults) {
        if let Some(slug) = &self.slug {
            faults.length("slug", slug, 1, NAME_CHARACTERS_MAX);
        }
    }
}

/// Reads an epic.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadEpic {
    /// Its number; without it, that of your task.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub epic_id: Option<u32>,
}

impl Argument for ReadEpic {}

/// Ticks or unticks a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TickCriterion {
    /// The criterion: its number as `read_task` shows it (from 1), or its text word for word.
    pub criterion: Which,
    /// true claims that it holds, false takes the claim back.
    #[serde(default = "yes")]
    pub checked: bool,
    /// The number of your own task; it may be left out, and another one is refused.
    #[serde(default)]
    pub task_id: Option<u32>,
}

/// One criterion.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Which {
    /// By its number, from 1.
    Index(#[schemars(range(min = 1))] u32),
    /// By its text.
    Text(#[schemars(length(min = 1, max = CRITERION_CHARACTERS_MAX))] String),
}

fn yes() -> bool {
    true
}

impl Argument for TickCriterion {
    fn check(&self, faults: &mut Faults) {
        if let Which::Text(text) = &self.criterion {
            faults.length("criterion", text, 1, CRITERION_CHARACTERS_MAX);
        }
    }
}

/// Appends an entry to the progress log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AppendProgress {
    /// What you did, as Markdown; one list item per piece of work.
    #[schemars(length(min = 1, max = PROGRESS_CHARACTERS_MAX))]
    pub did: String,
    /// What stood in the way; leave it out if nothing did.
    // Sessions that began with an older version know it by its old name.
    #[serde(default, alias = "obstacles")]
    #[schemars(length(max = PROGRESS_CHARACTERS_MAX))]
    pub issues: Option<String>,
    /// What the next session must do first.
    #[schemars(length(min = 1, max = PROGRESS_CHARACTERS_MAX))]
    pub next: String,
    /// The number of your own task; it may be left out, and another one is refused.
    #[serde(default)]
    pub task_id: Option<u32>,
}

impl Argument for AppendProgress {
    fn check(&self, faults: &mut Faults) {
        faults.length("did", self.did.trim(), 1, PROGRESS_CHARACTERS_MAX);
        faults.length("issues", self.issues.as_deref().unwrap_or_default(), 0, PROGRESS_CHARACTERS_MAX);
        faults.length("next", self.next.trim(), 1, PROGRESS_CHARACTERS_MAX);
    }
}

/// Writes the chain output.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteChainOutput {
    /// What later tasks must know, as Markdown; the first paragraph is what they are shown, the rest they can look up.
    #[schemars(length(min = 1, max = OUTPUT_CHARACTERS_MAX))]
    pub text: String,
    /// The number of your own task; it may be left out, and another one is refused.
    #[serde(default)]
    pub task_id: Option<u32>,
}

impl Argument for WriteChainOutput {
    fn check(&self, faults: &mut Faults) {
        faults.length("text", self.text.trim(), 1, OUTPUT_CHARACTERS_MAX);
    }
}

/// Sends a message.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendMessage {
    /// Whom it is for: `role:NAME`, `agent:NAME`, `task:NUMBER` or `person:NAME`.
    #[schemars(length(min = 1, max = NAME_CHARACTERS_MAX))]
    pub to: String,
    /// What it says.
    #[schemars(length(min = 1, max = BODY_CHARACTERS_MAX))]
    pub body: String,
    /// What it is, in a word that its reader knows, such as READY_FOR_QA; `note` if you leave it out.
    #[serde(default)]
    #[schemars(length(min = 1, max = NAME_CHARACTERS_MAX))]
    pub kind: Option<String>,
    /// What it is about, in one line.
    #[serde(default)]
    #[schemars(length(min = 1, max = SUBJECT_CHARACTERS_MAX))]
    pub subject: Option<String>,
    /// What it says to a program, such as branch, commits or test results.
    #[serde(default)]
    pub data: Option<Map<String, Value>>,
    /// The number of the message that it answers.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub reply_to: Option<u32>,
    /// The number of your own task; it may be left out, and another one is refused.
    #[serde(default)]
    pub task_id: Option<u32>,
}

impl Argument for SendMessage {
    fn check(&self, faults: &mut Faults) {
        faults.length("to", &self.to, 1, NAME_CHARACTERS_MAX);
        faults.length("body", &self.body, 1, BODY_CHARACTERS_MAX);
        if let Some(kind) = &self.kind {
            faults.length("kind", kind, 1, NAME_CHARACTERS_MAX);
        }
        if let Some(subject) = &self.subject {
            faults.length("subject", subject, 1, SUBJECT_CHARACTERS_MAX);
        }
    }
}

/// Sends a signal to the run.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendSignal {
    /// The name of the signal, which your prompt says that you may send.
    #[schemars(length(min = 1, max = NAME_CHARACTERS_MAX))]
    pub signal: String,
    /// What comes with it, as the signal asks for it.
    #[serde(default)]
    pub input: Map<String, Value>,
}

impl Argument for SendSignal {
    fn check(&self, faults: &mut Faults) {
        faults.length("signal", &self.signal, 1, NAME_CHARACTERS_MAX);
    }
}

/// Reads messages.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadMessages {
    /// Also those that were read before.
    #[serde(default)]
    pub include_read: bool,
    /// How many at most.
    #[serde(default = "messages_default")]
    #[schemars(range(min = 1, max = MESSAGES_MAX))]
    pub limit: u32,
}

fn messages_default() -> u32 {
    MESSAGES_DEFAULT
}

impl Argument for ReadMessages {
    fn check(&self, faults: &mut Faults) {
        if !(1..=MESSAGES_MAX).contains(&self.limit) {
            let problem = format!("must be 1 to {MESSAGES_MAX}, not {}", self.limit);
            faults.0.push(FieldFault { field: "limit", problem });
        }
    }
}

/// Submits the result.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitResult {
    /// The result: any JSON, or what the prompt's schema asks for.
    pub result: Value,
}

impl Argument for SubmitResult {}
