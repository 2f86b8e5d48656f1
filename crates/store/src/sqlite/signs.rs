//! Finds out from the WAL file alone whether another process may have appended.
//!
//! Every commit of any process writes to the WAL. So as long as its directory entry has not changed, the log
//! has not either. Checking that is far cheaper than a read, and a waiting process does it many times a
//! second. Once the WAL is quiet, it waits for the system to report a write ([`WalWatch`]), and looks only now
//! and then, for a file system that reports nothing.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::wal_watch::WalWatch;

/// Two writes within one tick of the system's clock leave the same time; no tick is longer.
const TICK_MAX: Duration = Duration::from_millis(50);

/// How often to look while something happens: unnoticed by a user, and cheap.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// How often to look when nothing has happened for a while, if writes are not reported.
const IDLE_LOOK_INTERVAL: Duration = Duration::from_millis(30);
const IDLE_AFTER: Duration = Duration::from_secs(1);

/// How often to look when writes are reported.
const WATCHED_LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// What was seen of the WAL.
#[derive(Debug)]
pub(super) struct Signs {
    wal: PathBuf,
    seen: Option<Sign>,
    /// Whether what was seen was so old that any later write has another time.
    is_certain: bool,
    is_idle: bool,
    watch: Option<WalWatch>,
    is_watch_tried: bool,
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
        let wal = wal.into();
        Self { wal, seen: None, is_certain: false, is_idle: false, watch: None, is_watch_tried: false }
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
        self.is_idle = age.is_some_and(|age| age >= IDLE_AFTER);
        !is_same
    }

    /// Waits until it is time to look again.
    pub(super) async fn rest(&mut self) {
        if !self.is_watch_tried {
            // What was written before is seen by the next look, which is soon.
            self.is_watch_tried = true;
            self.watch = WalWatch::start(&self.wal);
            self.is_certain = false;
        }
        match &mut self.watch {
            // Right after a write the next one is likely: then it costs less to look than to be woken by each.
            Some(watch) if self.is_certain => {
                let written = tokio::time::timeout(WATCHED_LOOK_INTERVAL, watch.written()).await;
                if let Ok(Err(_)) = written {
                    self.watch = None;
                }
            }
            None if self.is_idle => tokio::time::sleep(IDLE_LOOK_INTERVAL).await,
            _ => tokio::time::sleep(LOOK_INTERVAL).await,
        }
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
        assert!(signs.is_idle);
        wal.set_modified(quiet + Duration::from_nanos(1)).unwrap();
        assert!(signs.have_changed() && !signs.have_changed());
        wal.set_len(1).unwrap();
        wal.set_modified(quiet).unwrap();
        assert!(signs.have_changed());
    }
}
