//! A tools that answers with fixed values and writes down what it was asked.

use regatta_mcp::{
    AppendProgress, CriterionAnswer, EvidenceAnswer, Fault, InputAnswer, InputsAnswer, MessageAnswer,
    MessagesAnswer, OutputAnswer, ProgressAnswer, ReadMessages, Refused, ResultAnswer, SendMessage,
    SentAnswer, Signal, SignalsAnswer, TaskAnswer, TickCriterion, Tools,
};
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

    fn task_answer(&self) -> TaskAnswer {
        TaskAnswer {
            task_id: TASK,
            title: "Add a parser".to_owned(),
            description: "Reads dates.".to_owned(),
            criteria: vec![CriterionAnswer {
                index: 1,
                text: "It reads dates".to_owned(),
                checked: false,
                verified: false,
                check: Some("test".to_owned()),
            }],
            evidence: vec![EvidenceAnswer {
                check: "test".to_owned(),
                passed: false,
                commit: "0123456789".to_owned(),
                tail: "1 failed".to_owned(),
            }],
            branch: Some("task/7".to_owned()),
            file: "task-7-state.md".to_owned(),
            session: 1,
            run_id: None,
            notes: Vec::new(),
            role: None,
            progress_entries: 0,
            next: None,
            review: None,
            rejection_count: 0,
        }
    }
}

impl Tools for SampleTools {
    fn task(&self) -> Option<u32> {
        Some(TASK)
    }

    async fn read_task(&self) -> Result<TaskAnswer, Fault> {
        self.note("read_task".to_owned());
        Ok(self.task_answer())
    }

    async fn read_inputs(&self) -> Result<InputsAnswer, Fault> {
        self.note("read_inputs".to_owned());
        let input = InputAnswer {
            task_id: 3,
            title: "The grammar".to_owned(),
            summary: "There is a grammar.".to_owned(),
            output: Some("There is a grammar.\n\nSee grammar.md.".to_owned()),
            is_cut: false,
            stale: true,
        };
        Ok(InputsAnswer { inputs: vec![input] })
    }

    async fn read_output(&self, task: u32) -> Result<Value, Fault> {
        self.note(format!("output of {task}"));
        Ok(json!({ "taskId": task, "output": "There is a grammar.", "summary": "There is a grammar." }))
    }

    async fn read_prd(&self, slug: Option<String>) -> Result<Value, Fault> {
        self.note(format!("prd {slug:?}"));
        Ok(json!({ "slug": "dates", "text": "# Dates\n" }))
    }

    async fn read_epic(&self, epic: Option<u32>) -> Result<Value, Fault> {
        self.note(format!("epic {epic:?}"));
        Ok(json!({ "id": 2, "title": "Time", "tasks": [] }))
    }

    async fn read_archive(&self) -> Result<Value, Fault> {
        self.note("archive".to_owned());
        Ok(json!({ "taskId": TASK, "text": null }))
    }

    async fn tick_criterion(&self, tick: TickCriterion) -> Result<TaskAnswer, Fault> {
        self.note(format!("tick {:?} {}", tick.criterion, tick.checked));
        Ok(self.task_answer())
    }

    async fn append_progress(&self, entry: AppendProgress) -> Result<ProgressAnswer, Fault> {
        self.note(format!("progress {:?} {:?} {:?}", entry.did, entry.issues, entry.next));
        Ok(ProgressAnswer { entry: 1 })
    }

    async fn write_chain_output(&self, text: String) -> Result<OutputAnswer, Fault> {
        self.note(format!("output {text:?}"));
        Ok(OutputAnswer { summary: Some(text) })
    }

    async fn send_message(&self, message: SendMessage) -> Result<SentAnswer, Fault> {
        self.note(format!("send {:?} {:?} {:?}", message.to, message.body, message.data));
        Ok(SentAnswer { message_id: 12 })
    }

    async fn read_messages(&self, which: ReadMessages) -> Result<MessagesAnswer, Fault> {
        self.note(format!("messages {} {}", which.include_read, which.limit));
        let message = MessageAnswer {
            message_id: 11,
            from: "person:somebody".to_owned(),
            to: "task:7".to_owned(),
            kind: "note".to_owned(),
            subject: None,
            body: "Mind the leap years.".to_owned(),
            data: Map::new(),
            task_id: Some(TASK),
            run_id: None,
            item: None,
            reply_to: None,
            sent_at: "2026-01-01T00:00:00Z".to_owned(),
            read: false,
        };
        Ok(MessagesAnswer { messages: vec![message], more: 0 })
    }

    async fn check_signals(&self) -> Result<SignalsAnswer, Fault> {
        self.note("signals".to_owned());
        Ok(SignalsAnswer {
            signal: Signal::Pause,
            reason: None,
            seconds_left: Some(60),
            budget_left: None,
            notes: Vec::new(),
        })
    }

    async fn submit_result(&self, result: Value) -> Result<ResultAnswer, Fault> {
        self.note(format!("result {result}"));
        if result == json!({ "bad": true }) {
            return Err(fault("VALIDATION_ERROR", "`code` is missing"));
        }
        Ok(ResultAnswer { is_valid: Some(true), replaced: false })
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
