//! Reads of the log as SQL, each inside a transaction of its connection and so consistent.
//!
//! Every read counts its rows: a missing row is reported, never skipped silently.

use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, Row, Rows, params};

use crate::{Corruption, Intent, IntentId, Loaded, Recorded, Seq, Snapshot, StreamName, Version};

use super::failure::Failure;
use super::rows::{
    RECORDED, Source, column, number, number_or_zero, read_asked, recorded, snapshot_data, stream_name, time,
};
use super::waiting::Waiting;

/// The columns of a stream and of its snapshot in the format `?2`.
const STREAMS: &str = "SELECT s.id, s.name, \
     (SELECT max(p.version) FROM places AS p WHERE p.stream = s.id), n.version, n.format, n.data \
     FROM streams AS s LEFT JOIN snapshots AS n ON n.stream = s.id AND n.format = ?2";

pub(super) fn head(connection: &Connection) -> Result<Seq, Failure> {
    let mut head = connection.prepare_cached("SELECT max(seq) FROM events")?;
    let mut rows = head.query([])?;
    let last = rows.next()?.map(|row| number_or_zero(row, 0)).transpose()?;
    Ok(Seq(last.unwrap_or(0)))
}

pub(super) fn read(connection: &Connection, after: Seq, limit: usize) -> Result<Vec<Recorded>, Failure> {
    let sql = format!("SELECT {RECORDED} FROM events AS e WHERE e.seq > ?1 ORDER BY e.seq LIMIT ?2");
    let mut events = connection.prepare_cached(&sql)?;
    let mut rows = events.query([column(after.0), column(limit as u64)])?;
    let mut read = Vec::new();
    while let Some(row) = rows.next()? {
        let event = recorded(row)?;
        let next = Seq(after.0 + read.len() as u64 + 1);
        if event.seq != next {
            return Err(Corruption::EventMissing { seq: next }.into());
        }
        read.push(event);
    }
    Ok(read)
}

pub(super) fn load_many(
    connection: &Connection,
    streams: &[StreamName],
    format: u32,
) -> Result<Vec<Loaded>, Failure> {
    let mut find = connection.prepare_cached(&format!("{STREAMS} WHERE s.name = ?1"))?;
    let mut tail = Tail::prepare(connection)?;
    let mut loaded = Vec::with_capacity(streams.len());
    for stream in streams {
        let mut rows = find.query(params![stream.as_str(), format])?;
        loaded.push(match rows.next()? {
            Some(row) => tail.load(row)?,
            None => Loaded { stream: stream.clone(), version: Version(0), snapshot: None, tail: Vec::new() },
        });
    }
    Ok(loaded)
}

pub(super) fn load_prefix(
    connection: &Connection,
    prefix: &str,
    format: u32,
) -> Result<Vec<Loaded>, Failure> {
    // `{` is the byte after `z`, the last that a name may have; so this is a range of the index of names.
    let range = "WHERE s.name >= ?1 AND s.name < ?1 || '{' ORDER BY s.name";
    let mut find = connection.prepare_cached(&format!("{STREAMS} {range}"))?;
    let mut tail = Tail::prepare(connection)?;
    let mut rows = find.query(params![prefix, format])?;
    let mut loaded = Vec::new();
    while let Some(row) = rows.next()? {
        loaded.push(tail.load(row)?);
    }
    Ok(loaded)
}

pub(super) fn open_intents(connection: &Connection) -> Result<Vec<Intent>, Failure> {
    let mut open = connection.prepare_cached(
        "SELECT i.seq, i.ordinal, i.kind, i.lane, i.data, e.at \
         FROM intents AS i LEFT JOIN events AS e ON e.seq = i.seq \
         ORDER BY i.seq, i.ordinal",
    )?;
    let waiting = Waiting::read(connection)?;
    let mut rows = open.query([])?;
    let mut intents = Vec::new();
    while let Some(row) = rows.next()? {
        let seq = number(row, 0)?;
        let id = IntentId { seq: Seq(seq), ordinal: row.get(1)? };
        if waiting.has_settled(id) {
            continue;
        }
        let at = match row.get_ref(5)? {
            ValueRef::Null => return Err(Corruption::OrphanIntent { intent: id }.into()),
            at => time(at, Source { table: "events", column: "at", near: seq })?,
        };
        intents.push(Intent { id, kind: row.get(2)?, lane: row.get(3)?, data: row.get(4)?, at });
    }
    intents.extend(waiting.open_intents());
    Ok(intents)
}

