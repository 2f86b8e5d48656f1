//! The last events of the log, which `places` does not have yet.
//!
//! Entering the places of an event would be one more page to write for every append. So they are entered together,
//! when enough events wait; until then the events themselves say which streams they are in. Whoever asks for a stream
//! takes what waits into account: its version is its last place, and one more for each of its events that waits.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use crate::{Corruption, Seq, StreamName};

use super::failure::Failure;
use super::rows::{column, number, number_or_zero, stream_names};

/// How many events wait before they are entered: a page of places is then written once for many, and going through
/// those that wait still costs less than the rest of a load.
const EVENTS_MAX: u64 = 64;

const FIND_WAITING: &str = "SELECT seq, streams FROM events WHERE seq > ?1 ORDER BY seq";
const FIND_LAST_PLACED: &str = "SELECT seq FROM placed";
const SET_LAST_PLACED: &str = "INSERT OR REPLACE INTO placed (id, seq) VALUES (0, ?1)";
const INSERT_PLACE: &str = "INSERT INTO places (stream, version, seq) VALUES (?1, ?2, ?3)";
/// The row of a stream, and the last version that has its place.
pub(super) const FIND_STREAM: &str = "SELECT s.id, (SELECT max(p.version) FROM places AS p WHERE p.stream = s.id) \
     FROM streams AS s WHERE s.name = ?1";

/// The events that wait for their places.
#[derive(Debug, Default)]
pub(super) struct Unplaced {
    /// The last event that has its places.
    placed: Seq,
    events: u64,
    streams: BTreeMap<StreamName, Vec<Seq>>,
}

impl Unplaced {
    /// Reads which events wait.
    pub(super) fn read(connection: &Connection) -> Result<Self, Failure> {
        let mut last = connection.prepare_cached(FIND_LAST_PLACED)?;
        let placed = last.query([])?.next()?.map(|row| number_or_zero(row, 0)).transpose()?;
        let mut unplaced = Self { placed: Seq(placed.unwrap_or(0)), ..Self::default() };
        let mut waiting = connection.prepare_cached(FIND_WAITING)?;
        let mut rows = waiting.query([column(unplaced.placed.0)])?;
        while let Some(row) = rows.next()? {
            let (seq, next) = (Seq(number(row, 0)?), unplaced.next());
            if seq != next {
                return Err(Corruption::EventMissing { seq: next }.into());
            }
            let names = stream_names(row.get_ref(1)?, seq.0)?;
            unplaced.push(&names);
        }
        Ok(unplaced)
    }

    /// Returns the events of a stream that wait, in their order.
    pub(super) fn of(&self, stream: &StreamName) -> &[Seq] {
        self.streams.get(stream).map_or(&[], Vec::as_slice)
    }

    /// Takes note of the next event, which waits from now on.
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

    /// Tells whether enough wait to be entered.
    pub(super) fn is_full(&self) -> bool {
        self.events >= EVENTS_MAX
    }

    /// Enters the places of all that wait, in the transaction of the connection.
    pub(super) fn enter(&self, connection: &Connection) -> Result<(), Failure> {
        let mut find = connection.prepare_cached(FIND_STREAM)?;
        let mut insert = connection.prepare_cached(INSERT_PLACE)?;
        for (stream, waiting) in &self.streams {
            let found = find.query_row([stream.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
            let (row, last): (i64, Option<i64>) = found?;
            for (version, seq) in (last.unwrap_or(0) + 1..).zip(waiting) {
                insert.execute([row, version, column(seq.0)])?;
            }
        }
        connection.prepare_cached(SET_LAST_PLACED)?.execute(params![column(self.last().0)])?;
        Ok(())
    }

    /// Takes note that all which waited are entered.
    pub(super) fn clear(&mut self) {
        *self = Self { placed: self.last(), ..Self::default() };
    }

    /// Returns the last event of the log.
    pub(super) fn last(&self) -> Seq {
        Seq(self.placed.0 + self.events)
    }

    fn next(&self) -> Seq {
        Seq(self.last().0 + 1)
    }
}
