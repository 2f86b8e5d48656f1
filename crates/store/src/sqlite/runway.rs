//! Allocates room for the WAL at once instead of commit by commit.
//!
//! A commit that makes the WAL longer also makes the file system write its own records, which doubles its
//! time. The WAL is created again whenever nobody had the file open, so every engine would pay this for its
//! first few hundred commits. A connection that will write a lot therefore makes SQLite write a WAL of full
//! length, of frames that never count: a transaction that does not fit the cache, and is rolled back. Errors
//! are ignored: without the room everything works as before.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::failure::Place;
use super::open::{PAGE_BYTES, WAL_PAGES_MAX};
use super::rows::column;

/// After so many commits it is tried, and again after as many when it did not succeed. Most commands make one or two, and
/// the room would cost them more than it saves.
const COMMITS_BEFORE: u32 = 8;

/// How many pages the cache may hold meanwhile, so that the rest goes to the WAL.
const CACHE_PAGES: u32 = 10;

/// Counts commits, and makes the room when there have been enough.
#[derive(Debug, Default)]
pub(super) struct Runway {
    commits: u32,
    is_long: bool,
}

impl Runway {
    /// Counts a commit.
    pub(super) fn count(&mut self, connection: &Connection, place: &Place) {
        self.commits = self.commits.wrapping_add(1);
        if !self.is_long && self.commits.is_multiple_of(COMMITS_BEFORE) {
            self.is_long = !is_short(&place.path) || lengthen(connection, place).is_ok();
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

fn lengthen(connection: &Connection, place: &Place) -> Result<(), rusqlite::Error> {
    let cache: i64 = connection.pragma_query_value(None, "cache_size", |row| row.get(0))?;
    connection.pragma_update(None, "cache_size", CACHE_PAGES)?;
    // Do not wait for another holder of the lock.
    connection.busy_timeout(Duration::ZERO)?;
    let spilled = spill(connection);
    connection.busy_timeout(place.busy_wait_max)?;
    connection.pragma_update(None, "cache_size", cache)?;
    spilled
}

fn spill(connection: &Connection) -> Result<(), rusqlite::Error> {
    // A snapshot is a row with one large value; no stream has this number.
    const FILL: &str =
        "INSERT INTO snapshots (stream, version, format, data) VALUES (-1, 1, 0, zeroblob(?1))";
    // What the cache holds at the end does not get there.
    let bytes = full_bytes() + u64::from(2 * CACHE_PAGES * PAGE_BYTES);
    connection.execute_batch("BEGIN IMMEDIATE; PRAGMA defer_foreign_keys = ON")?;
    let filled = connection.execute(FILL, [column(bytes)]).map(|_| ());
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::super::open::{OpenMode, open_writer};
    use super::*;

    fn place(folder: &Path) -> Place {
        Place { path: folder.join("log.db"), busy_wait_max: Duration::from_secs(60) }
    }

    fn commit(connection: &Connection, name: &str) {
        connection.execute("INSERT INTO streams (name) VALUES (?1)", [name]).unwrap();
    }

    fn count(connection: &Connection, table: &str) -> u32 {
        connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn the_wal_is_lengthened_once_and_nothing_else_changes() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let connection = open_writer(&place, OpenMode::Create).unwrap();
        let wal = || folder.path().join("log.db-wal").metadata().unwrap().len();
        let cache =
            || -> i64 { connection.pragma_query_value(None, "cache_size", |row| row.get(0)).unwrap() };
        let before = cache();
        let mut runway = Runway::default();
        for number in 1..COMMITS_BEFORE {
            commit(&connection, &format!("before/{number}"));
            runway.count(&connection, &place);
        }
        assert!(is_short(&place.path));
        commit(&connection, "the/last");
        runway.count(&connection, &place);
        let full = wal();
        assert!(full >= full_bytes() && full < 2 * full_bytes(), "{full} bytes");
        for number in 0..COMMITS_BEFORE {
            commit(&connection, &format!("after/{number}"));
            runway.count(&connection, &place);
        }
        assert_eq!((wal(), cache()), (full, before));

        let other = open_writer(&place, OpenMode::Existing).unwrap();
        assert_eq!((count(&other, "streams"), count(&other, "snapshots")), (2 * COMMITS_BEFORE, 0));
        let said: String = other.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(said, "ok");
    }

    #[test]
    fn a_lock_that_another_has_is_not_waited_for_and_it_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path());
        let connection = open_writer(&place, OpenMode::Create).unwrap();
        let other = open_writer(&place, OpenMode::Existing).unwrap();
        commit(&connection, "a/stream");
        let mut runway = Runway { commits: COMMITS_BEFORE - 1, is_long: false };
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        // Were it waited for, this would last as long as the patience for locks: the lock is this thread's own.
        runway.count(&connection, &place);
        assert!(is_short(&place.path) && !runway.is_long);
        other.execute_batch("ROLLBACK").unwrap();
        runway.commits = 2 * COMMITS_BEFORE - 1;
        runway.count(&connection, &place);
        assert!(!is_short(&place.path) && runway.is_long);
    }
}
