//! Reports writes to the WAL as they happen, where the system can say so; elsewhere there is no watch, and the
//! file is looked at again and again.
//!
//! The folder is watched and not the file, which comes and goes with the last process that has the database
//! open. So a write to another file beside it is reported too, and costs a look.

use std::io;
use std::path::Path;

/// Waits for writes to the files beside the database.
#[derive(Debug)]
pub(super) struct WalWatch {
    #[cfg(target_os = "linux")]
    reports: tokio::net::unix::pipe::Receiver,
}

#[cfg(target_os = "linux")]
impl WalWatch {
    /// Starts to watch; nothing where that is not possible.
    pub(super) fn start(wal: &Path) -> Option<Self> {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

        let flags = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::DELETE;
        let reports = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        add_watch(&reports, wal.parent()?, flags).ok()?;
        // It is no pipe, but it is read like one: when it is readable, with `read`, until nothing is left.
        let reports = tokio::net::unix::pipe::Receiver::from_owned_fd_unchecked(reports).ok()?;
        Some(WalWatch { reports })
    }

    /// Waits for a write that was not reported yet.
    pub(super) async fn written(&mut self) -> io::Result<()> {
        /// Many reports at once; what they say does not matter.
        const REPORTS_BYTES: usize = 4_096;
        self.reports.readable().await?;
        let mut reports = [0; REPORTS_BYTES];
        while self.reports.try_read(&mut reports).is_ok_and(|bytes| bytes > 0) {}
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
impl WalWatch {
    /// There is none.
    pub(super) fn start(_: &Path) -> Option<Self> {
        None
    }

    /// There is no watch to ask.
    pub(super) async fn written(&mut self) -> io::Result<()> {
        std::future::pending().await
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::time::Duration;

    #[tokio::test]
    async fn every_write_is_reported_also_to_a_file_that_came_later() {
        let folder = tempfile::tempdir().unwrap();
        let wal = folder.path().join("log.db-wal");
        let mut watch = WalWatch::start(&wal).unwrap();
        let nothing = tokio::time::timeout(Duration::ZERO, watch.written()).await;
        assert!(nothing.is_err(), "nobody wrote");
        for _ in 0..2 {
            let mut file = OpenOptions::new().create(true).append(true).open(&wal).unwrap();
            file.write_all(b"page").unwrap();
            watch.written().await.unwrap();
        }
        std::fs::remove_file(&wal).unwrap();
        watch.written().await.unwrap();
    }
}
