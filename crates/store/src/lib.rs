//! The append-only log, its intents, snapshots, lists and leases behind one trait.
//!
//! Start with [`Store`], the contract, and [`Append`], the one way to change the log. [`SqliteStore`] keeps
//! the contract; the tests hold it, and a model in memory, to it.
//!
//! This crate knows nothing of tasks: events, intents and answers are opaque JSON text. It reads no clock and
//! makes no ids; both come from the caller.

mod append;
mod corruption;
mod error;
mod event;
mod intent;
mod lease;
mod list;
mod position;
mod sqlite;
mod store;
mod stream;
mod verify;

pub use append::{Append, AppendFault, Appended, CommandKey};
pub use corruption::Corruption;
pub use error::Error;
pub use event::{NewEvent, Recorded};
pub use intent::{Intent, IntentId, IntentIdError, NewIntent};
pub use lease::{Lease, LeaseAnswer, LeaseRequest, LeaseToken};
pub use list::{List, ListId, NewRow, Row, RowRead, TakeRow};
pub use position::{Seq, Version};
pub use sqlite::{DatabaseFile, OpenMode, SqliteStore};
pub use store::Store;
pub use stream::{Loaded, NewSnapshot, Snapshot, StreamName, StreamNameError};
pub use verify::Verified;
