//! Messages between agents, roles, tasks and people.
//!
//! A message is sent once, lies in the inbox of the one it is for, and is read once. What it says is between its
//! sender and its reader: nothing here leads to an effect, and no message is ever deleted. Start reading at
//! [`Event`], then [`send`] and [`mark_read`].

mod event;
mod inbox;
mod note;
mod party;
mod post;
mod read;
mod send;

pub use event::{Event, Message};
pub use inbox::{Inbox, KEPT_MAX, Kept, UNREAD_MAX};
pub use note::{KIND as NOTE, note};
pub use party::{Address, Party, PartyFault};
pub use post::MessageCount;
pub use read::mark_read;
pub use send::{Directory, Draft, Situation, send};
