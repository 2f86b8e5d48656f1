//! The tables of the file, their version, and the steps from one version to the next.
//!
//! The version is in `user_version`, and the mark that a file is ours in `application_id`. A step is never
//! changed once released; a change of the tables is a new step at the end of [`STEPS`].

use rusqlite::{Connection, TransactionBehavior};

use crate::Error;

use super::failure::{Failure, Place};

/// The mark of our files in the SQLite header: `RGTA`.
pub(super) const APPLICATION_ID: u32 = 0x5247_5441;

/// The newest schema this version knows: the number of steps.
pub(super) const SCHEMA_KNOWN: u32 = STEPS.len() as u32;

/// Step n leads from schema n - 1 to schema n.
const STEPS: &[&str] = &[include_str!("schema_1.sql"), include_str!("schema_2.sql")];

/// Brings the tables to the newest schema, in one transaction; refuses a file that is newer or not ours.
pub(super) fn migrate(connection: &mut Connection, place: &Place) -> Result<(), Failure> {
    // In a transaction, because the mark and the version are two reads of what another process may be writing.
    if identify(&*connection.transaction()?, place)? == SCHEMA_KNOWN {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Looked at again now that no other process can be migrating.
    let found = identify(&transaction, place)?;
    for step in &STEPS[found as usize..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_KNOWN)?;
    transaction.commit()?;
    Ok(())
}

/// Returns the schema of the database, 0 for an empty one.
fn identify(connection: &Connection, place: &Place) -> Result<u32, Failure> {
    let application_id = pragma(connection, "application_id")?;
    let found = pragma(connection, "user_version")?;
    let path = || place.path.clone();
    if application_id == APPLICATION_ID {
        if found > SCHEMA_KNOWN {
            return Err(Error::SchemaTooNew { found, known: SCHEMA_KNOWN, path: path() }.into());
        }
        return Ok(found);
    }
    let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application_id == 0 && found == 0 && tables == 0 {
        return Ok(0);
    }
    Err(Error::NotOurs { path: path() }.into())
}

/// Tells whether a database has the tables of its schema, and nothing else.
pub(super) fn has_own_tables_only(connection: &Connection) -> Result<bool, Failure> {
    let version = pragma(connection, "user_version")? as usize;
    let Some(steps) = STEPS.get(..version) else { return Ok(false) };
    let fresh = Connection::open_in_memory()?;
    for step in steps {
        fresh.execute_batch(step)?;
    }
    Ok(list_tables(&fresh)? == list_tables(connection)?)
}

fn list_tables(connection: &Connection) -> Result<Vec<(String, String, String)>, rusqlite::Error> {
    let mut list =
        connection.prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY name")?;
    let rows = list.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}

/// Reads the version of the schema as the transaction sees it; made for asking often.
pub(super) fn schema_version(connection: &Connection) -> Result<u32, rusqlite::Error> {
    let mut version = connection.prepare_cached("PRAGMA user_version")?;
    version.query_row([], |row| row.get::<_, i32>(0)).map(i32::cast_unsigned)
}

/// Reads a pragma of the header, whose 4 bytes SQLite shows as a signed number.
pub(super) fn pragma(connection: &Connection, name: &str) -> Result<u32, rusqlite::Error> {
    connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0)).map(i32::cast_unsigned)
}
