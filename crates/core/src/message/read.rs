//! Marking messages as read.

use super::{Address, Event, Inbox, Party};
use crate::MessageId;

/// Says what happens when a reader has seen messages of an inbox; one that was read before, or is not there, adds
/// nothing.
pub fn mark_read(inbox: &Inbox, of: &Address, messages: &[MessageId], by: &Party) -> Vec<Event> {
    let unread = messages.iter().copied().filter(|message| inbox.is_unread(*message));
    let read = |message_id| {
        let (to, to_run) = (of.party.clone(), of.run);
        Event::MessageRead { message_id, to, by: by.clone(), to_run }
    };
    unread.map(read).collect()
}
