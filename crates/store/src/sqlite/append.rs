//! One append as SQL, inside a transaction that the writer has begun.
//!
//! The statements are prepared once for the writer's life. The order of checks is that of [`crate::Append`]:
//! command, fence, expected versions, settled intents; only then is anything inserted.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Statement, params};

use crate::{
    Append, Appended, CommandKey, Corruption, Error, IntentId, LeaseToken, NewEvent, Seq, StreamName, Version,
};

use super::failure::Failure;
use super::rows::{column, number};

/// The prepared statements of an append.
///
/// The head is read when a transaction begins and written when it ends, since every append of a group moves it.
pub(super) struct AppendSql<'c> {
    head: Seq,
    get_head: Statement<'c>,
    set_head: Statement<'c>,
    find_command: Statement<'c>,
    insert_command: Statement<'c>,
    find_token: Statement<'c>,
    find_stream: Statement<'c>,
    insert_stream: Statement<'c>,
    set_version: Statement<'c>,
    insert_event: Statement<'c>,
    insert_membership: Statement<'c>,
    insert_intent: Statement<'c>,
    settle_intent: Statement<'c>,
    find_intent: Statement<'c>,
    put_snapshot: Statement<'c>,
}

/// A stream the append expects: its row, when it has one, and its version as events join.
struct Guarded {
    row: Option<i64>,
    version: u64,
}

type Guards<'a> = BTreeMap<&'a StreamName, Guarded>;

