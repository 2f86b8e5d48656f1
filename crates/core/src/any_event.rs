//! An event of any family: the log holds them all in one order.
//!
//! Each family folds only its own events; this union is for readers of the whole log. In JSON it looks the
//! same as the event itself, and the prefix of its kind names the family.

use crate::{Event, RunId, TaskId, document, message, run, session};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// An event of any family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[allow(
    clippy::large_enum_variant,
    reason = "a step is the largest and the most frequent, and a reader of the log moves each once"
)]
pub enum AnyEvent {
    /// Something happened to a task.
    Task(Event),
    /// Something happened to an epic or a PRD.
    Document(document::Event),
    /// Something happened to a run.
    Run(run::Event),
    /// A session was opened or closed.
    Session(session::Event),
    /// Something happened to a message.
    Message(message::Event),
}

impl AnyEvent {
    /// Returns every kind of event, family by family.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        [
            Event::KINDS,
            document::Event::KINDS,
            run::Event::KINDS,
            session::Event::KINDS,
            message::Event::KINDS,
        ]
        .into_iter()
        .flatten()
        .copied()
    }

    /// Returns the name of the event's kind.
    pub fn kind(&self) -> &'static str {
        match self {
            AnyEvent::Task(event) => event.kind(),
            AnyEvent::Document(event) => event.kind(),
            AnyEvent::Run(event) => event.kind(),
            AnyEvent::Session(event) => event.kind(),
            AnyEvent::Message(event) => event.kind(),
        }
    }

    /// Returns the task it happened to, if it was one.
    pub fn find_task(&self) -> Option<TaskId> {
        match self {
            AnyEvent::Task(event) => Some(event.task()),
            AnyEvent::Session(event) => event.subject().task_id,
            AnyEvent::Document(_) | AnyEvent::Run(_) | AnyEvent::Message(_) => None,
        }
    }

    /// Returns the run it happened to, if it was one.
    pub fn find_run(&self) -> Option<RunId> {
        match self {
            AnyEvent::Run(event) => event.find_run(),
            AnyEvent::Session(event) => event.subject().run_id,
            AnyEvent::Task(_) | AnyEvent::Document(_) | AnyEvent::Message(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for AnyEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        let subject = kind.split(':').next().unwrap_or_default();
        if document::Event::SUBJECTS.contains(&subject) {
            return serde_json::from_value(value).map(AnyEvent::Document).map_err(D::Error::custom);
        }
        if run::Event::SUBJECTS.contains(&subject) {
            return serde_json::from_value(value).map(AnyEvent::Run).map_err(D::Error::custom);
        }
        if session::Event::SUBJECTS.contains(&subject) {
            return serde_json::from_value(value).map(AnyEvent::Session).map_err(D::Error::custom);
        }
        if message::Event::SUBJECTS.contains(&subject) {
            return serde_json::from_value(value).map(AnyEvent::Message).map_err(D::Error::custom);
        }
        serde_json::from_value(value).map(AnyEvent::Task).map_err(D::Error::custom)
    }
}

impl From<Event> for AnyEvent {
    fn from(event: Event) -> Self {
        AnyEvent::Task(event)
    }
}

impl From<session::Event> for AnyEvent {
    fn from(event: session::Event) -> Self {
        AnyEvent::Session(event)
    }
}

impl From<run::Event> for AnyEvent {
    fn from(event: run::Event) -> Self {
        AnyEvent::Run(event)
    }
}

impl From<message::Event> for AnyEvent {
    fn from(event: message::Event) -> Self {
        AnyEvent::Message(event)
    }
}

impl From<document::Event> for AnyEvent {
    fn from(event: document::Event) -> Self {
        AnyEvent::Document(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document_samples, id, message_samples, run_samples, samples, session_samples};
    use std::collections::BTreeSet;

    #[test]
    fn it_looks_in_json_as_the_event_itself_and_is_read_back_as_its_family() {
        let tasks = samples(id(7), 2).into_iter().map(AnyEvent::Task);
        let documents = document_samples().into_iter().map(AnyEvent::Document);
        let runs = run_samples().into_iter().map(AnyEvent::Run);
        let sessions = session_samples().into_iter().map(AnyEvent::Session);
        let messages = message_samples().into_iter().map(AnyEvent::Message);
        for any_event in tasks.chain(documents).chain(runs).chain(sessions).chain(messages) {
            let text = serde_json::to_string(&any_event).unwrap();
            let alone = match &any_event {
                AnyEvent::Task(event) => serde_json::to_string(event).unwrap(),
                AnyEvent::Document(event) => serde_json::to_string(event).unwrap(),
                AnyEvent::Run(event) => serde_json::to_string(event).unwrap(),
                AnyEvent::Session(event) => serde_json::to_string(event).unwrap(),
                AnyEvent::Message(event) => serde_json::to_string(event).unwrap(),
            };
            assert_eq!(text, alone);
            assert_eq!(serde_json::from_str::<AnyEvent>(&text).unwrap(), any_event);
        }
    }

    #[test]
    fn no_two_families_share_a_subject() {
        let subjects = |kinds: &[&'static str]| -> BTreeSet<&'static str> {
            kinds.iter().map(|kind| kind.split(':').next().unwrap()).collect()
        };
        let others = [
            (document::Event::KINDS, document::Event::SUBJECTS),
            (run::Event::KINDS, run::Event::SUBJECTS),
            (session::Event::KINDS, session::Event::SUBJECTS),
            (message::Event::KINDS, message::Event::SUBJECTS),
        ];
        let mut taken = subjects(Event::KINDS);
        for (kinds, named) in others {
            let found = subjects(kinds);
            assert_eq!(found, named.iter().copied().collect());
            assert!(taken.is_disjoint(&found), "{taken:?} {found:?}");
            taken.extend(found);
        }
    }

    #[test]
    fn a_kind_that_no_family_knows_is_an_error() {
        for bad in ["task:renamed", "epic:renamed", "run:sunk", "workflow:set", "prd", "", "sail:set"] {
            let text = format!(r#"{{"type":"{bad}","taskId":1,"epicId":1,"runId":1,"slug":"a"}}"#);
            assert!(serde_json::from_str::<AnyEvent>(&text).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<AnyEvent>("[]").is_err());
        assert!(serde_json::from_str::<AnyEvent>(r#"{"taskId":1}"#).is_err());
    }
}
