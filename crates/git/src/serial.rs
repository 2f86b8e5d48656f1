//! One change at a time per repository, across tasks and processes.
//!
//! Parallel `git worktree add` calls race on `config.lock` and on each other's half-made entries, so every
//! operation that changes refs or worktrees holds this lock; reads take none. It is a kernel lock on a file
//! that stays: it ends with the processes that hold it, so there is nothing stale to clean up, and the file
//! has no `.lock` suffix that would suggest otherwise. If a process is suspended while it holds the lock, the
//! process that waits for the lock [continues](crate::serial_holder) it.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Instant, sleep};

use crate::error::Error;
use crate::serial_holder::LockHolder;

/// Dozens of worktrees of a large repository may be waited for in turn.
const WAIT_MAX: Duration = Duration::from_secs(600);
/// How often another process is asked again; tasks of one handle queue without asking.
const POLL_PAUSE: Duration = Duration::from_millis(10);
/// How often a holder is looked at: hardly any change takes so long, and a person who waits is still patient.
const LOOK_PAUSE: Duration = Duration::from_secs(2);

/// Where the lock of one repository is, and the queue of those who want it through one handle.
#[derive(Debug, Clone)]
pub(crate) struct SerialPlace {
    folder: PathBuf,
    queue: Arc<Mutex<()>>,
}

/// The lock, held until it is dropped and every git that shares it has ended.
#[derive(Debug)]
pub(crate) struct Serial {
    file: File,
    path: PathBuf,
    _turn: OwnedMutexGuard<()>,
}

impl SerialPlace {
    pub(crate) fn new(common_dir: &Path) -> Self {
        Self { folder: common_dir.join("regatta"), queue: Arc::new(Mutex::new(())) }
    }

    /// Returns the folder for our own files inside the git folder; it exists while the lock is held.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits for the lock, up to a limit.
    pub(crate) async fn take(&self) -> Result<Serial, Error> {
        let path = self.folder.join("serial");
        let deadline = Instant::now() + WAIT_MAX;
        let timed_out = |holder| Error::LockTimedOut { path: path.clone(), limit: WAIT_MAX, holder };
        let turn = tokio::time::timeout_at(deadline, Arc::clone(&self.queue).lock_owned())
            .await
            .map_err(|_| timed_out(None))?;
        std::fs::create_dir_all(&self.folder).map_err(Error::io("create", &self.folder))?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path).map_err(Error::io("open", &path))?;
        let mut looked_at = Instant::now();
        // Asking again instead of waiting in the kernel keeps the wait cancellable and bounded.
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Serial { file, path, _turn: turn }),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => {
                    if looked_at.elapsed() >= LOOK_PAUSE {
                        looked_at = Instant::now();
                        wake_holder(&file);
                    }
                    sleep(POLL_PAUSE).await;
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => return Err(timed_out(LockHolder::find(&file))),
                Err(errno) => return Err(Error::io("lock", &path)(errno.into())),
            }
        }
    }
}

/// Continues a suspended holder; any other releases the lock on its own.
fn wake_holder(file: &File) {
    if let Some(holder) = LockHolder::find(file).filter(|holder| holder.is_stopped) {
        holder.wake();
    }
}

impl Serial {
    /// Returns a second handle on the same lock, for a git that must not outlive it.
    pub(crate) fn share(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(Error::io("share", &self.path))
    }
}
