//! Finds out from the WAL file alone whether another process may have appended.
//!
//! Every commit of any process writes to the WAL. So as long as its directory entry has not changed, the log
//! has not either. Checking that is far cheaper than a read, and a waiting process does it many times a
//! second.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Two writes within one tick of the system's clock leave the same time; no tick is longer.
const TICK_MAX: Duration = Duration::from_millis(50);

/// How often to look while something happens: unnoticed by a user, and cheap.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// How often to look when nothing has happened for a while.
const IDLE_LOOK_INTERVAL: Duration = Duration::from_millis(30);
const IDLE_AFTER: Duration = Duration::from_secs(1);

/// What was seen of the WAL.
#[derive(Debug)]
pub(super) struct Signs {
    wal: PathBuf,
    seen: Option<Sign>,
    /// Whether what was seen was so old that any later write has another time.
    is_certain: bool,
    pause: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sign {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl Signs {
    pub(super) fn new(database: &Path) -> Self {
        let mut wal = database.as_os_str().to_owned();
        wal.push("-wal");
        Self { wal: wal.into(), seen: None, is_certain: false, pause: LOOK_INTERVAL }
    }

    /// Tells whether somebody may have written since the last time that this was asked.
    pub(super) fn have_changed(&mut self) -> bool {
        let found = self.wal.metadata().ok();
        let age = found.as_ref().and_then(|found| found.modified().ok()?.elapsed().ok());
        let sign = found.map(|found| Sign {
            inode: found.ino(),
            bytes: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
        });
        let is_same = sign.is_some() && sign == self.seen && self.is_certain;
        self.seen = sign;
        self.is_certain = age.is_some_and(|age| age >= TICK_MAX);
        self.pause =
            if age.is_some_and(|age| age >= IDLE_AFTER) { IDLE_LOOK_INTERVAL } else { LOOK_INTERVAL };
        !is_same
    }

    /// Returns how long to wait before looking again.
    pub(super) fn pause(&self) -> Duration {
        self.pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::SystemTime;

    #[test]
    fn only_a_wal_that_has_been_quiet_is_believed() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("log.db");
        let mut signs = Signs::new(&database);
        assert!(signs.have_changed() && signs.have_changed(), "there is no WAL to go by");
        let wal = File::create(folder.path().join("log.db-wal")).unwrap();
        assert!(signs.have_changed() && signs.have_changed(), "it may be written to within the same tick");
        let quiet = SystemTime::now() - Duration::from_secs(60);
        wal.set_modified(quiet).unwrap();
        assert!(signs.have_changed());
        assert!(!signs.have_changed() && !signs.have_changed());
        assert_eq!(signs.pause(), IDLE_LOOK_INTERVAL);
        wal.set_modified(quiet + Duration::from_nanos(1)).unwrap();
        assert!(signs.have_changed() && !signs.have_changed());
        wal.set_len(1).unwrap();
        wal.set_modified(quiet).unwrap();
        assert!(signs.have_changed());
    }
}
