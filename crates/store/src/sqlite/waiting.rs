//! The last events of the log, which are not entered in the tables beside it yet.
//!
//! The row of an event is complete by itself: which streams it is in, which intents it asks for, and which it
//! settles. `places` and `intents` say the same in another order. Writing there with every append would cost
//! two more pages each time, so it is done for many events together: when enough wait, or when a transaction
//! has several appends to share the pages. Until then every read of a stream or an intent takes the waiting
//! events into account.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rusqlite::{Connection, params};

use crate::{Corruption, Intent, IntentId, NewIntent, Seq, StreamName};

use super::failure::Failure;
use super::rows::{Source, column, number, number_or_zero, read_asked, read_settled, stream_names, time};

/// How many events wait at most: a page is then written once for many, and a load goes through them quickly.
const EVENTS_MAX: u64 = 64;

const FIND_WAITING: &str = "SELECT seq, streams, asked, settled, at FROM events WHERE seq > ?1 ORDER BY seq";
const FIND_LAST_ENTERED: &str = "SELECT seq FROM entered";
const SET_LAST_ENTERED: &str = "INSERT OR REPLACE INTO entered (id, seq) VALUES (0, ?1)";
const INSERT_PLACE: &str = "INSERT INTO places (stream, version, seq) VALUES (?1, ?2, ?3)";
const INSERT_INTENT: &str =
    "INSERT INTO intents (seq, ordinal, kind, lane, data) VALUES (?1, ?2, ?3, ?4, ?5)";
const DELETE_INTENT: &str = "DELETE FROM intents WHERE seq = ?1 AND ordinal = ?2";
/// The row of a stream, and the last version that has its place.
pub(super) const FIND_STREAM: &str = "SELECT s.id, (SELECT max(p.version) FROM places AS p WHERE p.stream = s.id) \
     FROM streams AS s WHERE s.name = ?1";

/// The events that wait to be entered.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The last event that is entered.
    entered: Seq,
    events: u64,
    streams: BTreeMap<StreamName, Vec<Seq>>,
    /// Open intents of events that wait.
    asked: BTreeMap<IntentId, Asked>,
    /// Intents that the table has, and that are settled.
    settled: BTreeSet<IntentId>,
    /// Whether something was settled that no event tells.
    has_untold: bool,
}

/// What an intent asks for.
#[derive(Debug, Clone)]
struct Asked {
    kind: String,
    lane: String,
    data: String,
    at: Timestamp,
}

impl Waiting {
    /// Reads which events wait.
    pub(super) fn read(connection: &Connection) -> Result<Self, Failure> {
        let mut last = connection.prepare_cached(FIND_LAST_ENTERED)?;
        let entered = last.query([])?.next()?.map(|row| number_or_zero(row, 0)).transpose()?;
        let mut waiting = Self { entered: Seq(entered.unwrap_or(0)), ..Self::default() };
        let mut events = connection.prepare_cached(FIND_WAITING)?;
        let mut rows = events.query([column(waiting.entered.0)])?;
        while let Some(row) = rows.next()? {
            let (seq, next) = (Seq(number(row, 0)?), waiting.next());
            if seq != next {
                return Err(Corruption::EventMissing { seq: next }.into());
            }
            waiting.settle(&read_settled(row.get_ref(3)?, seq.0)?);
            let at = time(row.get_ref(4)?, Source { table: "events", column: "at", near: seq.0 })?;
            for (ordinal, [kind, lane, data]) in (0..).zip(read_asked(row.get_ref(2)?, seq.0)?) {
                let [kind, lane, data] = [kind, lane, data].map(str::to_owned);
                waiting.asked.insert(IntentId { seq, ordinal }, Asked { kind, lane, data, at });
            }
            waiting.push(&stream_names(row.get_ref(1)?, seq.0)?);
        }
        Ok(waiting)
    }

    /// Returns the events of a stream that wait, in their order.
    pub(super) fn of(&self, stream: &StreamName) -> &[Seq] {
        self.streams.get(stream).map_or(&[], Vec::as_slice)
    }

    /// Tells whether an event that waits asks for an intent, and none settles it.
    pub(super) fn has_asked(&self, intent: IntentId) -> bool {
        self.asked.contains_key(&intent)
    }

    /// Tells whether an intent that the table still has is settled.
    pub(super) fn has_settled(&self, intent: IntentId) -> bool {
        self.settled.contains(&intent)
    }

    /// Returns the open intents of the events that wait, in their order.
    pub(super) fn open_intents(&self) -> impl Iterator<Item = Intent> {
        self.asked.iter().map(|(id, asked)| {
            let Asked { kind, lane, data, at } = asked.clone();
            Intent { id: *id, kind, lane, data, at }
        })
    }

    /// Records the next event, which waits from now on.
    pub(super) fn push(&mut self, streams: &[StreamName]) {
        let seq = self.next();
        self.events += 1;
        for stream in streams {
            match self.streams.get_mut(stream) {
                Some(waiting) => waiting.push(seq),
                None => drop(self.streams.insert(stream.clone(), vec![seq])),
            }
        }
    }

    /// Records an intent that an event asks for.
    pub(super) fn ask(&mut self, id: IntentId, intent: &NewIntent, at: Timestamp) {
        let NewIntent { kind, lane, data, .. } = intent.clone();
        self.asked.insert(id, Asked { kind, lane, data, at });
    }

    /// Records that intents are settled.
    pub(super) fn settle(&mut self, intents: &[IntentId]) {
        for intent in intents {
            if self.asked.remove(intent).is_none() {
                self.settled.insert(*intent);
            }
        }
    }

    /// Records that intents are settled without an event that says so; this has to be entered at once.
    pub(super) fn settle_untold(&mut self, intents: &[IntentId]) {
        self.settle(intents);
        self.has_untold |= !intents.is_empty();
    }

    /// Tells whether it is time to enter what waits; the transaction may have several appends to share the pages.
    pub(super) fn is_due(&self, is_shared: bool) -> bool {
        self.has_untold || self.events >= EVENTS_MAX || (is_shared && self.events > 0)
    }

    /// Enters all that waits, in the transaction of the connection.
    pub(super) fn enter(&mut self, connection: &Connection) -> Result<(), Failure> {
        self.enter_places(connection)?;
        let mut delete = connection.prepare_cached(DELETE_INTENT)?;
        for intent in &self.settled {
            delete.execute(params![column(intent.seq.0), intent.ordinal])?;
        }
        let mut insert = connection.prepare_cached(INSERT_INTENT)?;
        for (id, Asked { kind, lane, data, .. }) in &self.asked {
            insert.execute(params![column(id.seq.0), id.ordinal, kind, lane, data])?;
        }
        let last = self.last();
        connection.prepare_cached(SET_LAST_ENTERED)?.execute([column(last.0)])?;
        *self = Self { entered: last, ..Self::default() };
        Ok(())
    }

    fn enter_places(&self, connection: &Connection) -> Result<(), Failure> {
        let mut find = connection.prepare_cached(FIND_STREAM)?;
        let mut insert = connection.prepare_cached(INSERT_PLACE)?;
        for (stream, waiting) in &self.streams {
            let found = find.query_row([stream.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
            let (row, last): (i64, Option<i64>) = found?;
            for (version, seq) in (last.unwrap_or(0) + 1..).zip(waiting) {
                insert.execute([row, version, column(seq.0)])?;
            }
        }
        Ok(())
    }

    /// Returns the last event of the log.
    pub(super) fn last(&self) -> Seq {
        Seq(self.entered.0 + self.events)
    }

    fn next(&self) -> Seq {
        Seq(self.last().0 + 1)
    }
}
