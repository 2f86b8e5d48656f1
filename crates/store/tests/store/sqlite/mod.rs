//! The store in SQLite keeps the contract, and what is true of its file alone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::contract::sample::Subject;
use regatta_store::{OpenMode, SqliteStore};
use tempfile::TempDir;

mod damage;
mod file;
mod group;
mod processes;
mod sharing;
mod waiting;

mod contract {
    use super::*;

    async fn make() -> (Subject, TempDir) {
        let (folder, path) = place();
        (open(&path), folder)
    }

    contract_suite!(make);
}

/// Returns a path for a database, and the folder that ends with the test.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.db");
    (folder, path)
}

fn open(path: &Path) -> Subject {
    Arc::new(SqliteStore::open(path, OpenMode::Create).unwrap())
}

/// Returns the file that SQLite keeps beside the database, such as `-wal`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
