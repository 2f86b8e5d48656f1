//! Values to columns and back.
//!
//! Reading never guesses: a value that is not what its column holds is a [`Corruption`].

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use uuid::Uuid;

use crate::{Corruption, IntentId, NewIntent, Recorded, Seq, StreamName};

use super::failure::Failure;
use super::packed::unpack;

/// The columns that [`recorded`] reads, of `events AS e`.
pub(super) const RECORDED: &str = "e.seq, e.id, e.at, e.kind, e.actor, e.streams, e.data, e.command";

/// Reads an event from the columns of [`RECORDED`].
pub(super) fn recorded(row: &Row<'_>) -> Result<Recorded, Failure> {
    let seq = number(row, 0)?;
    let command: Option<Vec<u8>> = row.get(7)?;
    let source = |column| Source { table: "events", column, near: seq };
    Ok(Recorded {
        seq: Seq(seq),
        id: uuid(&row.get::<_, Vec<u8>>(1)?, source("id"))?,
        at: time(row.get_ref(2)?, source("at"))?,
        kind: row.get(3)?,
        actor: row.get(4)?,
        streams: stream_names(row.get_ref(5)?, seq)?,
        data: row.get(6)?,
        command: command.map(|bytes| uuid(&bytes, source("command"))).transpose()?,
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

/// Reads the greatest of some numbers, 0 when there are none.
pub(super) fn number_or_zero(row: &Row<'_>, index: usize) -> Result<u64, Failure> {
    match row.get_ref(index)? {
        ValueRef::Null => Ok(0),
        _ => number(row, index),
    }
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

/// The time of an event as a column: nanoseconds, or text where these do not fit.
pub(super) struct Time(pub(super) Timestamp);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(match i64::try_from(self.0.as_nanosecond()) {
            Ok(nanoseconds) => Value::Integer(nanoseconds),
            Err(_) => Value::Text(self.0.to_string()),
        }))
    }
}

/// Reads a column that [`Time`] made.
pub(super) fn time(value: ValueRef<'_>, source: Source) -> Result<Timestamp, Corruption> {
    match value {
        ValueRef::Integer(nanoseconds) => {
            Timestamp::from_nanosecond(i128::from(nanoseconds)).map_err(|_| source.into())
        }
        ValueRef::Text(text) => timestamp(std::str::from_utf8(text).unwrap_or_default(), source),
        _ => Err(source.into()),
    }
}

/// Reads the names of an event's streams.
pub(super) fn stream_names(value: ValueRef<'_>, seq: u64) -> Result<Vec<StreamName>, Corruption> {
    let source = Source { table: "events", column: "streams", near: seq };
    let text = value.as_str().map_err(|_| Corruption::from(source))?;
    if text.is_empty() {
        return Err(Corruption::EventWithoutStream { seq: Seq(seq) });
    }
    text.split(' ').map(|name| StreamName::parse(name).map_err(|_| source.into())).collect()
}

/// Reads the data of a stream's snapshot.
pub(super) fn snapshot_data(value: ValueRef<'_>, stream: u64) -> Result<String, Corruption> {
    let source = Source { table: "snapshots", column: "data", near: stream };
    value.as_blob().ok().and_then(unpack).ok_or(source.into())
}

/// Reads the name of a stream, near its row number.
pub(super) fn stream_name(name: &str, near: u64) -> Result<StreamName, Corruption> {
    StreamName::parse(name).map_err(|_| Source { table: "streams", column: "name", near }.into())
}

/// Makes a column of the intents that an event asks for: a line for each, with kind, lane and data.
pub(super) fn write_asked<'a>(intents: impl Iterator<Item = &'a NewIntent>) -> Option<String> {
    let mut lines = String::new();
    for NewIntent { kind, lane, data, .. } in intents {
        for part in [kind, " ", lane, " ", data, "\n"] {
            lines.push_str(part);
        }
    }
    lines.pop();
    (!lines.is_empty()).then_some(lines)
}

/// Reads what [`write_asked`] made: kind, lane and data of each.
pub(super) fn read_asked(value: ValueRef<'_>, seq: u64) -> Result<Vec<[&str; 3]>, Corruption> {
    let unreadable = || Corruption::from(Source { table: "events", column: "asked", near: seq });
    let Some(text) = value.as_str_or_null().map_err(|_| unreadable())? else { return Ok(Vec::new()) };
    let parts = |line| {
        let mut parts = <str>::splitn(line, 3, ' ');
        Some([parts.next()?, parts.next()?, parts.next()?])
    };
    text.split('\n').map(|line| parts(line).ok_or_else(unreadable)).collect()
}

/// Makes a column of the intents that an event settles, parted by spaces.
pub(super) fn write_settled(intents: &[IntentId]) -> Option<String> {
    let words: Vec<String> = intents.iter().map(ToString::to_string).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Reads what [`write_settled`] made.
pub(super) fn read_settled(value: ValueRef<'_>, seq: u64) -> Result<Vec<IntentId>, Corruption> {
    let unreadable = || Corruption::from(Source { table: "events", column: "settled", near: seq });
    let Some(text) = value.as_str_or_null().map_err(|_| unreadable())? else { return Ok(Vec::new()) };
    text.split(' ').map(|word| word.parse().map_err(|_| unreadable())).collect()
}
