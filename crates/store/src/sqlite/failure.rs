//! Failures on their way to the caller: SQL code does not know the path, the handle does.
//!
//! A [`Failure`] is either already an answer or an error of SQLite that [`Place::explain`] puts into words.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::ErrorCode;

use crate::{Corruption, Error};

/// Why a piece of SQL work did not succeed.
#[derive(Debug)]
pub(super) enum Failure {
    /// An answer for the caller.
    Answer(Error),
    /// SQLite failed.
    Sql(rusqlite::Error),
}

/// The database, for errors, and how long to wait for its locks.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) busy_wait_max: Duration,
}

impl Place {
    /// Makes the error that the caller sees of a failure while doing `action`.
    pub(super) fn explain(&self, action: &'static str, failure: impl Into<Failure>) -> Error {
        let path = self.path.clone();
        let error = match failure.into() {
            Failure::Answer(error) => return error,
            Failure::Sql(error) => error,
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Error::Busy { path, waited: self.busy_wait_max }
            }
            Some(ErrorCode::NotADatabase) => Error::NotOurs { path },
            Some(ErrorCode::DatabaseCorrupt) => Corruption::Pages { finding: error.to_string() }.into(),
            _ => Error::Database { action, path, source: Arc::new(error) },
        }
    }

    /// Makes the error of a failed file operation on `path`.
    pub(super) fn explain_file(
        action: &'static str,
        path: impl Into<PathBuf>,
        source: std::io::Error,
    ) -> Error {
        Error::File { action, path: path.into(), source: Arc::new(source) }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Answer(error)
    }
}

impl From<Corruption> for Failure {
    fn from(what: Corruption) -> Self {
        Self::Answer(what.into())
    }
}
