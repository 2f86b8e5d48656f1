//! A database as a file: for moving it, copying it, or finding out who uses it, without a store around it.
//!
//! A file in WAL mode may not be renamed while anybody has it open, and its newest events are in the file
//! beside it. SQLite leaves WAL mode only when every other connection is closed, so doing that both proves
//! that nobody uses the database and makes it one file.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use crate::{Error, Lease, Recorded, Seq};

use super::failure::{Failure, Place};
use super::open::{check_exists, check_header, is_busy, open_reader};
use super::{leases, load, schema};

/// A verb that only looks is done by then.
const WAIT_MAX: Duration = Duration::from_secs(3);
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// A database as a file: looked at beside those who use it, or taken for this process alone.
#[derive(Debug)]
pub struct DatabaseFile {
    connection: Connection,
    place: Place,
}

impl DatabaseFile {
    /// Opens a database to look at it; nothing is written or migrated, since a process of another version may be using it.
    pub fn look(path: &Path) -> Result<Self, Error> {
        Self::open(path, open_reader)
    }

    /// Takes a database for this process alone, until this is dropped; [`Error::Busy`] while another has it open.
    ///
    /// It is a single file then, with nothing beside it.
    pub fn take(path: &Path) -> Result<Self, Error> {
        Self::open(path, take)
    }

    fn open(path: &Path, open: impl FnOnce(&Place) -> Result<Connection, Failure>) -> Result<Self, Error> {
        let place = Place { path: path.to_owned(), busy_wait_max: WAIT_MAX };
        check_exists(path)?;
        check_header(&place)?;
        let connection = open(&place).map_err(|failure| place.explain("open", failure))?;
        Ok(DatabaseFile { connection, place })
    }

    /// Refuses a database whose tables are not exactly those of its schema: a stranger's could have triggers that act on
    /// whatever is written.
    pub fn check_tables(&self) -> Result<(), Error> {
        let same = schema::has_own_tables_only(&self.connection);
        match same.map_err(|failure| self.place.explain("read its tables", failure))? {
            true => Ok(()),
            false => Err(Error::NotOurs { path: self.place.path.clone() }),
        }
    }

    /// Returns the place of its last event.
    pub fn head(&self) -> Result<Seq, Error> {
        if !self.has_tables()? {
            return Ok(Seq(0));
        }
        load::head(&self.connection).map_err(|failure| self.place.explain("read its head", failure))
    }

    /// Returns the event at a place, if there is one.
    pub fn find_event(&self, seq: Seq) -> Result<Option<Recorded>, Error> {
        let Some(before) = seq.0.checked_sub(1) else { return Ok(None) };
        let read = load::read(&self.connection, Seq(before), 1);
        let read = read.map_err(|failure| self.place.explain("read an event", failure))?;
        Ok(read.into_iter().find(|row| row.seq == seq))
    }

    /// Returns a lease as it is held, also when it has run out.
    pub fn find_lease(&self, name: &str) -> Result<Option<Lease>, Error> {
        if !self.has_tables()? {
            return Ok(None);
        }
        leases::find(&self.connection, name).map_err(|failure| self.place.explain("find a lease", failure))
    }

    /// Writes a consistent copy, even while others use the database, into a file that is empty or does not
    /// exist.
    ///
    /// The copy is on disk before this returns.
    pub fn copy_into(&self, target: &Path) -> Result<(), Error> {
        copy(&self.connection, target).map_err(|failure| self.place.explain("copy itself", failure))?;
        let synced = File::open(target).and_then(|file| file.sync_all());
        synced.map_err(|error| Place::explain_file("sync", target, error))
    }

    /// An empty file is a database too, and has none.
    fn has_tables(&self) -> Result<bool, Error> {
        let count = "SELECT count(*) FROM sqlite_schema WHERE name IN ('events', 'leases')";
        let found = self.connection.query_row(count, [], |row| row.get::<_, u32>(0));
        found.map(|count| count == 2).map_err(|error| self.place.explain("read its tables", error))
    }
}

fn take(place: &Place) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&place.path, flags)?;
    connection.busy_timeout(RETRY_INTERVAL)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
    let started = Instant::now();
    loop {
        match leave_wal(&connection) {
            Ok(()) => return Ok(connection),
            Err(error) if is_busy(&error) && started.elapsed() < place.busy_wait_max => {
                std::thread::sleep(RETRY_INTERVAL);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Brings the WAL into the file and takes a lock that lasts as long as the connection.
fn leave_wal(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    connection.execute_batch("BEGIN EXCLUSIVE; COMMIT")
}

fn copy(connection: &Connection, target: &Path) -> Result<(), Failure> {
    let path = target.to_str().ok_or_else(|| {
        let error = std::io::Error::other("its path is not UTF-8");
        Error::File { action: "write", path: target.to_owned(), source: std::sync::Arc::new(error) }
    })?;
    connection.execute("VACUUM INTO ?1", [path])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Append, OpenMode, SqliteStore, Store};

    #[tokio::test]
    async fn only_a_database_that_nobody_has_open_is_taken_and_it_is_one_file_then() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.db");
        let store = SqliteStore::open(&path, OpenMode::Create).unwrap();
        store.append(Append::default()).await.unwrap();
        assert!(matches!(DatabaseFile::take(&path), Err(Error::Busy { .. })));
        assert_eq!(DatabaseFile::look(&path).unwrap().find_lease("engine").unwrap(), None);
        drop(store);
        let sole = DatabaseFile::take(&path).unwrap();
        let names = || -> Vec<_> {
            folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect()
        };
        assert!(!names().iter().any(|name| name == "log.db-wal" || name == "log.db-shm"), "{:?}", names());
        assert_eq!(sole.head().unwrap(), Seq(0));
        assert!(SqliteStore::open_waiting(&path, OpenMode::Existing, RETRY_INTERVAL).is_err());
        let copy = folder.path().join("copy.db");
        sole.copy_into(&copy).unwrap();
        std::fs::rename(&path, folder.path().join("moved.db")).unwrap();
        drop(sole);
        assert_eq!(names().len(), 2, "{:?}", names());
        for name in ["moved.db", "copy.db"] {
            let store = SqliteStore::open(folder.path().join(name), OpenMode::Existing).unwrap();
            assert_eq!(store.head().await.unwrap(), Seq(0));
            store.verify().await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_database_with_more_than_its_own_tables_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.db");
        drop(SqliteStore::open(&path, OpenMode::Create).unwrap());
        DatabaseFile::take(&path).unwrap().check_tables().unwrap();
        let hostile = Connection::open(&path).unwrap();
        hostile
            .execute_batch("CREATE TRIGGER t AFTER INSERT ON leases BEGIN DELETE FROM events; END")
            .unwrap();
        drop(hostile);
        let refused = DatabaseFile::take(&path).unwrap().check_tables();
        assert!(matches!(refused, Err(Error::NotOurs { .. })), "{refused:?}");
    }
}
