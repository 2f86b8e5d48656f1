//! What a user reads when something did not work: what failed, why, and what to do next.

use crate::Code;
use serde_json::{Map, Value};

/// One explained error; the CLI, HTTP and MCP print the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The code.
    pub code: Code,
    /// What failed, in one sentence without a full stop.
    pub what: String,
    /// Why, from the outside in, one line per level.
    pub why: Vec<String>,
    /// What to do next.
    pub next: String,
    /// What a program may want to know.
    pub details: Map<String, Value>,
}

impl Problem {
    /// Returns a problem with one reason and no details.
    pub fn new(code: Code, what: impl Into<String>, why: impl Into<String>, next: impl Into<String>) -> Self {
        Problem { code, what: what.into(), why: vec![why.into()], next: next.into(), details: Map::new() }
    }

    /// Adds something that a program may want to know.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Returns the body that every interface sends: `{"error": {code, message, hint, details}}`.
    pub fn to_json(&self) -> Value {
        let message = if self.why.is_empty() {
            self.what.clone()
        } else {
            format!("{}: {}", self.what, self.why.join(": "))
        };
        serde_json::json!({
            "error": { "code": self.code, "message": message, "hint": self.next, "details": self.details }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_interface_sends_the_same_body() {
        let problem = Problem::new(Code::TaskNotFound, "there is no task #9", "nobody made it", "make it")
            .with("taskId", 9);
        assert_eq!(
            problem.to_json().to_string(),
            r#"{"error":{"code":"TASK_NOT_FOUND","message":"there is no task #9: nobody made it","hint":"make it","details":{"taskId":9}}}"#
        );
    }
}
