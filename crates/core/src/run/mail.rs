//! The messages that go out with an event of a run.
//!
//! A decision says to which role, and with what words. [`post`] makes messages of that: it finds the run that has the role,
//! names the sender, and gives numbers. The log keeps only the numbers in the event of the run: what a message says is in
//! its own event, in the same append.

use super::{Event, Run};
use crate::message::{self, Message, Party};
use crate::{MessageId, RunId};
use regatta_flow::{Said, Workflow};
use serde::{Deserialize, Serialize};

/// The messages of one event: to be sent in a decision, by their numbers in the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mail {
    numbers: Vec<MessageId>,
    #[serde(skip)]
    letters: Vec<Letter>,
}

/// What is said to a role, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Letter {
    from: Sender,
    said: Said,
}

/// Who says it, unless the workflow names a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sender {
    /// The role of the node.
    Role(String),
    /// The node has no role, or something happened to its work.
    Engine,
    /// The one who gave the command.
    Caller,
    /// The one who sent the signal.
    Party(Party),
}

impl Mail {
    /// Makes the messages of one sender.
    pub(super) fn of(from: &Sender, said: Vec<Said>) -> Self {
        let letter = |said| Letter { from: from.clone(), said };
        Mail { numbers: Vec::new(), letters: said.into_iter().map(letter).collect() }
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Counts them, sent or not.
    pub fn count(&self) -> usize {
        self.numbers.len() + self.letters.len()
    }

    /// Returns the numbers of those that were sent.
    pub fn numbers(&self) -> &[MessageId] {
        &self.numbers
    }

    /// Returns what is said to programs by those that are to be sent.
    pub(super) fn data(&self) -> impl Iterator<Item = &serde_json::Value> {
        self.letters.iter().flat_map(|letter| letter.said.data.values())
    }
}

impl Sender {
    /// Returns the sender of what a node says.
    pub(super) fn of_node(workflow: &Workflow, node: &str) -> Self {
        use regatta_flow::NodeKind;
        match workflow.find_node(node).map(|node| &node.kind) {
            Some(NodeKind::Agent { role, .. }) => Sender::Role(role.name.clone()),
            Some(NodeKind::Approval { .. }) => Sender::Caller,
            _ => Sender::Engine,
        }
    }
}

/// Makes the messages that go out with events of a run, and puts their numbers into the events.
///
/// `family` is the run with those above it, the nearest first, and `next` the number of the first message.
pub fn post(
    run: &Run,
    family: &[(RunId, &Workflow)],
    caller: &Party,
    mut next: MessageId,
    events: &mut [Event],
) -> Vec<message::Event> {
    let mut posted = Vec::new();
    for mail in events.iter_mut().filter_map(Event::mail_mut) {
        for Letter { from, said } in std::mem::take(&mut mail.letters) {
            let to_run = find_reader(family, &said.to).unwrap_or(run.id);
            let letter = Message {
                from: find_sender(said.from, from, caller),
                to: Party::Role(said.to),
                kind: said.kind,
                subject: said.subject,
                body: said.body,
                data: said.data,
                task_id: run.find_task().filter(|_| !run.is_over()),
                run_id: Some(run.id),
                to_run: Some(to_run),
                item: None,
                reply_to: None,
            };
            mail.numbers.push(next);
            posted.push(message::Event::MessageSent { message_id: next, letter: Box::new(letter) });
            next = next.next();
        }
    }
    posted
}

/// Finds the nearest run that has a role: the run itself, or one above it.
pub fn find_reader(family: &[(RunId, &Workflow)], role: &str) -> Option<RunId> {
    family.iter().find(|(_, workflow)| workflow.has_role(role)).map(|(run, _)| *run)
}

fn find_sender(named: Option<String>, from: Sender, caller: &Party) -> Party {
    match (named, from) {
        (Some(role), _) | (None, Sender::Role(role)) => Party::Role(role),
        (None, Sender::Engine) => Party::Engine,
        (None, Sender::Caller) => caller.clone(),
        (None, Sender::Party(party)) => party,
    }
}
