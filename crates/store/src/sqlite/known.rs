//! What the connection that writes still knows from its last transaction.
//!
//! SQLite says with one number whether another connection has changed the file since. As long as none has,
//! the last events, the versions of streams and the lease are those that this connection left, and need not
//! be read again: reading them would be a third of the statements of an append. Everything is forgotten when
//! the number changes or a transaction is lost; the lease also when a lease is taken, renewed or released.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::{LeaseToken, StreamName};

use super::failure::Failure;
use super::waiting::Waiting;

/// How many streams are remembered: more than are in use at a time, and few enough to be forgotten at once.
const STREAMS_MAX: usize = 4096;

/// What is known, and for which state of the file.
#[derive(Debug, Default)]
pub(super) struct Known {
    file: Option<i64>,
    waiting: Waiting,
    streams: BTreeMap<StreamName, Kept>,
    token: Option<LeaseToken>,
}

/// A stream as the file has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    /// Its row, when it has one.
    pub(super) row: Option<i64>,
    /// How many events it has.
    pub(super) version: u64,
}

impl Known {
    /// Tells whether nobody else has changed the file since; if somebody has, everything is forgotten and
    /// read again.
    pub(super) fn is_fresh(&mut self, connection: &Connection) -> Result<bool, Failure> {
        let mut version = connection.prepare_cached("PRAGMA data_version")?;
        let file = Some(version.query_row([], |row| row.get::<_, i64>(0))?);
        let is_fresh = self.file == file;
        if !is_fresh {
            *self = Self { file, waiting: Waiting::read(connection)?, ..Self::default() };
        }
        Ok(is_fresh)
    }

    /// Returns the events that wait to be entered, the last of which is the head of the log.
    pub(super) fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    /// Returns them to be changed.
    pub(super) fn waiting_mut(&mut self) -> &mut Waiting {
        &mut self.waiting
    }

    /// Returns a stream, if it is known.
    pub(super) fn stream(&self, name: &StreamName) -> Option<Kept> {
        self.streams.get(name).copied()
    }

    /// Remembers a stream.
    pub(super) fn keep(&mut self, name: &StreamName, kept: Kept) {
        if let Some(known) = self.streams.get_mut(name) {
            *known = kept;
            return;
        }
        if self.streams.len() >= STREAMS_MAX {
            self.streams.clear();
        }
        self.streams.insert(name.clone(), kept);
    }

    /// Tells whether a token is known to be that of a lease.
    pub(super) fn has_token(&self, token: LeaseToken) -> bool {
        self.token == Some(token)
    }

    /// Remembers the token of a lease.
    pub(super) fn keep_token(&mut self, token: LeaseToken) {
        self.token = Some(token);
    }

    /// Forgets which lease there is.
    pub(super) fn forget_token(&mut self) {
        self.token = None;
    }
}
