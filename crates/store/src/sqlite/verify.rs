//! The walk over the stored log: SQLite checks its pages, [`Walk`] the numbers, SQL what hangs on nothing.

use rusqlite::{Connection, OptionalExtension, Statement};

use crate::verify::{Verified, Walk};
use crate::{Corruption, IntentId, Seq, StreamName, Version};

use super::failure::Failure;
use super::load::head;
use super::rows::{RECORDED, Source, column, number, recorded, stream_name};

pub(super) fn verify(connection: &Connection) -> Result<Verified, Failure> {
    check_pages(connection)?;
    let mut walk = Walk::new(head(connection)?);
    walk_events(connection, &mut walk)?;
    walk.end_events()?;
    check_orphans(connection)?;
    walk_streams(connection, &mut walk)?;
    walk_intents(connection, &mut walk)?;
    Ok(walk.finish())
}

fn check_pages(connection: &Connection) -> Result<(), Failure> {
    let finding: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if finding == "ok" { Ok(()) } else { Err(Corruption::Pages { finding }.into()) }
}

fn walk_events(connection: &Connection, walk: &mut Walk) -> Result<(), Failure> {
    let mut events = connection.prepare(&format!("SELECT {RECORDED} FROM events AS e ORDER BY e.seq"))?;
    let mut memberships = connection.prepare(
        "SELECT s.name, m.version FROM memberships AS m LEFT JOIN streams AS s ON s.id = m.stream \
         WHERE m.seq = ?1 ORDER BY m.ordinal",
    )?;
    let mut rows = events.query([])?;
    while let Some(row) = rows.next()? {
        let seq = number(row, 0)?;
        let joined = read_memberships(&mut memberships, seq)?;
        walk.event(Seq(seq), &joined)?;
        recorded(row)?;
    }
    Ok(())
}

fn read_memberships(
    memberships: &mut Statement<'_>,
    seq: u64,
) -> Result<Vec<(StreamName, Version)>, Failure> {
    let mut rows = memberships.query([column(seq)])?;
    let mut joined = Vec::new();
    while let Some(row) = rows.next()? {
        let name: Option<String> = row.get(0)?;
        let orphan = Source { table: "memberships", column: "stream", near: seq };
        joined.push((stream_name(&name.ok_or(Corruption::from(orphan))?, seq)?, Version(number(row, 1)?)));
    }
    Ok(joined)
}

fn check_orphans(connection: &Connection) -> Result<(), Failure> {
    let first = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).optional();
    let membership =
        "SELECT seq FROM memberships WHERE seq NOT IN (SELECT seq FROM events) ORDER BY seq LIMIT 1";
    if let Some(seq) = first(membership)? {
        return Err(Corruption::OrphanMembership { seq: Seq(seq.unsigned_abs()) }.into());
    }
    let command = "SELECT seq FROM events WHERE command IS NOT NULL \
         AND command NOT IN (SELECT id FROM commands) ORDER BY seq LIMIT 1";
    if let Some(seq) = first(command)? {
        return Err(Corruption::OrphanCommand { seq: Seq(seq.unsigned_abs()) }.into());
    }
    let snapshot = "SELECT stream FROM snapshots WHERE stream NOT IN (SELECT id FROM streams) LIMIT 1";
    match first(snapshot)? {
        Some(stream) => {
            let near = stream.unsigned_abs();
            Err(Corruption::from(Source { table: "snapshots", column: "stream", near }).into())
        }
        None => Ok(()),
    }
}

fn walk_streams(connection: &Connection, walk: &mut Walk) -> Result<(), Failure> {
    let mut streams = connection.prepare(
        "SELECT s.id, s.name, s.version, n.version \
         FROM streams AS s LEFT JOIN snapshots AS n ON n.stream = s.id ORDER BY s.name",
    )?;
    let mut rows = streams.query([])?;
    while let Some(row) = rows.next()? {
        let name = stream_name(&row.get::<_, String>(1)?, number(row, 0)?)?;
        let snapshot: Option<i64> = row.get(3)?;
        let snapshot = snapshot.map(|version| Version(version.unsigned_abs()));
        walk.stream(&name, Version(number(row, 2)?), snapshot)?;
    }
    Ok(())
}

fn walk_intents(connection: &Connection, walk: &mut Walk) -> Result<(), Failure> {
    let mut intents =
        connection.prepare("SELECT seq, ordinal, settled FROM intents ORDER BY seq, ordinal")?;
    let mut rows = intents.query([])?;
    while let Some(row) = rows.next()? {
        let settled: Option<i64> = row.get(2)?;
        let id = IntentId { seq: Seq(number(row, 0)?), ordinal: row.get(1)? };
        walk.intent(id, settled.map(|settled| Seq(settled.unsigned_abs())))?;
    }
    Ok(())
}
