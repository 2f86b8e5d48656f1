//! What can happen to a message, in the words of the log.
//!
//! As with tasks, the names and fields are contracts: kinds and fields are added, and the meaning of an old one
//! never changes. A message carries what a hand-off between roles needs: a kind that its reader can act on, and data
//! of any shape beside the text.

use super::Party;
use crate::{MessageId, RunId, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Everything that can happen to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract, and the variants say what happened")]
pub enum Event {
    #[serde(rename = "message:sent")]
    MessageSent {
        message_id: MessageId,
        #[serde(flatten)]
        letter: Box<Message>,
    },
    #[serde(rename = "message:read")]
    MessageRead { message_id: MessageId, to: Party, by: Party },
}

/// A message: from whom, for whom, and what it says.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What it says.
    pub body: String,
    /// What it says to a program.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Value>,
    /// The task that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The run that it is part of; a role of another run does not get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The item of the run that it is about; a role that works on another does not get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
}

impl Event {
    /// Every kind of event, by its name in the log.
    pub const KINDS: &'static [&'static str] = &["message:sent", "message:read"];

    /// The subjects with which the names of these kinds begin.
    pub const SUBJECTS: &'static [&'static str] = &["message"];

    /// Returns the name of the event's kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Event::MessageSent { .. } => "message:sent",
            Event::MessageRead { .. } => "message:read",
        }
    }

    /// Returns the message it happened to.
    pub fn message(&self) -> MessageId {
        match self {
            Event::MessageSent { message_id, .. } | Event::MessageRead { message_id, .. } => *message_id,
        }
    }

    /// Returns whose inbox the message lies in.
    pub fn to(&self) -> &Party {
        match self {
            Event::MessageSent { letter, .. } => &letter.to,
            Event::MessageRead { to, .. } => to,
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
            {"type":"message:sent","messageId":4,"from":"role:developer","to":"role:qa_expert","kind":"READY_FOR_QA","subject":"Login is ready","body":"All unit tests pass.","data":{"commits":["abc123"]},"taskId":7,"runId":2,"item":"A","replyTo":3}
            {"type":"message:read","messageId":4,"to":"role:qa_expert","by":"agent:alpha"}"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn what_was_left_out_has_a_default() {
        let text = r#"{"type":"message:sent","messageId":1,"from":"person:a","to":"task:1","kind":"note","body":"x"}"#;
        let event: Event = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
    }
}
