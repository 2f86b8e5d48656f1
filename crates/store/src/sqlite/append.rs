//! One append as SQL, inside a transaction that has begun.
//!
//! The statements stay compiled in the cache of the connection. The order of checks is that of [`crate::Append`]:
//! command, fence, expected versions, settled intents; only then is anything inserted.

use std::collections::BTreeMap;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Statement, params};

use crate::{Append, Appended, CommandKey, Error, IntentId, LeaseToken, NewEvent, Seq, StreamName, Version};

use super::failure::Failure;
use super::load;
use super::packed::pack;
use super::rows::{Time, column, number_or_zero};

const INSERT_COMMAND: &str = "INSERT INTO commands (id, digest, answer) VALUES (?1, ?2, ?3)";
const FIND_TOKEN: &str = "SELECT 1 FROM leases WHERE token = ?1";
const FIND_STREAM: &str = "SELECT s.id, (SELECT max(p.version) FROM places AS p WHERE p.stream = s.id) \
     FROM streams AS s WHERE s.name = ?1";
const INSERT_STREAM: &str = "INSERT INTO streams (name) VALUES (?1)";
const INSERT_EVENT: &str = "INSERT INTO events (seq, id, at, kind, actor, streams, intents, data, command) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const INSERT_PLACE: &str = "INSERT INTO places (stream, version, seq) VALUES (?1, ?2, ?3)";
const INSERT_INTENT: &str =
    "INSERT INTO intents (seq, ordinal, kind, lane, data) VALUES (?1, ?2, ?3, ?4, ?5)";
const SETTLE_INTENT: &str = "DELETE FROM intents WHERE seq = ?1 AND ordinal = ?2";
const FIND_INTENT: &str = "SELECT 1 FROM events WHERE seq = ?1 AND intents > ?2";
const PUT_SNAPSHOT: &str =
    "INSERT OR REPLACE INTO snapshots (stream, version, format, data) VALUES (?1, ?2, ?3, ?4)";

/// The appends of one transaction.
///
/// The head is read when the transaction begins, and then counted: nobody else can move it.
pub(super) struct AppendSql<'c> {
    connection: &'c Connection,
    head: Seq,
}

/// A stream the append expects: its row, when it has one, and its version as events join.
struct Guarded {
    row: Option<i64>,
    version: u64,
}

type Guards<'a> = BTreeMap<&'a StreamName, Guarded>;

