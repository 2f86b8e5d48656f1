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
pub enum Happening {
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

impl Happening {
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
            Happening::Task(event) => event.kind(),
            Happening::Document(event) => event.kind(),
            Happening::Run(event) => event.kind(),
            Happening::Session(event) => event.kind(),
            Happening::Message(event) => event.kind(),
        }
    }

    /// Returns the task it happened to, if it was one.
    pub fn find_task(&self) -> Option<TaskId> {
        match self {
            Happening::Task(event) => Some(event.task()),
            Happening::Session(event) => event.subject().task_id,
            Happening::Document(_) | Happening::Run(_) | Happening::Message(_) => None,
        }
    }

    /// Returns the run it happened to, if it was one.
    pub fn find_run(&self) -> Option<RunId> {
        match self {
            Happening::Run(event) => event.find_run(),
            Happening::Session(event) => event.subject().run_id,
            Happening::Task(_) | Happening::Document(_) | Happening::Message(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for Happening {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        let subject = kind.split(':').next().unwrap_or_default();
        if document::Event::SUBJECTS.contains(&subject) {
            return serde_json::from_value(value).map(Happening::Document).map_err(D::Error::custom);
        }
        if run::Event::SUBJECTS.contains(&subject) {
            return serde_json::from_value(value).map(Happening::Run).map_err(D::Error::custom);
        }
        if session::Event::SUBJECTS.contains(&subject) {
            return serde_json::from_value(value).map(Happening::Session).map_err(D::Error::custom);
        }
        if message::Event::SUBJECTS.contains(&subject) {
            return serde_json::from_value(value).map(Happening::Message).map_err(D::Error::custom);
        }
        serde_json::from_value(value).map(Happening::Task).map_err(D::Error::custom)
    }
}

impl From<Event> for Happening {
    fn from(event: Event) -> Self {
        Happening::Task(event)
    }
}

impl From<session::Event> for Happening {
    fn from(event: session::Event) -> Self {
        Happening::Session(event)
    }
}

impl From<run::Event> for Happening {
    fn from(event: run::Event) -> Self {
        Happening::Run(event)
    }
}

impl From<message::Event> for Happening {
    fn from(event: message::Event) -> Self {
        Happening::Message(event)
    }
}

impl From<document::Event> for Happening {
    fn from(event: document::Event) -> Self {
        Happening::Document(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document_samples, id, message_samples, run_samples, samples, session_samples};
    use std::collections::BTreeSet;

    #[test]
    fn it_looks_in_json_as_the_event_itself_and_is_read_back_as_its_family() {
        let tasks = samples(id(7), 2).into_iter().map(Happening::Task);
        let documents = document_samples().into_iter().map(Happening::Document);
        let runs = run_samples().into_iter().map(Happening::Run);
        let sessions = session_samples().into_iter().map(Happening::Session);
        let messages = message_samples().into_iter().map(Happening::Message);
        for happening in tasks.chain(documents).chain(runs).chain(sessions).chain(messages) {
            let text = serde_json::to_string(&happening).unwrap();
            let alone = match &happening {
                Happening::Task(event) => serde_json::to_string(event).unwrap(),
                Happening::Document(event) => serde_json::to_string(event).unwrap(),
                Happening::Run(event) => serde_json::to_string(event).unwrap(),
                Happening::Session(event) => serde_json::to_string(event).unwrap(),
                Happening::Message(event) => serde_json::to_string(event).unwrap(),
            };
            assert_eq!(text, alone);
            assert_eq!(serde_json::from_str::<Happening>(&text).unwrap(), happening);
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
            assert!(serde_json::from_str::<Happening>(&text).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<Happening>("[]").is_err());
        assert!(serde_json::from_str::<Happening>(r#"{"taskId":1}"#).is_err());
    }
}
