//! What is wrong with a workflow, and where.
//!
//! Authors of workflows read these, so each has a position, the offending text and a suggestion. All errors of a
//! workflow are reported at once. `rule` is the name of the kind of error, for tests and people.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

/// How bad a fault is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// The workflow cannot run.
    Error,
    /// The workflow can run, but probably does something other than intended.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// A range of text in a file of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Position {
    /// The file, relative to the folder of the outermost workflow.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The bytes of the file.
    pub bytes: Range<usize>,
    /// The text there; of several lines the first.
    pub excerpt: Arc<str>,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// An error or a warning about a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// How bad it is.
    pub severity: Severity,
    /// The name of the rule, such as `unknown-key`.
    pub rule: &'static str,
    /// The file, relative to the folder of the outermost workflow.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The offending text.
    pub excerpt: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Fault {
    /// Makes a fault that keeps the workflow from running.
    pub fn error(rule: &'static str, at: &Position, message: impl Into<String>) -> Fault {
        Fault {
            severity: Severity::Error,
            rule,
            file: at.file.to_string(),
            line: at.line,
            column: at.column,
            excerpt: at.excerpt.to_string(),
            message: message.into(),
            hint: None,
        }
    }

    /// Makes a fault that is probably a mistake.
    pub fn warning(rule: &'static str, at: &Position, message: impl Into<String>) -> Fault {
        Fault { severity: Severity::Warning, ..Fault::error(rule, at, message) }
    }

    /// Adds a suggestion.
    pub fn with_hint(self, hint: impl Into<String>) -> Fault {
        Fault { hint: Some(hint.into()), ..self }
    }

    /// Suggests a known name, if there is a similar one.
    pub fn with_nearest(self, nearest: Option<&str>) -> Fault {
        match nearest {
            Some(name) => self.with_hint(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Whether it keeps the workflow from running.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}: {}[{}]: {}",
            self.file, self.line, self.column, self.severity, self.rule, self.message
        )?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// Sorts faults by file and by position in it, the order in which they are shown.
pub fn sort(faults: &mut [Fault]) {
    faults.sort_by(|a, b| (&a.file, a.line, a.column, a.rule).cmp(&(&b.file, b.line, b.column, b.rule)));
}

/// The most faults of one load; with more, the first ones are fixed first anyway.
const FAULTS_MAX: usize = 500;

/// The rules of expressions and places: a placeholder takes the place of what breaks them.
const STOOD_IN_FOR: [&str; 3] = ["bad-expression", "bad-place", "unknown-variable"];

/// Collects the faults of a load; the readers of all files share one.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    found: RefCell<Vec<Fault>>,
}

impl Faults {
    pub(crate) fn add(&self, fault: Fault) {
        let mut found = self.found.borrow_mut();
        if found.len() < FAULTS_MAX && !found.contains(&fault) {
            found.push(fault);
        }
    }

    /// Returns how many there are so far.
    pub(crate) fn count(&self) -> usize {
        self.found.borrow().len()
    }

    /// Returns how many there are without those that have a placeholder.
    pub(crate) fn count_hard(&self) -> usize {
        let is_hard = |fault: &&Fault| !STOOD_IN_FOR.contains(&fault.rule);
        self.found.borrow().iter().filter(is_hard).count()
    }

    pub(crate) fn into_sorted(self) -> Vec<Fault> {
        let mut found = self.found.into_inner();
        sort(&mut found);
        found
    }
}
