//! The walk over the stored log: SQLite checks its pages, [`Walk`] the numbers, and SQL finds orphaned rows.

use std::collections::BTreeSet;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Statement};

use crate::verify::{Verified, Walk};
use crate::{Corruption, IntentId, Seq, StreamName, Version};

use super::failure::Failure;
use super::load::count_asked;
use super::rows::{
    RECORDED, Source, number, number_or_zero, read_asked, read_settled, recorded, snapshot_data, stream_name,
    stream_names,
};
use super::waiting::Waiting;

pub(super) fn verify(connection: &Connection) -> Result<Verified, Failure> {
    check_pages(connection)?;
    let mut walk = Walk::default();
    let open = find_open(connection)?;
    walk_events(connection, &mut walk, &open)?;
    check_orphans(connection)?;
    walk_streams(connection, &mut walk)?;
    walk.end_streams()?;
    walk_intents(connection, &walk, &open)?;
    Ok(walk.finish())
}

fn check_pages(connection: &Connection) -> Result<(), Failure> {
    let finding: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if finding == "ok" { Ok(()) } else { Err(Corruption::Pages { finding }.into()) }
}

/// Returns the intents that are open, whether entered or waiting to be.
fn find_open(connection: &Connection) -> Result<BTreeSet<IntentId>, Failure> {
    let waiting = Waiting::read(connection)?;
    let mut intents = connection.prepare("SELECT seq, ordinal FROM intents")?;
    let mut rows = intents.query([])?;
    let mut open: BTreeSet<IntentId> = waiting.open_intents().map(|intent| intent.id).collect();
    while let Some(row) = rows.next()? {
        let id = IntentId { seq: Seq(number(row, 0)?), ordinal: row.get(1)? };
        if !waiting.has_settled(id) {
            open.insert(id);
        }
    }
    Ok(open)
}

fn walk_events(connection: &Connection, walk: &mut Walk, open: &BTreeSet<IntentId>) -> Result<(), Failure> {
    let sql = format!("SELECT {RECORDED}, e.asked, e.settled FROM events AS e ORDER BY e.seq");
    let mut events = connection.prepare(&sql)?;
    let mut rows = events.query([])?;
    while let Some(row) = rows.next()? {
        let event = recorded(row)?;
        let asked = read_asked(row.get_ref(8)?, event.seq.0)?;
        walk.event(event.seq, &event.streams, asked.len() as u64)?;
        let settled = read_settled(row.get_ref(9)?, event.seq.0)?;
        if let Some(intent) = settled.into_iter().find(|intent| open.contains(intent)) {
            return Err(Corruption::IntentSettled { intent, by: event.seq }.into());
        }
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
    let waiting = Waiting::read(connection)?;
    let mut rows = streams.query([])?;
    while let Some(row) = rows.next()? {
        let id = number(row, 0)?;
        let name = stream_name(&row.get::<_, String>(1)?, id)?;
        let snapshot: Option<i64> = row.get(3)?;
        let snapshot = snapshot.map(|version| Version(version.unsigned_abs()));
        if snapshot.is_some() {
            snapshot_data(row.get_ref(4)?, id)?;
        }
        let (placed, waiting) = (number_or_zero(row, 2)?, waiting.of(&name));
        walk.stream(&name, Version(placed + waiting.len() as u64), snapshot)?;
        walk_places(&mut places, id, &name, walk)?;
        for (version, seq) in (placed + 1..).zip(waiting) {
            walk.place(&name, Version(version), *seq, std::slice::from_ref(&name))?;
        }
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

fn walk_intents(connection: &Connection, walk: &Walk, open: &BTreeSet<IntentId>) -> Result<(), Failure> {
    for intent in open {
        walk.intent(*intent, count_asked(connection, intent.seq)?)?;
    }
    Ok(())
}
