//! Makes the file of a new database, and the folders above it.
//!
//! The file appears under its name complete (empty, and private to its owner) and is never opened here under
//! that name: closing a file that SQLite has open in the same process would drop SQLite's locks on it.

use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::path::Path;

use crate::Error;

use super::failure::Place;

/// Makes an empty file that only its owner may read, and the folders above it; one that exists is left alone.
pub(super) fn ensure_file(path: &Path) -> Result<(), Error> {
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let explain = |error| Place::explain_file("create", path, error);
    let folder = folder_of(path);
    ensure_folder(folder)?;
    let empty = tempfile::Builder::new().prefix(".regatta-").tempfile_in(folder).map_err(explain)?;
    match empty.into_temp_path().persist_noclobber(path) {
        Ok(()) => Ok(()),
        Err(refused) if refused.error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(refused) => Err(explain(refused.error)),
    }
}

/// Makes a folder and those above it, each on disk before the log in it acknowledges anything.
fn ensure_folder(folder: &Path) -> Result<(), Error> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder_of(folder);
    ensure_folder(above)?;
    match DirBuilder::new().create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(Place::explain_file("create", folder, error));
        }
        _ => {}
    }
    let synced = File::open(above).and_then(|above| above.sync_all());
    synced.map_err(|error| Place::explain_file("sync", above, error))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
