//! Opens the file: creates it if it is missing, and refuses it untouched if it is not ours or too new.
//!
//! The header is first read without creating any file beside it, because opening a file in WAL mode already
//! makes `-wal` and `-shm`. A check under a lock follows: a newer schema may be in the WAL alone. Both go
//! through SQLite, since closing the file by other means would drop the locks of handles in this process.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::Error;

use super::create::ensure_file;
use super::failure::{Failure, Place};
use super::schema::{self, APPLICATION_ID, SCHEMA_KNOWN};

/// The oldest SQLite that is safe: older ones can damage a WAL that has two writers.
const SQLITE_NEEDED: i32 = 3_051_003;

/// How large the WAL file may stay once its content is in the database; the space is then given back.
const WAL_BYTES_KEPT_MAX: u32 = 16 * 1024 * 1024;

/// How large a page of a new file is. An event of a run weighs one or two kilobytes: of these, pages of the usual 4 KiB
/// would hold two or three and be empty to a fifth, and every third append would have to write a new page and those that
/// point to it.
pub(super) const PAGE_BYTES: u32 = 8_192;

/// How many pages the WAL takes before its content is brought into the database. Seldom enough that few commits wait for
/// it; often enough that the next process reads it at once, and that the file soon has its length (`runway.rs`).
pub(super) const WAL_PAGES_MAX: u32 = 300;

/// How long to pause before asking for WAL mode again; SQLite does not wait for that lock.
const WAL_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// What to do when there is no database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Make it, and the folders it stands in.
    Create,
    /// Answer [`Error::NotFound`].
    Existing,
}

/// Opens the connection that writes, after making or migrating the database.
pub(super) fn open_writer(place: &Place, mode: OpenMode) -> Result<Connection, Error> {
    let found = rusqlite::version_number();
    if found < SQLITE_NEEDED {
        return Err(Error::SqliteTooOld { found, needed: SQLITE_NEEDED });
    }
    if mode == OpenMode::Create {
        ensure_file(&place.path)?;
    }
    check_exists(&place.path)?;
    check_header(place)?;
    connect_writer(place).map_err(|failure| place.explain("open", failure))
}

/// Opens a connection that only reads; the writer's is open by then.
pub(super) fn open_reader(place: &Place) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&place.path, flags)?;
    connection.busy_timeout(place.busy_wait_max)?;
    keep_plans(&connection)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Keeps compiled statements compiled: otherwise SQLite plans a query again when the end of a range is bound.
fn keep_plans(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(|_| ())
}

fn connect_writer(place: &Place) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&place.path, flags)?;
    connection.busy_timeout(place.busy_wait_max)?;
    keep_plans(&connection)?;
    // A file that is refused below is not checkpointed on the way out.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Where a plain fsync does not reach the disk (macOS), ask for the one that does.
    connection.pragma_update(None, "fullfsync", true)?;
    // Only a file without content takes it.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    // Before WAL mode, so that the mark and the version of a new file stand in its header at once.
    schema::migrate(&mut connection, place)?;
    ensure_wal(&connection, place)?;
    let kept = WAL_BYTES_KEPT_MAX;
    connection.pragma_update_and_check(None, "journal_size_limit", kept, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", WAL_PAGES_MAX, |_| Ok(()))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(connection)
}

/// Switches to WAL mode, waiting for other processes that are opening the same new file.
fn ensure_wal(connection: &Connection, place: &Place) -> Result<(), Failure> {
    let started = Instant::now();
    loop {
        let switched = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match switched {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(found) => return Err(Error::NoWriteAheadLog { path: place.path.clone(), found }.into()),
            Err(error) if is_busy(&error) && started.elapsed() < place.busy_wait_max => {
                std::thread::sleep(WAL_RETRY_INTERVAL);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Refuses, by the header of the file alone, one that is marked by another program or too new.
///
/// What the header does not tell for certain is left to [`schema::migrate`], which looks under a lock: another
/// process may be writing this very header.
pub(super) fn check_header(place: &Place) -> Result<(), Error> {
    let path = &place.path;
    let url = immutable_url(path).map_err(|error| Place::explain_file("find", path, error))?;
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let header = Connection::open_with_flags(url, flags).map_err(|error| place.explain("open", error))?;
    let field = |name| schema::pragma(&header, name).unwrap_or(0);
    match (field("application_id"), field("user_version")) {
        (APPLICATION_ID, found) if found > SCHEMA_KNOWN => {
            Err(Error::SchemaTooNew { found, known: SCHEMA_KNOWN, path: path.clone() })
        }
        (APPLICATION_ID | 0, _) => Ok(()),
        _ => Err(Error::NotOurs { path: path.clone() }),
    }
}

/// Returns the address by which SQLite reads a file as it is: no lock, no WAL, nothing made beside it.
fn immutable_url(path: &Path) -> std::io::Result<String> {
    let mut url = "file://".to_owned();
    for byte in std::path::absolute(path)?.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                url.push(char::from(*byte))
            }
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url.push_str("?immutable=1");
    Ok(url)
}

pub(super) fn check_exists(path: &Path) -> Result<(), Error> {
    match path.metadata() {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::NotFound { path: path.to_owned() }),
        Err(error) => Err(Place::explain_file("find", path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_file_hides_what_would_end_it() {
        let url = immutable_url(Path::new("/a b/c?d#e%f/é.db")).unwrap();
        assert_eq!(url, "file:///a%20b/c%3Fd%23e%25f/%C3%A9.db?immutable=1");
    }

    #[test]
    fn the_bundled_sqlite_is_new_enough() {
        assert!(rusqlite::version_number() >= SQLITE_NEEDED, "found {}", rusqlite::version());
    }

    #[test]
    fn the_writer_syncs_every_commit_to_a_wal_and_trusts_no_schema() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { path: folder.path().join("log.db"), busy_wait_max: Duration::from_secs(1) };
        let connection = open_writer(&place, OpenMode::Create).unwrap();
        let pragma = |name| schema::pragma(&connection, name).unwrap();
        let full = 2;
        assert_eq!((pragma("synchronous"), pragma("foreign_keys"), pragma("trusted_schema")), (full, 1, 0));
        assert_eq!((pragma("application_id"), pragma("user_version")), (APPLICATION_ID, SCHEMA_KNOWN));
        let journal: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(journal, "wal");
    }
}
