//! Room for the WAL, made at once instead of commit by commit.
//!
//! A commit that makes the WAL longer has the file system write its own records too, which takes as long again. The WAL
//! is made anew whenever nobody had the file open, so every engine would pay this for its first few hundred commits. A
//! connection that goes on writing therefore has SQLite write a WAL of full length, of frames that never count: a
//! transaction that does not fit the cache, and is rolled back. A failure is none: without room all goes on as before.

use std::path::Path;

use rusqlite::Connection;

use super::open::{PAGE_BYTES, WAL_PAGES_MAX};
use super::rows::column;

/// How many commits come first. Most commands make one or two, and the room would cost them more than it saves.
const COMMITS_BEFORE: u32 = 8;

/// How many pages the cache may hold meanwhile, so that the rest goes to the WAL.
const CACHE_PAGES: u32 = 10;

/// Counts commits, and makes the room when there have been enough.
#[derive(Debug, Default)]
pub(super) struct Runway {
    commits: u32,
}

impl Runway {
    /// Takes note of a commit.
    pub(super) fn count(&mut self, connection: &Connection, database: &Path) {
        self.commits = self.commits.saturating_add(1);
        if self.commits == COMMITS_BEFORE && is_short(database) {
            let _ = lengthen(connection);
        }
    }
}

/// The frames beside their pages are small, and the length need not be met to the byte.
fn full_bytes() -> u64 {
    u64::from(WAL_PAGES_MAX) * u64::from(PAGE_BYTES)
}

fn is_short(database: &Path) -> bool {
    let mut wal = database.as_os_str().to_owned();
    wal.push("-wal");
    Path::new(&wal).metadata().is_ok_and(|file| file.len() < full_bytes())
}

fn lengthen(connection: &Connection) -> Result<(), rusqlite::Error> {
    let cache: i64 = connection.pragma_query_value(None, "cache_size", |row| row.get(0))?;
    connection.pragma_update(None, "cache_size", CACHE_PAGES)?;
    let spilled = spill(connection);
    connection.pragma_update(None, "cache_size", cache)?;
    spilled
}

fn spill(connection: &Connection) -> Result<(), rusqlite::Error> {
    // A snapshot is a row with one large value; no stream has this number.
    const FILL: &str =
        "INSERT INTO snapshots (stream, version, format, data) VALUES (-1, 1, 0, zeroblob(?1))";
    connection.execute_batch("BEGIN IMMEDIATE; PRAGMA defer_foreign_keys = ON")?;
    let filled = connection.execute(FILL, [column(full_bytes())]).map(|_| ());
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    filled
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::failure::Place;
    use super::super::open::{OpenMode, open_writer};
    use super::*;

    #[test]
    fn the_wal_is_lengthened_once_and_nothing_else_changes() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { path: folder.path().join("log.db"), busy_wait_max: Duration::from_secs(1) };
        let connection = open_writer(&place, OpenMode::Create).unwrap();
        let wal = || folder.path().join("log.db-wal").metadata().unwrap().len();
        let add = |name: &str| connection.execute("INSERT INTO streams (name) VALUES (?1)", [name]).unwrap();
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        let cache = pragma("cache_size");
        let mut runway = Runway::default();
        for number in 1..COMMITS_BEFORE {
            add(&format!("before/{number}"));
            runway.count(&connection, &place.path);
        }
        assert!(is_short(&place.path));
        add("the/last");
        runway.count(&connection, &place.path);
        let full = wal();
        assert!(full >= full_bytes() && full < 2 * full_bytes(), "{full} bytes");
        add("after/it");
        runway.count(&connection, &place.path);
        assert_eq!(wal(), full);
        assert_eq!(pragma("cache_size"), cache);

        let other = open_writer(&place, OpenMode::Existing).unwrap();
        let count = |table: &str| -> u32 {
            other.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
        };
        assert_eq!((count("streams"), count("snapshots")), (COMMITS_BEFORE + 1, 0));
        other
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .map(|said: String| assert_eq!(said, "ok"))
            .unwrap();
    }
}
