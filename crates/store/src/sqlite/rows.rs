//! Values to columns and back.
//!
//! Reading never guesses: a value that is not what its column holds is a [`Corruption`].

use jiff::Timestamp;
use rusqlite::Row;
use uuid::Uuid;

use crate::{Corruption, Recorded, Seq, StreamName};

use super::failure::Failure;

/// The columns that [`recorded`] reads, of `events AS e`. A stream name has no space, so a space may part them.
pub(super) const RECORDED: &str = "e.seq, e.id, e.at, e.kind, e.actor, e.data, e.command, \
     (SELECT group_concat(s.name, ' ' ORDER BY j.ordinal) \
      FROM memberships AS j JOIN streams AS s ON s.id = j.stream WHERE j.seq = e.seq)";

/// Reads an event from the columns of [`RECORDED`].
pub(super) fn recorded(row: &Row<'_>) -> Result<Recorded, Failure> {
    let seq = number(row, 0)?;
    let streams: Option<String> = row.get(7)?;
    let streams = streams.ok_or(Corruption::EventWithoutStream { seq: Seq(seq) })?;
    let command: Option<Vec<u8>> = row.get(6)?;
    Ok(Recorded {
        seq: Seq(seq),
        id: uuid(&row.get::<_, Vec<u8>>(1)?, Source { table: "events", column: "id", near: seq })?,
        at: timestamp(&row.get::<_, String>(2)?, Source { table: "events", column: "at", near: seq })?,
        kind: row.get(3)?,
        actor: row.get(4)?,
        streams: streams.split(' ').map(|name| stream_name(name, seq)).collect::<Result<_, _>>()?,
        data: row.get(5)?,
        command: command
            .map(|bytes| uuid(&bytes, Source { table: "events", column: "command", near: seq }))
            .transpose()?,
    })
}

/// Where a value stands, for the error when it cannot be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) table: &'static str,
    pub(super) column: &'static str,
    pub(super) near: u64,
}

impl From<Source> for Corruption {
    fn from(Source { table, column, near }: Source) -> Self {
        Self::Unreadable { table, column, near }
    }
}

/// Reads a number that is never negative.
pub(super) fn number(row: &Row<'_>, index: usize) -> Result<u64, Failure> {
    let value: i64 = row.get(index)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, value).into())
}

/// Makes a number of a column; one past its range means "past everything" and stays so.
pub(super) fn column(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn uuid(bytes: &[u8], source: Source) -> Result<Uuid, Corruption> {
    Uuid::from_slice(bytes).map_err(|_| source.into())
}

pub(super) fn timestamp(text: &str, source: Source) -> Result<Timestamp, Corruption> {
    text.parse().map_err(|_| source.into())
}

/// Reads a stream name, near an event or a row number.
pub(super) fn stream_name(name: &str, near: u64) -> Result<StreamName, Corruption> {
    StreamName::parse(name).map_err(|_| Source { table: "streams", column: "name", near }.into())
}
