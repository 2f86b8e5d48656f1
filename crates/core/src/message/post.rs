//! The numbers given to messages.

use super::Event;
use crate::{Fact, MessageId};
use serde::{Deserialize, Serialize};

/// Which messages there are, by their numbers alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCount {
    last: Option<MessageId>,
}

impl MessageCount {
    /// Returns the number that the next message gets.
    pub fn next_id(self) -> MessageId {
        self.last.map_or(MessageId::FIRST, MessageId::next)
    }

    /// Tells whether there is such a message.
    pub fn contains(self, message: MessageId) -> bool {
        self.last.is_some_and(|last| message <= last)
    }

    /// Folds one fact into it.
    pub fn evolve(mut self, fact: &Fact<Event>) -> Self {
        if let Event::MessageSent { message_id, .. } = &fact.event {
            self.last = self.last.max(Some(*message_id));
        }
        self
    }
}