pub(super) fn is_open(connection: &Connection, waiting: &Waiting, intent: IntentId) -> Result<bool, Failure> {
    if waiting.has_asked(intent) || waiting.has_settled(intent) {
        return Ok(waiting.has_asked(intent));
    }
    let sql = "SELECT 1 FROM intents WHERE seq = ?1 AND ordinal = ?2";
    Ok(connection.prepare_cached(sql)?.exists(params![column(intent.seq.0), intent.ordinal])?)
}

/// Returns how many intents an event asked for; none, when there is no such event.
pub(super) fn count_asked(connection: &Connection, seq: Seq) -> Result<u64, Failure> {
    let mut find = connection.prepare_cached("SELECT asked FROM events WHERE seq = ?1")?;
    let mut rows = find.query([column(seq.0)])?;
    match rows.next()? {
        Some(row) => Ok(read_asked(row.get_ref(0)?, seq.0)?.len() as u64),
        None => Ok(0),
    }
}

/// The prepared read of the events of one stream after a version.
struct Tail<'c> {
    placed: CachedStatement<'c>,
    single: CachedStatement<'c>,
    waiting: Waiting,
}

impl<'c> Tail<'c> {
    fn prepare(connection: &'c Connection) -> Result<Self, Failure> {
        let placed = format!(
            "SELECT {RECORDED} FROM places AS p JOIN events AS e ON e.seq = p.seq \
             WHERE p.stream = ?1 AND p.version > ?2 ORDER BY p.version"
        );
        let single = format!("SELECT {RECORDED} FROM events AS e WHERE e.seq = ?1");
        Ok(Self {
            placed: connection.prepare_cached(&placed)?,
            single: connection.prepare_cached(&single)?,
            waiting: Waiting::read(connection)?,
        })
    }

    /// Loads the stream of a row of [`STREAMS`].
    fn load(&mut self, row: &Row<'_>) -> Result<Loaded, Failure> {
        let id: i64 = row.get(0)?;
        let stream = stream_name(&row.get::<_, String>(1)?, id.unsigned_abs())?;
        let placed = number_or_zero(row, 2)?;
        let waiting = self.waiting.of(&stream);
        let version = Version(placed + waiting.len() as u64);
        let snapshot = match row.get_ref(3)? {
            ValueRef::Null => None,
            _ => Some(snapshot(row, id.unsigned_abs())?),
        };
        let folded = snapshot.as_ref().map_or(0, |snapshot| snapshot.version.0);
        let mut tail = Vec::new();
        read_all(self.placed.query([id, column(folded)])?, &mut tail)?;
        let known = usize::try_from(folded.saturating_sub(placed)).unwrap_or(usize::MAX);
        for seq in waiting.iter().skip(known) {
            read_all(self.single.query([column(seq.0)])?, &mut tail)?;
        }
        let counted = Version(folded + tail.len() as u64);
        if counted != version {
            return Err(Corruption::StreamVersion { stream, kept: version, counted }.into());
        }
        Ok(Loaded { stream, version, snapshot, tail })
    }
}

fn read_all(mut rows: Rows<'_>, events: &mut Vec<Recorded>) -> Result<(), Failure> {
    while let Some(row) = rows.next()? {
        events.push(recorded(row)?);
    }
    Ok(())
}

/// Reads the snapshot of a row of [`STREAMS`] that has one.
fn snapshot(row: &Row<'_>, stream: u64) -> Result<Snapshot, Failure> {
    let data = snapshot_data(row.get_ref(5)?, stream)?;
    Ok(Snapshot { version: Version(number(row, 3)?), format: row.get(4)?, data })
}
