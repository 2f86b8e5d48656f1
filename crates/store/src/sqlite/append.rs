//! One append as SQL, inside a transaction that has begun.
//!
//! The statements stay compiled in the cache of the connection. The checks come in the order of
//! [`crate::Append`]: command, fence, expected versions, settled intents; only then is anything inserted.

use std::collections::BTreeMap;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Statement, params};

use crate::{Append, Appended, CommandKey, Error, IntentId, LeaseToken, NewEvent, Seq, StreamName, Version};

use super::failure::Failure;
use super::known::{Kept, Known};
use super::lists;
use super::load::{count_asked, is_open};
use super::packed::pack;
use super::rows::{Time, column, number_or_zero, write_asked, write_settled};
use super::waiting::FIND_STREAM;

const INSERT_COMMAND: &str = "INSERT INTO commands (id, digest, answer) VALUES (?1, ?2, ?3)";
const FIND_TOKEN: &str = "SELECT 1 FROM leases WHERE token = ?1";
const INSERT_STREAM: &str = "INSERT INTO streams (name) VALUES (?1)";
const INSERT_EVENT: &str = "INSERT INTO events (seq, id, at, kind, actor, streams, asked, settled, data, command) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const PUT_SNAPSHOT: &str =
    "INSERT OR REPLACE INTO snapshots (stream, version, format, data) VALUES (?1, ?2, ?3, ?4)";

/// The appends of one transaction.
///
/// What is known when it begins is counted on from there: nobody else can change it meanwhile.
pub(super) struct AppendSql<'c> {
    connection: &'c Connection,
    known: Known,
}

/// The streams that an append expects, as its events join them.
type Guards<'a> = BTreeMap<&'a StreamName, Kept>;

/// How a transaction finds the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begun {
    /// As this connection left it.
    AsLeft,
    /// Changed by another connection, or not known before.
    Changed,
}

impl<'c> AppendSql<'c> {
    /// Makes the appends of a transaction that is yet to begin.
    pub(super) fn new(connection: &'c Connection, known: Known) -> Self {
        Self { connection, known }
    }

    /// Reads the end of the log, unless it is known; called first in every transaction.
    pub(super) fn begin(&mut self) -> Result<Begun, Failure> {
        let is_fresh = self.known.is_fresh(self.connection)?;
        Ok(if is_fresh { Begun::AsLeft } else { Begun::Changed })
    }

    /// Returns the head as the appends of this transaction have left it.
    pub(super) fn head(&self) -> Seq {
        self.known.waiting().last()
    }

    /// Makes leases be looked up again: one is about to change.
    pub(super) fn forget_lease(&mut self) {
        self.known.forget_token();
    }

