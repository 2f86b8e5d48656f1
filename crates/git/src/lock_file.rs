//! Lock files that a killed git left behind.
//!
//! Git refuses to work while such a file exists, and cannot tell whether its owner is alive. This module only
//! finds them and never removes one: that is for a person, or for a caller that knows nobody else works in
//! the repository.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::Error;
use crate::folder::blocking;
use crate::repository::Repository;

/// Folders that hold only objects, other repositories, or what is not git's; git keeps no locks of ours there.
const FOLDERS_PASSED_OVER: [&str; 4] = ["objects", "modules", "lfs", "regatta"];
/// More folders than any number of branches and worktrees makes; the search then ends with what it has.
const FOLDERS_MAX: usize = 100_000;

impl Repository {
    /// Lists lock files that are older than the given age and that no process has open, as far as can be seen.
    pub async fn stale_locks(&self, age_min: Duration) -> Result<Vec<PathBuf>, Error> {
        let common_dir = self.common_dir().to_path_buf();
        blocking(move || {
            let mut found = find_old_locks(&common_dir, age_min)?;
            if !found.is_empty() {
                let open = open_files();
                found.retain(|path| !open.contains(path));
            }
            found.sort();
            Ok(found)
        })
        .await
    }
}

fn find_old_locks(common_dir: &Path, age_min: Duration) -> Result<Vec<PathBuf>, Error> {
    let now = SystemTime::now();
    let mut found = Vec::new();
    let mut folders = vec![common_dir.to_path_buf()];
    let mut folders_seen = 0;
    while let Some(folder) = folders.pop() {
        folders_seen += 1;
        if folders_seen > FOLDERS_MAX {
            break;
        }
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            // Refs and worktrees come and go while we look.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::io("list", &folder)(error)),
        };
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let (path, is_top) = (entry.path(), folder == common_dir);
            let is_passed_over = is_top && FOLDERS_PASSED_OVER.iter().any(|name| entry.file_name() == *name);
            let is_lock = path.extension() == Some(OsStr::new("lock"));
            let age = metadata.modified().ok().and_then(|time| now.duration_since(time).ok());
            if metadata.is_dir() && !is_passed_over {
                folders.push(path);
            } else if metadata.is_file() && is_lock && age.is_some_and(|age| age >= age_min) {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// Returns the files that the processes we may look at have open; none where there is no `/proc`.
fn open_files() -> HashSet<PathBuf> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let tables = processes.filter_map(|process| std::fs::read_dir(process.path().join("fd")).ok());
    tables.flatten().flatten().filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok()).collect()
}
