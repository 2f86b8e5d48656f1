//! Marking messages as read.

use super::{Event, Inbox, Party};
use crate::MessageId;

/// Says what happens when a reader has seen messages of an inbox; one that was read before, or is not there, adds
/// nothing.
pub fn mark_read(inbox: &Inbox, of: &Party, messages: &[MessageId], by: &Party) -> Vec<Event> {
    let unread = messages.iter().copied().filter(|message| inbox.is_unread(*message));
    unread.map(|message_id| Event::MessageRead { message_id, to: of.clone(), by: by.clone() }).collect()
}
