//! Stored lists as SQL.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{ListId, NewRow, RowRead, Seq, TakeRow};

use super::failure::Failure;
use super::load;
use super::rows::{column, number};

const FIND_FORMAT: &str = "SELECT format FROM lists WHERE name = ?1";
const FIND_ROWS: &str = "SELECT key, seq, data FROM rows WHERE list = ?1 AND key >= ?2 ORDER BY key";
const PUT_LIST: &str = "INSERT OR REPLACE INTO lists (name, format) VALUES (?1, ?2)";
const DELETE_LIST: &str = "DELETE FROM lists WHERE name = ?1";
const PUT_ROW: &str = "INSERT OR REPLACE INTO rows (list, key, seq, data) VALUES (?1, ?2, ?3, ?4)";
const DELETE_ROW: &str = "DELETE FROM rows WHERE list = ?1 AND key = ?2";
const DELETE_ROWS: &str = "DELETE FROM rows WHERE list = ?1";

/// Tells whether a list is built in this format.
pub(super) fn is_built(connection: &Connection, list: ListId) -> Result<bool, Failure> {
    Ok(find_format(connection, list.name)? == Some(list.format))
}

/// Reads the rows of a list from a number on, if it is built in this format.
pub(super) fn read(
    connection: &Connection,
    list: ListId,
    from: u64,
    take: &mut TakeRow,
) -> Result<Option<Seq>, Failure> {
    if !is_built(connection, list)? {
        return Ok(None);
    }
    let mut find = connection.prepare_cached(FIND_ROWS)?;
    let mut found = find.query(params![list.name, column(from)])?;
    while let Some(row) = found.next()? {
        let data = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        if take(RowRead { key: number(row, 0)?, seq: Seq(number(row, 1)?), data }).is_break() {
            break;
        }
    }
    Ok(Some(load::head(connection)?))
}

/// Writes the rows of an append after which the log ends at `head`.
///
/// A row of another format would be a stranger in its list, so the list has to be built again.
pub(super) fn put(connection: &Connection, rows: &[NewRow], head: Seq) -> Result<(), Failure> {
    for NewRow { list, key, data } in rows {
        match find_format(connection, list.name)? {
            None => continue,
            Some(format) if format != list.format => {
                connection.prepare_cached(DELETE_LIST)?.execute([list.name])?;
                continue;
            }
            Some(_) => {}
        }
        match data {
            Some(data) => put_row(connection, list.name, *key, head, data)?,
            None => {
                connection.prepare_cached(DELETE_ROW)?.execute(params![list.name, column(*key)])?;
            }
        }
    }
    Ok(())
}

/// Makes a list of these rows, in place of what was there.
pub(super) fn build(
    connection: &Connection,
    list: ListId,
    head: Seq,
    rows: &[(u64, String)],
) -> Result<(), Failure> {
    connection.prepare_cached(DELETE_ROWS)?.execute([list.name])?;
    for (key, data) in rows {
        put_row(connection, list.name, *key, head, data)?;
    }
    connection.prepare_cached(PUT_LIST)?.execute(params![list.name, list.format])?;
    Ok(())
}

fn find_format(connection: &Connection, name: &str) -> Result<Option<u32>, Failure> {
    Ok(connection.prepare_cached(FIND_FORMAT)?.query_row([name], |row| row.get(0)).optional()?)
}

fn put_row(connection: &Connection, list: &str, key: u64, seq: Seq, data: &str) -> Result<(), Failure> {
    connection.prepare_cached(PUT_ROW)?.execute(params![list, column(key), column(seq.0), data])?;
    Ok(())
}
