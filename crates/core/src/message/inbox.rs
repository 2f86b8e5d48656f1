//! The inbox of one party: its messages, and which of them were read.
//!
//! It keeps the newest messages in full, so that a load stays small; older ones that were read are only in
//! the log.

use super::{Event, Message};
use crate::{Actor, Fact, MessageId, RunId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// So many messages are kept at hand; one that was not read is always among them.
pub const KEPT_MAX: usize = 1_000;

/// More unread messages than this are a loop, not work; the next one is refused.
pub const UNREAD_MAX: usize = 500;

/// The messages for one party, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inbox {
    messages: BTreeMap<MessageId, Kept>,
}

/// A message in an inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The message.
    pub letter: Message,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// Who gave the command to send it.
    pub actor: Actor,
    /// When it was read.
    pub read_at: Option<Timestamp>,
}

impl Inbox {
    /// Returns the messages, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = (MessageId, &Kept)> {
        self.messages.iter().map(|(id, kept)| (*id, kept))
    }

    /// Counts those that nobody has read.
    pub fn count_unread(&self) -> usize {
        self.messages.values().filter(|kept| kept.read_at.is_none()).count()
    }

    /// Counts those that nobody has read and that somebody may still read: those of runs that have ended do not count.
    pub fn count_waiting(&self, ended: &BTreeSet<RunId>) -> usize {
        let waits = |kept: &&Kept| kept.letter.reader_run().is_none_or(|run| !ended.contains(&run));
        self.messages.values().filter(|kept| kept.read_at.is_none()).filter(waits).count()
    }

    /// Returns the runs that messages belong to which nobody has read.
    pub fn runs_of_unread(&self) -> BTreeSet<RunId> {
        let unread = self.messages.values().filter(|kept| kept.read_at.is_none());
        unread.filter_map(|kept| kept.letter.reader_run()).collect()
    }

    /// Tells whether it holds the message, unread.
    pub fn is_unread(&self, message: MessageId) -> bool {
        self.messages.get(&message).is_some_and(|kept| kept.read_at.is_none())
    }

    /// Folds one fact into it; a fact that does not fit changes nothing.
    pub fn evolve(mut self, fact: &Fact<Event>) -> Self {
        self.try_evolve(fact);
        self
    }

    /// Folds one fact into it, and tells whether it could carry it.
    pub(crate) fn try_evolve(&mut self, fact: &Fact<Event>) -> bool {
        match &fact.event {
            Event::MessageSent { message_id, letter } => {
                let is_new = self.messages.last_key_value().is_none_or(|(last, _)| last < message_id);
                if is_new {
                    let (letter, actor) = ((**letter).clone(), fact.actor.clone());
                    self.messages
                        .insert(*message_id, Kept { letter, sent_at: fact.at, actor, read_at: None });
                    self.let_go();
                }
                is_new
            }
            Event::MessageRead { message_id, .. } => {
                let Some(kept) = self.messages.get_mut(message_id) else { return false };
                let is_first = kept.read_at.is_none();
                kept.read_at = kept.read_at.or(Some(fact.at));
                is_first
            }
        }
    }

    fn let_go(&mut self) {
        if self.messages.len() > KEPT_MAX {
            let oldest = self.messages.iter().find(|(_, kept)| kept.read_at.is_some());
            if let Some(id) = oldest.map(|(id, _)| *id) {
                self.messages.remove(&id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{message_fact, message_samples};

    fn sent(number: u32) -> Fact<Event> {
        let Event::MessageSent { letter, .. } = message_samples().remove(0) else {
            panic!("it is sent first")
        };
        message_fact(Event::MessageSent { message_id: MessageId::new(number).unwrap(), letter })
    }

    fn read(number: u32) -> Fact<Event> {
        let Event::MessageRead { to, by, to_run, .. } = message_samples().remove(1) else {
            panic!("then it is read")
        };
        message_fact(Event::MessageRead { message_id: MessageId::new(number).unwrap(), to, by, to_run })
    }

    #[test]
    fn a_message_is_sent_once_and_read_once() {
        let mut inbox = Inbox::default();
        assert!(!inbox.try_evolve(&read(1)), "it was not sent");
        assert!(inbox.try_evolve(&sent(1)) && !inbox.try_evolve(&sent(1)));
        assert!(inbox.is_unread(MessageId::FIRST));
        assert!(inbox.try_evolve(&read(1)) && !inbox.try_evolve(&read(1)));
        assert_eq!((inbox.count_unread(), inbox.messages().count()), (0, 1));
    }

    #[test]
    fn what_was_read_is_let_go_and_what_was_not_stays() {
        let facts = (1..=KEPT_MAX as u32).map(sent).chain([read(2), sent(KEPT_MAX as u32 + 1)]);
        let inbox = facts.fold(Inbox::default(), |inbox, fact| inbox.evolve(&fact));
        assert_eq!(inbox.messages().count(), KEPT_MAX);
        assert!(inbox.is_unread(MessageId::FIRST), "the oldest was not read");
        assert!(inbox.messages().all(|(id, _)| id.number() != 2));
    }
}
