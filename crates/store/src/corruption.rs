//! What can be wrong with a stored log; each error names the position where it shows.
//!
//! These are never refusals: an inconsistent log stops the engine.

use crate::{IntentId, Seq, StreamName, Version};

/// The first thing found that does not add up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Corruption {
    /// The log has no event where one must be.
    #[error("event {seq} is missing")]
    EventMissing {
        /// The place with no event.
        seq: Seq,
    },
    /// An event belongs to no stream.
    #[error("event {seq} belongs to no stream")]
    EventWithoutStream {
        /// The place of the event.
        seq: Seq,
    },
    /// A stream has another event than the next one in order.
    #[error("stream `{stream}` has version {found} at event {seq} where {expected} must be")]
    StreamGap {
        /// The stream.
        stream: StreamName,
        /// The place of the event.
        seq: Seq,
        /// The version that must be there.
        expected: Version,
        /// The version that is there.
        found: Version,
    },
    /// The version kept for a stream is not that of its last event.
    #[error("stream `{stream}` is kept at version {kept} but has {counted} events")]
    StreamVersion {
        /// The stream.
        stream: StreamName,
        /// The version kept for it.
        kept: Version,
        /// The number of its events.
        counted: Version,
    },
    /// A place of a stream leads to an event that is not there.
    #[error("a stream has event {seq}, which the log does not have")]
    OrphanPlace {
        /// The place with no event.
        seq: Seq,
    },
    /// A place of a stream leads to an event that is not the next one in it.
    #[error("stream `{stream}` has event {seq} as version {version}, which is not its next")]
    StrangeEvent {
        /// The stream.
        stream: StreamName,
        /// The version.
        version: Version,
        /// The place of the event.
        seq: Seq,
    },
    /// Events name streams that are not there.
    #[error("there are {kept} streams, but events name {named}")]
    StreamMissing {
        /// How many streams there are.
        kept: u64,
        /// How many streams events name.
        named: u64,
    },
    /// An intent belongs to an event that is not there.
    #[error("intent {intent} belongs to an event that the log does not have")]
    OrphanIntent {
        /// The intent.
        intent: IntentId,
    },
    /// An intent is open that its event did not ask for.
    #[error("intent {intent} is open, but its event asked for {asked}")]
    IntentNotAsked {
        /// The intent.
        intent: IntentId,
        /// How many intents the event asked for.
        asked: u64,
    },
    /// An intent is open that an event has settled.
    #[error("intent {intent} is open, but event {by} settled it")]
    IntentSettled {
        /// The intent.
        intent: IntentId,
        /// The place of the event.
        by: Seq,
    },
    /// A snapshot is of a version that the stream has not reached.
    #[error("the snapshot of stream `{stream}` is of version {snapshot}, the stream is at {version}")]
    SnapshotAhead {
        /// The stream.
        stream: StreamName,
        /// The version of the snapshot.
        snapshot: Version,
        /// The version of the stream.
        version: Version,
    },
    /// An event names a command that has no answer.
    #[error("event {seq} names a command that has no answer")]
    OrphanCommand {
        /// The place of the event.
        seq: Seq,
    },
    /// A stored value is not what its column holds.
    #[error("column `{column}` of table `{table}` has a value that is not readable, near {near}")]
    Unreadable {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row, by event or number.
        near: u64,
    },
    /// The database says of itself that it is damaged.
    #[error("the database file is damaged: {finding}")]
    Pages {
        /// What the database found first.
        finding: String,
    },
}
