//! What can happen to a message, in the words of the log.
//!
//! As with tasks, the names and fields are contracts: kinds and fields are added, and the meaning of an old one
//! never changes. A message carries what a hand-off between roles needs: a kind that its reader can act on, and data
//! of any shape beside the text.

use super::{Address, Party};
use crate::{MessageId, RunId, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

events! {
    /// Everything that can happen to a message.
    pub enum Event {
        MessageSent = "message:sent" {
            message_id: MessageId,
            #[serde(flatten)]
            letter: Box<Message>,
        },
        MessageRead = "message:read" {
            message_id: MessageId,
            to: Party,
            by: Party,
            /// The run whose role it was for.
            to_run: Option<RunId>,
        },
    }
}

/// A message: from whom, for whom, and what it says.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Who sent it.
    pub from: Party,
    /// Whom it is for.
    pub to: Party,
    /// What it is, in a word that its reader knows, such as `note` or `READY_FOR_QA`.
    pub kind: String,
    /// What it is about, in one line.
    pub subject: Option<String>,
    /// What it says.
    pub body: String,
    /// What it says to a program.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Value>,
    /// The task that it is about.
    pub task_id: Option<TaskId>,
    /// The run that it is part of; a role of another run does not get it, unless `to_run` says so.
    pub run_id: Option<RunId>,
    /// The run whose role it is for: that of its sender, or one above.
    pub to_run: Option<RunId>,
    /// The item of the run that it is about; a role that works on another does not get it.
    pub item: Option<String>,
    /// The message that it answers.
    pub reply_to: Option<MessageId>,
}

impl Message {
    /// Returns whose inbox it lies in.
    pub fn address(&self) -> Address {
        Address { party: self.to.clone(), run: self.to_run }
    }

    /// Returns the run that its reader works in, if it is part of one.
    pub fn reader_run(&self) -> Option<RunId> {
        self.to_run.or(self.run_id)
    }
}

impl Event {
    /// The subjects with which the names of these kinds begin.
    pub const SUBJECTS: &'static [&'static str] = &["message"];

    /// Returns the message it happened to.
    pub fn message(&self) -> MessageId {
        match self {
            Event::MessageSent { message_id, .. } | Event::MessageRead { message_id, .. } => *message_id,
        }
    }

    /// Returns whose inbox the message lies in.
    pub fn address(&self) -> Address {
        match self {
            Event::MessageSent { letter, .. } => letter.address(),
            Event::MessageRead { to, to_run, .. } => Address { party: to.clone(), run: *to_run },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::message_samples;
    use expect_test::expect;

    #[test]
    fn every_kind_survives_json_in_these_words() {
        let samples = message_samples();
        let kinds: Vec<&str> = samples.iter().map(Event::kind).collect();
        assert_eq!(kinds, Event::KINDS, "there is one sample of each kind");
        let write = |event: &Event| {
            let text = serde_json::to_string(event).unwrap();
            assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), event);
            text
        };
        let lines: Vec<String> = samples.iter().map(write).collect();
        expect![[r#"
            {"type":"message:sent","messageId":4,"from":"role:developer","to":"role:qa_expert","kind":"READY_FOR_QA","subject":"Login is ready","body":"All unit tests pass.","data":{"commits":["abc123"]},"taskId":7,"runId":2,"toRun":1,"item":"A","replyTo":3}
            {"type":"message:read","messageId":4,"to":"role:qa_expert","by":"agent:alpha","toRun":1}"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn what_was_left_out_has_a_default() {
        let text = r#"{"type":"message:sent","messageId":1,"from":"person:a","to":"task:1","kind":"note","body":"x"}"#;
        let event: Event = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
    }
}