    /// Gives back what is known, once the transaction is committed.
    pub(super) fn into_known(self) -> Known {
        self.known
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
            self.check_open(*intent)?;
        }
        if let Some(CommandKey { id, digest }) = &append.command {
            self.sql(INSERT_COMMAND)?.execute(params![&id.as_bytes()[..], digest, append.answer])?;
        }
        let first = Seq(self.head().0 + 1);
        self.insert_events(append, first, &mut guards)?;
        self.put_snapshots(append, &guards)?;
        lists::put(self.connection, &append.rows, Seq(self.head().0 + append.events.len() as u64))?;
        // Only now: what a refused append has done is rolled back.
        let intents = append.intent_ids(first);
        self.take_note(append, guards, &intents);
        let first = (!append.events.is_empty()).then_some(first);
        Ok(Appended::Stored { first, last: self.head(), intents })
    }

    /// Enters what waits, if it is time to; called last in every transaction.
    pub(super) fn enter_if_due(&mut self, is_shared: bool) -> Result<(), Failure> {
        let waiting = self.known.waiting_mut();
        if waiting.is_due(is_shared) { waiting.enter(self.connection) } else { Ok(()) }
    }

    fn take_note(&mut self, append: &Append, guards: Guards<'_>, intents: &[IntentId]) {
        let waiting = self.known.waiting_mut();
        match append.events[..] {
            [] => waiting.settle_untold(&append.settle),
            _ => waiting.settle(&append.settle),
        }
        for event in &append.events {
            waiting.push(&event.streams);
        }
        for (id, intent) in intents.iter().zip(&append.intents) {
            waiting.ask(*id, intent, append.events[intent.event].at);
        }
        for (stream, kept) in guards {
            self.known.keep(stream, kept);
        }
    }

    fn sql(&self, text: &'static str) -> Result<CachedStatement<'c>, rusqlite::Error> {
        self.connection.prepare_cached(text)
    }

    fn check_fence(&mut self, token: LeaseToken) -> Result<(), Failure> {
        if self.known.has_token(token) {
            return Ok(());
        }
        if self.sql(FIND_TOKEN)?.exists([&token.0.as_bytes()[..]])? {
            self.known.keep_token(token);
            return Ok(());
        }
        Err(Error::LeaseLost { token }.into())
    }

    fn check_versions<'a>(&mut self, expect: &'a [(StreamName, Version)]) -> Result<Guards<'a>, Failure> {
        let mut guards = Guards::new();
        for (stream, expected) in expect {
            let kept = match self.known.stream(stream) {
                Some(kept) => kept,
                None => self.find_stream(stream)?,
            };
            if kept.version != expected.0 {
                let (expected, actual) = (*expected, Version(kept.version));
                return Err(Error::Conflict { stream: stream.clone(), expected, actual }.into());
            }
            guards.insert(stream, kept);
        }
        Ok(guards)
    }

    fn find_stream(&self, stream: &StreamName) -> Result<Kept, Failure> {
        let mut find = self.sql(FIND_STREAM)?;
        let mut rows = find.query([stream.as_str()])?;
        let waiting = self.known.waiting().of(stream).len() as u64;
        Ok(match rows.next()? {
            Some(row) => Kept { row: Some(row.get(0)?), version: number_or_zero(row, 1)? + waiting },
            None => Kept { row: None, version: 0 },
        })
    }

    fn check_open(&self, intent: IntentId) -> Result<(), Failure> {
        if is_open(self.connection, self.known.waiting(), intent)? {
            return Ok(());
        }
        if count_asked(self.connection, intent.seq)? > u64::from(intent.ordinal) {
            return Err(Error::IntentSettled { intent }.into());
        }
        Err(Error::UnknownIntent { intent }.into())
    }

    fn insert_events(&mut self, append: &Append, first: Seq, guards: &mut Guards<'_>) -> Result<(), Failure> {
        let command = append.command.as_ref().map(|command| &command.id.as_bytes()[..]);
        let mut insert = self.sql(INSERT_EVENT)?;
        for (index, event) in append.events.iter().enumerate() {
            let seq = first.0 + index as u64;
            let asked = append.intents.iter().filter(|intent| intent.event == index);
            let settled: &[IntentId] = if index == 0 { &append.settle } else { &[] };
            insert.execute(params![
                column(seq),
                &event.id.as_bytes()[..],
                Time(event.at),
                event.kind,
                event.actor,
                names(event),
                write_asked(asked),
                write_settled(settled),
                event.data,
                command,
            ])?;
            self.join_streams(event, guards)?;
        }
        Ok(())
    }

    /// Counts an event in its streams; its places wait.
    fn join_streams(&self, event: &NewEvent, guards: &mut Guards<'_>) -> Result<(), Failure> {
        for stream in &event.streams {
            let unguarded = || Error::UnguardedStream { stream: stream.clone() };
            let guard = guards.get_mut(stream).ok_or_else(unguarded)?;
            guard.version += 1;
            if guard.row.is_none() {
                guard.row = Some(self.sql(INSERT_STREAM)?.insert([stream.as_str()])?);
            }
        }
        Ok(())
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
