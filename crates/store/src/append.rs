//! An append: everything one decision changes, stored whole or not at all.
//!
//! [`Append::check`] finds what is wrong with an append regardless of the log; every store calls it first.
//! What depends on the log is checked by the stores, in one order: command, fence, expected versions, settled
//! intents.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::{
    Error, IntentId, LeaseToken, NewEvent, NewIntent, NewRow, NewSnapshot, Seq, StreamName, Version,
};

/// The identity of a command, for doing it once however often it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandKey {
    /// The identity given by the sender.
    pub id: Uuid,
    /// A digest of what is asked; the same id with another digest is refused.
    pub digest: String,
}

/// Everything one decision changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Append {
    /// The command it answers; sent again, it is not done again.
    pub command: Option<CommandKey>,
    /// The answer kept with the command, as JSON text; unused without a command.
    pub answer: String,
    /// The version of every stream the decision read, among them every stream that events or snapshots join.
    pub expect: Vec<(StreamName, Version)>,
    /// The events, in order.
    pub events: Vec<NewEvent>,
    /// What the world must be asked to do because of the events.
    pub intents: Vec<NewIntent>,
    /// Snapshots of streams as they are after this append.
    pub snapshots: Vec<NewSnapshot>,
    /// The rows of kept lists as they are after this append.
    pub rows: Vec<NewRow>,
    /// The intents whose outcome this append carries.
    pub settle: Vec<IntentId>,
    /// The lease that must still be held.
    pub fence: Option<LeaseToken>,
}

/// What became of an append that was not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appended {
    /// It is in the log, on disk.
    Stored {
        /// The place of its first event, when it has one.
        first: Option<Seq>,
        /// The head of the log after it.
        last: Seq,
        /// The ids of its intents, in the order given.
        intents: Vec<IntentId>,
    },
    /// Its command was done before; nothing was changed.
    Repeated {
        /// The answer kept the first time.
        answer: String,
    },
}

/// What is wrong with an append regardless of the log; a bug of the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendFault {
    /// An event joins no stream.
    #[error("event {event} joins no stream")]
    EventWithoutStream {
        /// The index of the event.
        event: usize,
    },
    /// An event joins one stream more than once.
    #[error("event {event} joins stream `{stream}` twice")]
    StreamTwice {
        /// The index of the event.
        event: usize,
        /// The stream.
        stream: StreamName,
    },
    /// The version of one stream is stated more than once.
    #[error("the version of stream `{stream}` is stated twice")]
    ExpectedTwice {
        /// The stream.
        stream: StreamName,
    },
    /// An intent names an event that is not in the append.
    #[error("intent {intent} belongs to event {event}, but there are {events} events")]
    IntentWithoutEvent {
        /// The index of the intent.
        intent: usize,
        /// The index it names.
        event: usize,
        /// How many events there are.
        events: usize,
    },
    /// An intent has white space where it may not.
    #[error("intent {intent} has white space in its kind or lane, or more than one line of data")]
    IntentOfManyLines {
        /// The index of the intent.
        intent: usize,
    },
    /// One intent is settled more than once.
    #[error("intent {intent} is settled twice")]
    SettledTwice {
        /// The intent.
        intent: IntentId,
    },
    /// One stream has more than one snapshot.
    #[error("stream `{stream}` has two snapshots")]
    SnapshotTwice {
        /// The stream.
        stream: StreamName,
    },
    /// One row of a list is written more than once.
    #[error("row {key} of the list `{list}` is written twice")]
    RowTwice {
        /// The list.
        list: &'static str,
        /// The number of the row.
        key: u64,
    },
    /// A stream that has no events, even after the append, has a snapshot.
    #[error("stream `{stream}` has a snapshot but no events")]
    SnapshotOfNothing {
        /// The stream.
        stream: StreamName,
    },
}

impl Append {
    /// Finds the first thing that is wrong with the append, regardless of the log.
    pub fn check(&self) -> Result<(), Error> {
        let mut versions = BTreeMap::new();
        for (stream, version) in &self.expect {
            if versions.insert(stream, version.0).is_some() {
                return Err(AppendFault::ExpectedTwice { stream: stream.clone() }.into());
            }
        }
        self.check_events(&mut versions)?;
        self.check_intents()?;
        self.check_rows()?;
        self.check_snapshots(&versions)
    }

    /// Returns the ids of the intents when the first event of the append has the place `first`.
    pub(crate) fn intent_ids(&self, first: Seq) -> Vec<IntentId> {
        let mut ordinals = vec![0; self.events.len()];
        let place = |intent: &NewIntent| {
            let ordinal = ordinals[intent.event];
            ordinals[intent.event] += 1;
            IntentId { seq: Seq(first.0 + intent.event as u64), ordinal }
        };
        self.intents.iter().map(place).collect()
    }

    /// Checks the streams of each event, and counts in `versions` where they end.
    fn check_events(&self, versions: &mut BTreeMap<&StreamName, u64>) -> Result<(), Error> {
        for (index, event) in self.events.iter().enumerate() {
            if event.streams.is_empty() {
                return Err(AppendFault::EventWithoutStream { event: index }.into());
            }
            let mut joined = BTreeSet::new();
            for stream in &event.streams {
                if !joined.insert(stream) {
                    return Err(AppendFault::StreamTwice { event: index, stream: stream.clone() }.into());
                }
                let Some(version) = versions.get_mut(stream) else {
                    return Err(Error::UnguardedStream { stream: stream.clone() });
                };
                *version = version.saturating_add(1);
            }
        }
        Ok(())
    }

    fn check_intents(&self) -> Result<(), Error> {
        let events = self.events.len();
        for (index, intent) in self.intents.iter().enumerate() {
            if intent.event >= events {
                return Err(
                    AppendFault::IntentWithoutEvent { intent: index, event: intent.event, events }.into()
                );
            }
            if !is_one_line(intent) {
                return Err(AppendFault::IntentOfManyLines { intent: index }.into());
            }
        }
        let mut settled = BTreeSet::new();
        match self.settle.iter().find(|intent| !settled.insert(**intent)) {
            Some(intent) => Err(AppendFault::SettledTwice { intent: *intent }.into()),
            None => Ok(()),
        }
    }

    fn check_rows(&self) -> Result<(), Error> {
        let mut written = BTreeSet::new();
        match self.rows.iter().find(|row| !written.insert((row.list.name, row.key))) {
            Some(row) => Err(AppendFault::RowTwice { list: row.list.name, key: row.key }.into()),
            None => Ok(()),
        }
    }

    fn check_snapshots(&self, versions: &BTreeMap<&StreamName, u64>) -> Result<(), Error> {
        let mut kept = BTreeSet::new();
        for NewSnapshot { stream, .. } in &self.snapshots {
            if !kept.insert(stream) {
                return Err(AppendFault::SnapshotTwice { stream: stream.clone() }.into());
            }
            match versions.get(stream) {
                None => return Err(Error::UnguardedStream { stream: stream.clone() }),
                Some(0) => return Err(AppendFault::SnapshotOfNothing { stream: stream.clone() }.into()),
                Some(_) => {}
            }
        }
        Ok(())
    }
}

/// Tells whether an intent can stand in one line with spaces between its parts.
fn is_one_line(intent: &NewIntent) -> bool {
    let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    is_word(&intent.kind) && is_word(&intent.lane) && !intent.data.contains('\n')
}
