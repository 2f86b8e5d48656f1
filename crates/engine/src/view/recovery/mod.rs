//! What a person can do about the error that a task or a run rests in: the one list that every page and program shows.
//!
//! Does not carry anything out and does not read the log: it is made from the objects that are shown anyway. Each action
//! says what follows, names the command of the command line, and holds the request that a button sends. Start reading at
//! `of_task`.

mod action;
mod of_run;
mod of_task;

pub use action::{ActionView, RequestView};
pub use of_run::recover_run;
pub use of_task::{recover_from, recover_task};

use crate::core::{Code, Failure};
use crate::project::Project;
use serde::Serialize;

/// How long a cause may be before it is cut; the whole message stands in the error.
const CAUSE_CHARACTERS_MAX: usize = 600;

/// An error, and the ways out of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryView {
    /// The error's code.
    pub code: Code,
    /// What did not happen, and why, in one line.
    pub headline: String,
    /// The cause, in a sentence or two.
    pub cause: String,
    /// What is safe.
    pub safe: String,
    /// The files that it is about.
    pub files: Vec<String>,
    /// What an agent or a check printed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What a person can do, the best first.
    pub actions: Vec<ActionView>,
}

/// What the ways out depend on beside the error.
#[derive(Debug, Clone, Default)]
pub struct Means {
    /// The agents of the config.
    pub agents: Vec<String>,
    /// Whether the config names an editor.
    pub has_editor: bool,
}

impl Means {
    /// Returns what the config of a project offers.
    pub fn of(project: &Project) -> Self {
        let config = project.config();
        Means {
            agents: config.agents.keys().map(ToString::to_string).collect(),
            has_editor: config.editor.is_some(),
        }
    }
}

/// Returns the cause as the error gives it: what follows the first colon of its message.
fn cause_of(error: &Failure) -> String {
    let cause = error.message.split_once(": ").map_or(error.message.as_str(), |(_, cause)| cause);
    // The class of a failure is a word for programs.
    let class = error.details.get("class").and_then(|class| class.as_str()).unwrap_or_default();
    let cause = cause.strip_prefix(class).and_then(|cause| cause.strip_prefix(": ")).unwrap_or(cause);
    let mut cause: String = cause.chars().take(CAUSE_CHARACTERS_MAX).collect();
    if let Some(first) = cause.get(..1).map(str::to_uppercase) {
        cause.replace_range(..1, &first);
    }
    if !cause.ends_with(['.', '!', '?']) {
        cause.push('.');
    }
    cause
}

/// Returns the end of a path, which is enough to know it by.
pub fn short_path(path: &str) -> String {
    let names: Vec<&str> = path.rsplit('/').take(3).collect();
    names.into_iter().rev().collect::<Vec<_>>().join("/")
}

/// Returns texts of a list among the details of an error.
fn texts(error: &Failure, name: &str) -> Vec<String> {
    let list = error.details.get(name).and_then(|value| value.as_array());
    list.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}
