//! Canned agents: they answer at once, and always the same.
//!
//! The bytes are those that every engine in the comparison gets: a task of about 430 bytes, 1,024 bytes of code. The
//! coder fails its own validation the first time; the reviewer rejects what came after two runs of the coder and
//! approves after three. So a task takes five steps.

use crate::exec_log::ExecLog;
use regatta_core::{Code, Failure, Problem};
use regatta_engine::runs::{Playing, RoleOutcome, RoleRequest, Roles};
use serde_json::{Value, json};
use tokio::sync::Notify;

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// As many bytes of code as the coder returns.
const CODE_BYTES: usize = 1_024;

/// So many runs of the coder satisfy the reviewer.
const ATTEMPTS_ENOUGH: u64 = 3;

/// Returns the first bytes of the canned code.
pub(crate) fn code(bytes: usize) -> String {
    (0..bytes).map(|index| char::from(LETTERS[index % LETTERS.len()])).collect()
}

/// The three roles of `speckit`.
pub(crate) struct Canned {
    tasks: usize,
    code: String,
    log: ExecLog,
    /// Told when the last task is approved.
    pub(crate) last: Notify,
}

impl Canned {
    /// Makes agents for a plan of so many tasks.
    pub(crate) fn new(tasks: usize, log: ExecLog) -> Self {
        Canned { tasks, code: code(CODE_BYTES), log, last: Notify::new() }
    }

    fn answer(&self, role: &str, state: &Value) -> std::io::Result<Value> {
        if role == "spec" {
            self.log.note(|| "s".to_owned())?;
            return Ok(plan(self.tasks));
        }
        let index = state["currentTaskIndex"].as_u64().unwrap_or_default() as usize;
        let task = state["tasks"][index]["id"].as_str().unwrap_or_default();
        let attempts = state["taskAttempts"][task].as_u64().unwrap_or_default();
        if role == "coder" {
            self.log.note(|| format!("c:{task}:{attempts}"))?;
            return Ok(self.work(task, attempts));
        }
        self.log.note(|| format!("r:{task}:{attempts}"))?;
        if index + 1 == self.tasks && attempts >= ATTEMPTS_ENOUGH {
            self.last.notify_one();
        }
        Ok(judge(task, attempts))
    }

    fn work(&self, task: &str, attempts: u64) -> Value {
        let passed = attempts > 0;
        let issues =
            if passed { json!([]) } else { json!(["Missing input validation", "No error handling"]) };
        json!({
            "code": self.code,
            "taskId": task,
            "status": if passed { "complete" } else { "needs_revision" },
            "selfValidation": { "passed": passed, "issues": issues },
        })
    }
}

impl Roles for Canned {
    fn reads_prompts(&self) -> bool {
        false
    }

    fn play<'a>(&'a self, ask: RoleRequest<'a>) -> Playing<'a> {
        let played = match self.answer(ask.role, &ask.run.sheet.state()) {
            Ok(output) => RoleOutcome::Returned(output),
            Err(error) => RoleOutcome::Failed(unlisted(&error)),
        };
        Box::pin(std::future::ready(Ok(played)))
    }
}

fn unlisted(error: &std::io::Error) -> Failure {
    let next = "look at the disk that the list of agent runs is on";
    Failure::from(Problem::new(Code::Internal, "an agent run was not listed", error.to_string(), next))
}

fn plan(tasks: usize) -> Value {
    let priorities =
        [1, 2, 3, 4, 5].map(|priority| (0..tasks).filter(|index| index % 5 + 1 == priority).count());
    let [first, second, third, fourth, fifth] = priorities;
    json!({
        "tasks": (0..tasks).map(task).collect::<Vec<_>>(),
        "summary": {
            "totalTasks": tasks,
            "byPriority": { "1": first, "2": second, "3": third, "4": fourth, "5": fifth },
            "estimatedComplexity": "weeks",
        },
    })
}

fn task(index: usize) -> Value {
    let criterion = |number| format!("criterion {number} of task {index:04} is met and shown by a test");
    let asks = "Implement the thing that this task asks for, with input validation, error handling and tests";
    let complexity = ["simple", "medium", "complex"][index % 3];
    json!({
        "id": format!("T{index:04}"),
        "title": format!("Task number {index:04} of the plan"),
        "description": format!("{asks} {index:04}"),
        "priority": index % 5 + 1,
        "complexity": complexity,
        "acceptanceCriteria": [criterion(0), criterion(1), criterion(2)],
        "status": "pending",
    })
}

fn judge(task: &str, attempts: u64) -> Value {
    let approved = attempts >= ATTEMPTS_ENOUGH;
    let fault = json!({ "severity": "major", "description": "criterion 2 is not met" });
    let issues = if approved { json!([]) } else { json!([fault]) };
    json!({ "taskId": task, "approved": approved, "issues": issues, "criteriaResults": [] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_comparison() {
        assert_eq!(code(40), "abcdefghijklmnopqrstuvwxyz0123456789abcd");
        let first = task(0).to_string();
        let expected = concat!(
            r#"{"id":"T0000","title":"Task number 0000 of the plan","description":"Implement the thing that this task"#,
            r#" asks for, with input validation, error handling and tests 0000","priority":1,"complexity":"simple","#,
            r#""acceptanceCriteria":["criterion 0 of task 0000 is met and shown by a test","criterion 1 of task 0000"#,
            r#" is met and shown by a test","criterion 2 of task 0000 is met and shown by a test"],"status":"pending"}"#,
        );
        assert_eq!(first, expected);
    }

    #[test]
    fn a_task_takes_three_runs_of_the_coder_and_two_of_the_reviewer() {
        let canned = Canned::new(1, ExecLog::default());
        let passes =
            [0, 1, 2].map(|attempts| canned.work("T0000", attempts)["selfValidation"]["passed"] == true);
        assert_eq!(passes, [false, true, true]);
        assert_eq!([2, 3].map(|attempts| judge("T0000", attempts)["approved"] == true), [false, true]);
    }
}