impl<'c> AppendSql<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> Result<Self, rusqlite::Error> {
        let sql = |text| connection.prepare(text);
        Ok(Self {
            head: Seq(0),
            get_head: sql("SELECT seq FROM head")?,
            set_head: sql("UPDATE head SET seq = ?1 WHERE seq <> ?1")?,
            find_command: sql(FIND_COMMAND)?,
            insert_command: sql("INSERT INTO commands (id, digest, answer) VALUES (?1, ?2, ?3)")?,
            find_token: sql("SELECT 1 FROM leases WHERE token = ?1")?,
            find_stream: sql("SELECT id, version FROM streams WHERE name = ?1")?,
            insert_stream: sql("INSERT INTO streams (name, version) VALUES (?1, ?2)")?,
            set_version: sql("UPDATE streams SET version = ?2 WHERE id = ?1")?,
            insert_event: sql("INSERT INTO events (seq, id, at, kind, actor, data, command) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?,
            insert_membership: sql("INSERT INTO memberships (seq, ordinal, stream, version) \
                 VALUES (?1, ?2, ?3, ?4)")?,
            insert_intent: sql(
                "INSERT INTO intents (seq, ordinal, kind, lane, data) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?,
            // What it asked for is told by its event; kept, it would be a tenth of the file.
            settle_intent: sql("UPDATE intents SET settled = ?3, data = '' \
                 WHERE seq = ?1 AND ordinal = ?2 AND settled IS NULL")?,
            find_intent: sql("SELECT 1 FROM intents WHERE seq = ?1 AND ordinal = ?2")?,
            put_snapshot: sql("INSERT OR REPLACE INTO snapshots (stream, version, format, data) \
                 VALUES (?1, ?2, ?3, ?4)")?,
        })
    }

    /// Reads the head of the log; called first in every transaction.
    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        let mut rows = self.get_head.query([])?;
        let row = rows.next()?.ok_or(Corruption::HeadMissing)?;
        self.head = Seq(number(row, 0)?);
        Ok(())
    }

    /// Returns the head as the appends of this transaction have left it.
    pub(super) fn head(&self) -> Seq {
        self.head
    }

    /// Writes the head that the appends have led to, and returns it; called last in every transaction.
    pub(super) fn finish(&mut self) -> Result<Seq, Failure> {
        self.set_head.execute([column(self.head.0)])?;
        Ok(self.head)
    }

    /// Carries an append out, or refuses it; what a refused one has changed is the caller's to roll back.
    pub(super) fn append(&mut self, append: &Append) -> Result<Appended, Failure> {
        if let Some(command) = &append.command
            && let Some(answer) = find_answer(&mut self.find_command, command)?
        {
            return Ok(Appended::Repeated { answer });
        }
        if let Some(token) = append.fence {
            self.check_fence(token)?;
        }
        let mut guards = self.check_versions(&append.expect)?;
        let first = Seq(self.head.0 + 1);
        let last = Seq(self.head.0 + append.events.len() as u64);
        for intent in &append.settle {
            self.settle(*intent, last)?;
        }
        if let Some(CommandKey { id, digest }) = &append.command {
            self.insert_command.execute(params![&id.as_bytes()[..], digest, append.answer])?;
        }
        self.insert_events(append, first, &mut guards)?;
        let intents = self.insert_intents(append, first)?;
        self.put_snapshots(append, &guards)?;
        // Only now: a refused append must not move it.
        self.head = last;
        let first = (!append.events.is_empty()).then_some(first);
        Ok(Appended::Stored { first, last, intents })
    }

    fn check_fence(&mut self, token: LeaseToken) -> Result<(), Failure> {
        if self.find_token.exists([&token.0.as_bytes()[..]])? {
            return Ok(());
        }
        Err(Error::LeaseLost { token }.into())
    }

    fn check_versions<'a>(&mut self, expect: &'a [(StreamName, Version)]) -> Result<Guards<'a>, Failure> {
        let mut guards = Guards::new();
        for (stream, expected) in expect {
            let mut rows = self.find_stream.query([stream.as_str()])?;
            let (row, version) = match rows.next()? {
                Some(row) => (Some(row.get(0)?), number(row, 1)?),
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

    fn settle(&mut self, intent: IntentId, head: Seq) -> Result<(), Failure> {
        let key = params![column(intent.seq.0), intent.ordinal];
        if self.settle_intent.execute(params![column(intent.seq.0), intent.ordinal, column(head.0)])? == 1 {
            return Ok(());
        }
        if self.find_intent.exists(key)? {
            return Err(Error::IntentSettled { intent }.into());
        }
        Err(Error::UnknownIntent { intent }.into())
    }

    fn insert_events(&mut self, append: &Append, first: Seq, guards: &mut Guards<'_>) -> Result<(), Failure> {
        let command = append.command.as_ref().map(|command| &command.id.as_bytes()[..]);
        for (seq, event) in (first.0..).zip(&append.events) {
            self.insert_event.execute(params![
                column(seq),
                &event.id.as_bytes()[..],
                event.at.to_string(),
                event.kind,
                event.actor,
                event.data,
                command,
            ])?;
            self.join_streams(event, seq, guards)?;
        }
        Ok(())
    }

    fn join_streams(&mut self, event: &NewEvent, seq: u64, guards: &mut Guards<'_>) -> Result<(), Failure> {
        for (ordinal, stream) in event.streams.iter().enumerate() {
            let unguarded = || Error::UnguardedStream { stream: stream.clone() };
            let guard = guards.get_mut(stream).ok_or_else(unguarded)?;
            guard.version += 1;
            let version = column(guard.version);
            let row = match guard.row {
                Some(row) => {
                    self.set_version.execute([row, version])?;
                    row
                }
                None => self.insert_stream.insert(params![stream.as_str(), version])?,
            };
            guard.row = Some(row);
            self.insert_membership.execute([column(seq), column(ordinal as u64), row, version])?;
        }
        Ok(())
    }

    fn insert_intents(&mut self, append: &Append, first: Seq) -> Result<Vec<IntentId>, Failure> {
        let ids = append.intent_ids(first);
        for (id, intent) in ids.iter().zip(&append.intents) {
            let row = params![column(id.seq.0), id.ordinal, intent.kind, intent.lane, intent.data];
            self.insert_intent.execute(row)?;
        }
        Ok(ids)
    }

    fn put_snapshots(&mut self, append: &Append, guards: &Guards<'_>) -> Result<(), Failure> {
        for snapshot in &append.snapshots {
            let unguarded = || Error::UnguardedStream { stream: snapshot.stream.clone() };
            let guard = guards.get(&snapshot.stream).ok_or_else(unguarded)?;
            let row = params![guard.row, column(guard.version), snapshot.format, snapshot.data];
            self.put_snapshot.execute(row)?;
        }
        Ok(())
    }
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
