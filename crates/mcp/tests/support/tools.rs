//! A tools that answers with fixed values and writes down what it was asked.

use regatta_mcp::{Call, Fault, Refused, Tools};
use serde_json::{Map, Value, json};
use std::sync::{Mutex, PoisonError};

/// The task that the tools is for.
pub(crate) const TASK: u32 = 7;

/// A tools for task 7.
#[derive(Debug, Default)]
pub(crate) struct SampleTools {
    asked: Mutex<Vec<String>>,
}

impl SampleTools {
    /// Returns what it was asked so far, and forgets it.
    #[allow(dead_code, reason = "the server over HTTP does not ask")]
    pub(crate) fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, asked: String) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    }
}

fn task_answer() -> Value {
    let criterion =
        json!({ "index": 1, "text": "It reads dates", "checked": false, "verified": false, "check": "test" });
    let evidence = json!({ "check": "test", "passed": false, "commit": "0123456789", "tail": "1 failed" });
    json!({
        "taskId": TASK,
        "title": "Add a parser",
        "description": "Reads dates.",
        "criteria": [criterion],
        "evidence": [evidence],
        "branch": "task/7",
        "file": "task-7-state.md",
        "session": 1,
        "runId": null,
        "role": null,
        "progressEntries": 0,
        "next": null,
        "rejectionCount": 0,
    })
}

impl Tools for SampleTools {
    fn task(&self) -> Option<u32> {
        Some(TASK)
    }

    async fn call(&self, call: Call) -> Result<Value, Fault> {
        self.note(format!("{call:?}"));
        Ok(match call {
            Call::ReadTask | Call::TickCriterion(_) => task_answer(),
            Call::ReadInputs(which) => match which.from {
                Some(from) => {
                    json!({ "taskId": from, "output": "There is a grammar.", "summary": "There is a grammar." })
                }
                None => json!({ "inputs": [{
                    "taskId": 3,
                    "title": "The grammar",
                    "summary": "There is a grammar.",
                    "output": "There is a grammar.\n\nSee grammar.md.",
                    "isCut": false,
                    "stale": true,
                }] }),
            },
            Call::ReadPrd(_) => json!({ "slug": "dates", "text": "# Dates\n" }),
            Call::ReadEpic(_) => json!({ "id": 2, "title": "Time", "tasks": [] }),
            Call::ReadArchive => json!({ "taskId": TASK, "text": null }),
            Call::AppendProgress(_) => json!({ "entry": 1 }),
            Call::WriteChainOutput(output) => json!({ "summary": output.text }),
            Call::SendMessage(_) => json!({ "messageId": 12 }),
            Call::SendSignal(given) => json!({ "runId": 2, "signal": given.signal }),
            Call::ReadMessages(_) => {
                json!({ "messages": [{ "messageId": 11, "body": "Mind the leap years." }], "more": 0 })
            }
            Call::CheckSignals => {
                json!({ "signal": "pause", "reason": null, "secondsLeft": 60, "budgetLeft": null })
            }
            Call::SubmitResult(given) if given.result == json!({ "bad": true }) => {
                return Err(fault("VALIDATION_ERROR", "`code` is missing"));
            }
            Call::SubmitResult(_) => json!({ "isValid": true, "replaced": false }),
        })
    }

    async fn refuse(&self, refused: Refused) -> Fault {
        self.note(format!("refused {refused:?}"));
        match refused {
            Refused::Tool { name } => fault("FORBIDDEN", &format!("there is no tool `{name}` for an agent")),
            Refused::Task { task, .. } => fault("FORBIDDEN", &format!("task {task} is not yours")),
            Refused::Arguments { faults, .. } => {
                let named: Vec<String> =
                    faults.iter().map(|fault| format!("{}: {}", fault.field, fault.problem)).collect();
                fault("VALIDATION_ERROR", &named.join("; "))
            }
        }
    }
}

fn fault(code: &str, message: &str) -> Fault {
    let (code, message) = (code.to_owned(), message.to_owned());
    Fault { code, message, hint: "continue without it".to_owned(), details: Map::new() }
}
