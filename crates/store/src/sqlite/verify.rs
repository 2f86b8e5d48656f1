//! The walk over the stored log: SQLite checks its pages, [`Walk`] the numbers, SQL what hangs on nothing.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Statement};

use crate::verify::{Verified, Walk};
use crate::{Corruption, IntentId, Seq, StreamName, Version};

use super::failure::Failure;
use super::rows::{
    RECORDED, Source, number, number_or_zero, recorded, snapshot_data, stream_name, stream_names,
};

pub(super) fn verify(connection: &Connection) -> Result<Verified, Failure> {
    check_pages(connection)?;
    let mut walk = Walk::default();
    walk_events(connection, &mut walk)?;
    check_orphans(connection)?;
    walk_streams(connection, &mut walk)?;
    walk.end_streams()?;
    walk_intents(connection, &walk)?;
    Ok(walk.finish())
}

fn check_pages(connection: &Connection) -> Result<(), Failure> {
    let finding: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if finding == "ok" { Ok(()) } else { Err(Corruption::Pages { finding }.into()) }
}

fn walk_events(connection: &Connection, walk: &mut Walk) -> Result<(), Failure> {
    let sql = format!("SELECT {RECORDED}, e.intents FROM events AS e ORDER BY e.seq");
    let mut events = connection.prepare(&sql)?;
    let mut rows = events.query([])?;
    while let Some(row) = rows.next()? {
        let event = recorded(row)?;
        walk.event(event.seq, &event.streams, number(row, 8)?)?;
    }
    Ok(())
}

fn check_orphans(connection: &Connection) -> Result<(), Failure> {
    let first = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).optional();
    let command = "SELECT seq FROM events WHERE command IS NOT NULL \
         AND command NOT IN (SELECT id FROM commands) ORDER BY seq LIMIT 1";
    if let Some(seq) = first(command)? {
        return Err(Corruption::OrphanCommand { seq: Seq(seq.unsigned_abs()) }.into());
    }
    for (table, sql) in [
        ("places", "SELECT stream FROM places WHERE stream NOT IN (SELECT id FROM streams) LIMIT 1"),
        ("snapshots", "SELECT stream FROM snapshots WHERE stream NOT IN (SELECT id FROM streams) LIMIT 1"),
    ] {
        if let Some(stream) = first(sql)? {
            let near = stream.unsigned_abs();
            return Err(Corruption::from(Source { table, column: "stream", near }).into());
        }
    }
    Ok(())
}

fn walk_streams(connection: &Connection, walk: &mut Walk) -> Result<(), Failure> {
    let mut streams = connection.prepare(
        "SELECT s.id, s.name, (SELECT max(p.version) FROM places AS p WHERE p.stream = s.id), n.version, n.data \
         FROM streams AS s LEFT JOIN snapshots AS n ON n.stream = s.id ORDER BY s.name",
    )?;
    let mut places = connection.prepare(
        "SELECT p.version, p.seq, e.streams FROM places AS p LEFT JOIN events AS e ON e.seq = p.seq \
         WHERE p.stream = ?1 ORDER BY p.version",
    )?;
    let mut rows = streams.query([])?;
    while let Some(row) = rows.next()? {
        let id = number(row, 0)?;
        let name = stream_name(&row.get::<_, String>(1)?, id)?;
        let snapshot: Option<i64> = row.get(3)?;
        let snapshot = snapshot.map(|version| Version(version.unsigned_abs()));
        if snapshot.is_some() {
            snapshot_data(row.get_ref(4)?, id)?;
        }
        walk.stream(&name, Version(number_or_zero(row, 2)?), snapshot)?;
        walk_places(&mut places, id, &name, walk)?;
    }
    Ok(())
}

fn walk_places(
    places: &mut Statement<'_>,
    stream: u64,
    name: &StreamName,
    walk: &mut Walk,
) -> Result<(), Failure> {
    let mut rows = places.query([stream.cast_signed()])?;
    while let Some(row) = rows.next()? {
        let seq = number(row, 1)?;
        let joined = match row.get_ref(2)? {
            ValueRef::Null => return Err(Corruption::OrphanPlace { seq: Seq(seq) }.into()),
            names => stream_names(names, seq)?,
        };
        walk.place(name, Version(number(row, 0)?), Seq(seq), &joined)?;
    }
    Ok(())
}

fn walk_intents(connection: &Connection, walk: &Walk) -> Result<(), Failure> {
    let mut intents = connection.prepare(
        "SELECT i.seq, i.ordinal, e.intents FROM intents AS i LEFT JOIN events AS e ON e.seq = i.seq \
         ORDER BY i.seq, i.ordinal",
    )?;
    let mut rows = intents.query([])?;
    while let Some(row) = rows.next()? {
        walk.intent(IntentId { seq: Seq(number(row, 0)?), ordinal: row.get(1)? }, number_or_zero(row, 2)?)?;
    }
    Ok(())
}
