//! Samples of what happens to sessions.

use super::{agent, id};
use crate::session::{Allowance, Ending, Event, Grant, Subject, Usage};
use crate::{FailureClass, RunId};
use jiff::Timestamp;

/// One of each kind of event, in the order of [`Event::KINDS`].
pub(crate) fn session_samples() -> Vec<Event> {
    let subject = Subject {
        session: "task-7-session-2".to_owned(),
        agent_id: agent("alpha"),
        task_id: Some(id(7)),
        run_id: Some(RunId::FIRST.next()),
        above: vec![RunId::FIRST],
        role: Some("coder".to_owned()),
        number: 2,
        day: jiff::civil::date(2026, 1, 1),
    };
    let reserved = Allowance { tokens: Some(1_000), ..Allowance::default() };
    let usage = Usage {
        input_tokens: 900,
        cached_tokens: 800,
        output_tokens: 50,
        cost_micros: Some(1_200),
        milliseconds: 4_000,
    };
    vec![
        Event::SessionOpened { subject: subject.clone(), reserved, resumes: Some("own-1".to_owned()) },
        Event::SessionAsked {
            subject: subject.clone(),
            question: 1,
            what: "write to /etc/hosts".to_owned(),
            paths: vec!["/etc/hosts".to_owned()],
        },
        Event::SessionAnswered {
            subject: subject.clone(),
            question: Some(1),
            what: "write to /etc/hosts".to_owned(),
            answer: Grant::Denied,
            by: "local".to_owned(),
        },
        Event::SessionParked {
            subject: subject.clone(),
            class: FailureClass::Network,
            attempt: 1,
            until: Timestamp::from_second(1_767_225_600).unwrap(),
        },
        Event::SessionClosed {
            subject,
            ending: Ending::Failed,
            class: Some(FailureClass::Network),
            usage,
            turns: 3,
            agent_session: Some("own-1".to_owned()),
            agent_session_gone: true,
        },
    ]
}