impl<'c> AppendSql<'c> {
    /// Makes the appends of a transaction that is yet to begin.
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection, head: Seq(0) }
    }

    /// Reads the head of the log; called first in every transaction.
    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        self.head = load::head(self.connection)?;
        Ok(())
    }

    /// Returns the head as the appends of this transaction have left it.
    pub(super) fn head(&self) -> Seq {
        self.head
    }

    /// Carries an append out, or refuses it; what a refused one has changed is the caller's to roll back.
    pub(super) fn append(&mut self, append: &Append) -> Result<Appended, Failure> {
        if let Some(command) = &append.command
            && let Some(answer) = find_answer(&mut *self.sql(FIND_COMMAND)?, command)?
        {
            return Ok(Appended::Repeated { answer });
        }
        if let Some(token) = append.fence {
            self.check_fence(token)?;
        }
        let mut guards = self.check_versions(&append.expect)?;
        for intent in &append.settle {
            self.settle(*intent)?;
        }
        if let Some(CommandKey { id, digest }) = &append.command {
            self.sql(INSERT_COMMAND)?.execute(params![&id.as_bytes()[..], digest, append.answer])?;
        }
        let first = Seq(self.head.0 + 1);
        self.insert_events(append, first, &mut guards)?;
        let intents = self.insert_intents(append, first)?;
        self.put_snapshots(append, &guards)?;
        // Only now: a refused append must not move it.
        self.head = Seq(self.head.0 + append.events.len() as u64);
        let first = (!append.events.is_empty()).then_some(first);
        Ok(Appended::Stored { first, last: self.head, intents })
    }

    fn sql(&self, text: &'static str) -> Result<CachedStatement<'c>, rusqlite::Error> {
        self.connection.prepare_cached(text)
    }

    fn check_fence(&mut self, token: LeaseToken) -> Result<(), Failure> {
        if self.sql(FIND_TOKEN)?.exists([&token.0.as_bytes()[..]])? {
            return Ok(());
        }
        Err(Error::LeaseLost { token }.into())
    }

    fn check_versions<'a>(&mut self, expect: &'a [(StreamName, Version)]) -> Result<Guards<'a>, Failure> {
        let mut guards = Guards::new();
        let mut find = self.sql(FIND_STREAM)?;
        for (stream, expected) in expect {
            let mut rows = find.query([stream.as_str()])?;
            let (row, version) = match rows.next()? {
                Some(row) => (Some(row.get(0)?), number_or_zero(row, 1)?),
                None => (None, 0),
            };
            if version != expected.0 {
                let (expected, actual) = (*expected, Version(version));
                return Err(Error::Conflict { stream: stream.clone(), expected, actual }.into());
            }
            guards.insert(stream, Guarded { row, version });
        }
        Ok(guards)
    }

    fn settle(&mut self, intent: IntentId) -> Result<(), Failure> {
        let key = params![column(intent.seq.0), intent.ordinal];
        if self.sql(SETTLE_INTENT)?.execute(key)? == 1 {
            return Ok(());
        }
        if self.sql(FIND_INTENT)?.exists(key)? {
            return Err(Error::IntentSettled { intent }.into());
        }
        Err(Error::UnknownIntent { intent }.into())
    }

    fn insert_events(&mut self, append: &Append, first: Seq, guards: &mut Guards<'_>) -> Result<(), Failure> {
        let command = append.command.as_ref().map(|command| &command.id.as_bytes()[..]);
        let mut insert = self.sql(INSERT_EVENT)?;
        for (index, event) in append.events.iter().enumerate() {
            let seq = first.0 + index as u64;
            let intents = append.intents.iter().filter(|intent| intent.event == index).count();
            insert.execute(params![
                column(seq),
                &event.id.as_bytes()[..],
                Time(event.at),
                event.kind,
                event.actor,
                names(event),
                column(intents as u64),
                event.data,
                command,
            ])?;
            self.join_streams(event, seq, guards)?;
        }
        Ok(())
    }

    fn join_streams(&mut self, event: &NewEvent, seq: u64, guards: &mut Guards<'_>) -> Result<(), Failure> {
        let mut insert = self.sql(INSERT_PLACE)?;
        for stream in &event.streams {
            let unguarded = || Error::UnguardedStream { stream: stream.clone() };
            let guard = guards.get_mut(stream).ok_or_else(unguarded)?;
            guard.version += 1;
            let row = match guard.row {
                Some(row) => row,
                None => self.sql(INSERT_STREAM)?.insert([stream.as_str()])?,
            };
            guard.row = Some(row);
            insert.execute([row, column(guard.version), column(seq)])?;
        }
        Ok(())
    }

    fn insert_intents(&mut self, append: &Append, first: Seq) -> Result<Vec<IntentId>, Failure> {
        let ids = append.intent_ids(first);
        let mut insert = self.sql(INSERT_INTENT)?;
        for (id, intent) in ids.iter().zip(&append.intents) {
            insert.execute(params![column(id.seq.0), id.ordinal, intent.kind, intent.lane, intent.data])?;
        }
        Ok(ids)
    }

    fn put_snapshots(&mut self, append: &Append, guards: &Guards<'_>) -> Result<(), Failure> {
        for snapshot in &append.snapshots {
            let unguarded = || Error::UnguardedStream { stream: snapshot.stream.clone() };
            let guard = guards.get(&snapshot.stream).ok_or_else(unguarded)?;
            let row = params![guard.row, column(guard.version), snapshot.format, pack(&snapshot.data)];
            self.sql(PUT_SNAPSHOT)?.execute(row)?;
        }
        Ok(())
    }
}

/// Returns the names of an event's streams as its row keeps them; a name has no space.
fn names(event: &NewEvent) -> String {
    let mut names = String::new();
    for stream in &event.streams {
        if !names.is_empty() {
            names.push(' ');
        }
        names.push_str(stream.as_str());
    }
    names
}

/// The statement of [`find_answer`].
pub(super) const FIND_COMMAND: &str = "SELECT digest, answer FROM commands WHERE id = ?1";

/// Returns the answer kept for a command, or refuses one whose digest is another.
pub(super) fn find_answer(find: &mut Statement<'_>, command: &CommandKey) -> Result<Option<String>, Failure> {
    let kept = find.query_row([&command.id.as_bytes()[..]], |row| Ok((row.get(0)?, row.get(1)?)));
    let kept: Option<(String, String)> = kept.optional()?;
    match kept {
        None => Ok(None),
        Some((digest, answer)) if digest == command.digest => Ok(Some(answer)),
        Some(_) => Err(Error::CommandReused { command: command.id }.into()),
    }
}
