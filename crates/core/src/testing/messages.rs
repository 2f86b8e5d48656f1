//! One sample of every event of messages, and the rules about them driven by lines of text.

use super::script::{lines, render_refusal};
use super::{id, user};
use crate::message::{
    Directory, Draft, Event, Inbox, Message, MessageCount, Party, Situation, mark_read, send,
};
use crate::{Actor, Event as TaskEvent, Fact, MessageId, Plan, Priority, RunId};
use expect_test::Expect;
use jiff::Timestamp;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// One of each kind of event, in the order of [`Event::KINDS`].
pub(crate) fn message_samples() -> Vec<Event> {
    let message_id = MessageId::new(4).unwrap();
    let party = |text: &str| text.parse::<Party>().unwrap();
    let letter = Message {
        from: party("role:developer"),
        to: party("role:qa_expert"),
        kind: "READY_FOR_QA".to_owned(),
        subject: Some("Login is ready".to_owned()),
        body: "All unit tests pass.".to_owned(),
        data: json!({ "commits": ["abc123"] }).as_object().unwrap().clone(),
        task_id: Some(id(7)),
        run_id: RunId::new(2).ok(),
        to_run: Some(RunId::FIRST),
        item: Some("A".to_owned()),
        reply_to: MessageId::new(3).ok(),
    };
    vec![
        Event::MessageSent { message_id, letter: Box::new(letter) },
        Event::MessageRead {
            message_id,
            to: party("role:qa_expert"),
            by: party("agent:alpha"),
            to_run: Some(RunId::FIRST),
        },
    ]
}

/// An event as a fact of its own second.
pub(crate) fn message_fact(event: Event) -> Fact<Event> {
    let at = Timestamp::from_second(event.message().number().into()).unwrap();
    Fact { at, actor: user(), event }
}

/// Compares what comes of each line. There are an agent `alpha`, a role `coder`, a member `me`, and tasks 1 to 4, of
/// which 2 depends on 1, and 3 on 2.
///
/// ```text
/// FROM to TO BODY [about TASK] [reply MESSAGE]       read WHOSE MESSAGE…
/// ```
pub(crate) fn check_messages(when: &str, expect: Expect) {
    let mut office = Office::default();
    let text: String = lines(when).map(|line| format!("> {line}\n{}", office.line(line))).collect();
    expect.assert_eq(&text);
}

#[derive(Default)]
struct Office {
    post: MessageCount,
    inboxes: BTreeMap<Party, Inbox>,
}

impl Office {
    fn line(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let events = match &words[..] {
            ["read", of, numbers @ ..] => {
                let of: Party = of.parse().unwrap();
                let messages: Vec<MessageId> = numbers.iter().map(|number| number.parse().unwrap()).collect();
                mark_read(
                    self.inboxes.get(&of).unwrap_or(&Inbox::default()),
                    &of.clone().into(),
                    &messages,
                    &of,
                )
            }
            [from, "to", to, body, rest @ ..] => match self.send(from, to, body, rest) {
                Ok(event) => vec![event],
                Err(refusal) => return render_refusal(&refusal),
            },
            _ => panic!("{line:?} is not a line of a script"),
        };
        if events.is_empty() {
            "nothing\n".to_owned()
        } else {
            events.into_iter().map(|event| self.append(event)).collect()
        }
    }

    fn send(&self, from: &str, to: &str, body: &str, rest: &[&str]) -> Result<Event, crate::Refusal> {
        let after = |name: &str| rest.iter().position(|word| *word == name).map(|at| rest[at + 1]);
        let from: Party = from.parse().unwrap();
        let is_by_agent = matches!(from, Party::Agent(_));
        let draft = Draft::new(from, to.parse().unwrap(), "note", None, body.to_owned()).unwrap();
        let draft = draft
            .about(after("about").map(|task| task.parse().unwrap()), None, None)
            .replying_to(after("reply").map(|message| message.parse().unwrap()));
        let empty = Inbox::default();
        let inbox = self.inboxes.get(draft.to()).unwrap_or(&empty);
        let (directory, plan) = (directory(), plan());
        let ended = BTreeSet::new();
        let (directory, plan, ended) = (&directory, &plan, &ended);
        send(&Situation { post: self.post, inbox, directory, plan, ended, is_by_agent }, &draft)
    }

    fn append(&mut self, event: Event) -> String {
        let fact = message_fact(event);
        let (kind, message, to) = (fact.event.kind(), fact.event.message(), fact.event.address().party);
        self.post = self.post.evolve(&fact);
        let inbox = self.inboxes.remove(&to).unwrap_or_default().evolve(&fact);
        let unread = inbox.count_unread();
        self.inboxes.insert(to, inbox);
        match fact.event {
            Event::MessageSent { .. } => format!("{kind} {message}, unread {unread}\n"),
            Event::MessageRead { .. } => format!("{kind} {message}\n"),
        }
    }
}

fn directory() -> Directory {
    Directory {
        agents: BTreeSet::from(["alpha".parse().unwrap()]),
        roles: BTreeSet::from(["coder".to_owned()]),
        members: vec!["me".to_owned()],
    }
}

fn plan() -> Plan {
    let created = |number: u32, on: &[u32]| TaskEvent::TaskCreated {
        task_id: id(number),
        title: "Title".to_owned(),
        description: String::new(),
        criteria: Vec::new(),
        dependencies: on.iter().map(|number| id(*number)).collect(),
        priority: Priority::Medium,
        epic_id: None,
        prd: None,
        branch: None,
        base: None,
    };
    let fact = |event| Fact { at: Timestamp::UNIX_EPOCH, actor: Actor::Engine, event };
    let events = [created(1, &[]), created(2, &[1]), created(3, &[2]), created(4, &[])];
    events.into_iter().map(fact).fold(Plan::default(), |plan, fact| plan.evolve(&fact))
}
