//! Why a store did not do what was asked.
//!
//! Three kinds: refusals (the log says no, and the caller decides again), failures of the world (disk, locks),
//! and broken invariants ([`Error::Corrupt`], [`Error::Malformed`], [`Error::UnguardedStream`]).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use crate::{AppendFault, Corruption, IntentId, LeaseToken, StreamName, Version};

/// Why a store did not do what was asked.
///
/// It can be cloned because one failed commit is the failure of every append in it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A stream changed since the decision read it; decide again.
    #[error("stream `{stream}` is at version {actual}, the decision was made at {expected}")]
    Conflict {
        /// The stream.
        stream: StreamName,
        /// The version the decision read.
        expected: Version,
        /// The version it has.
        actual: Version,
    },
    /// The append touches a stream whose version it does not state.
    #[error("the append touches stream `{stream}` but does not state its version")]
    UnguardedStream {
        /// The stream.
        stream: StreamName,
    },
    /// The append is wrong, regardless of the log.
    #[error("the append is malformed")]
    Malformed(#[from] AppendFault),
    /// The id of a command was used for another one.
    #[error("command {command} was used before, for something else")]
    CommandReused {
        /// The id.
        command: Uuid,
    },
    /// The log has no such intent.
    #[error("there is no intent {intent}")]
    UnknownIntent {
        /// The intent.
        intent: IntentId,
    },
    /// The outcome of the intent was recorded before.
    #[error("intent {intent} is already settled")]
    IntentSettled {
        /// The intent.
        intent: IntentId,
    },
    /// The lease was released or taken by another.
    #[error("the lease of token {token} is no longer held")]
    LeaseLost {
        /// The token.
        token: LeaseToken,
    },
    /// Another process kept the database locked.
    #[error("the database {} stayed locked for {waited:?}", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// How long this process waited.
        waited: Duration,
    },
    /// There is no database, and none was to be made.
    #[error("there is no database at {}", path.display())]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The database was written by a newer version; it is left untouched.
    #[error("the database {} has schema {found}, this version knows up to {known}", path.display())]
    SchemaTooNew {
        /// The schema of the database.
        found: u32,
        /// The newest schema this version knows.
        known: u32,
        /// The database.
        path: PathBuf,
    },
    /// The file is not one of our databases.
    #[error("{} is not a database of Regatta", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The SQLite library has a fault that can damage a log with two writers.
    #[error("SQLite {found} is too old, {needed} or newer is needed")]
    SqliteTooOld {
        /// The version of the library, as a number.
        found: i32,
        /// The oldest version that will do.
        needed: i32,
    },
    /// The file system of the database cannot hold a write-ahead log.
    #[error("the database {} cannot have a write-ahead log, its journal stays `{found}`", path.display())]
    NoWriteAheadLog {
        /// The database.
        path: PathBuf,
        /// The kind of journal it has.
        found: String,
    },
    /// The file system failed.
    #[error("could not {action} {}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        source: Arc<std::io::Error>,
    },
    /// The database failed.
    #[error("the database {} failed to {action}", path.display())]
    Database {
        /// What was tried.
        action: &'static str,
        /// The database.
        path: PathBuf,
        /// Why it failed.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// The stored log does not add up.
    #[error("the log is inconsistent")]
    Corrupt {
        /// The first thing found.
        #[source]
        what: Corruption,
    },
    /// The store's own thread has ended, after a panic or a failed start.
    #[error("the store of {} has stopped", path.display())]
    Stopped {
        /// The database.
        path: PathBuf,
    },
}

impl From<Corruption> for Error {
    fn from(what: Corruption) -> Self {
        Self::Corrupt { what }
    }
}
