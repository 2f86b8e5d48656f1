//! A kernel lock per task file, for one process of ours at a time; it is released when its process dies.
//!
//! Editors and agents do not know of it; it only keeps two processes of ours from mistaking each other's
//! writes for edits.

use crate::core::TaskId;
use crate::error::Error;
use crate::project::Project;
use crate::task_files::place::{ensure_folder, guard_path};
use rustix::fs::{FlockOperation, OFlags, flock};
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// A sync takes milliseconds; a process that holds a file for this long hangs.
const WAIT_MAX: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A lock, held until this is dropped.
pub(crate) struct Lock {
    _file: File,
}

/// Waits for the lock of a task file.
pub(crate) async fn take(project: &Project, task: TaskId) -> Result<Lock, Error> {
    let begin = Instant::now();
    loop {
        match try_take(project, task)? {
            Some(lock) => return Ok(lock),
            None if begin.elapsed() < WAIT_MAX => tokio::time::sleep(LOOK_EVERY).await,
            None => return Err(busy(&guard_path(project, task))),
        }
    }
}

/// Takes the lock of a task file, unless another process of ours has it.
pub(crate) fn try_take(project: &Project, task: TaskId) -> Result<Option<Lock>, Error> {
    ensure_folder(project)?;
    try_take_file(&guard_path(project, task))
}

/// Waits for the lock that a file stands for.
pub(crate) async fn take_file(path: &Path) -> Result<Lock, Error> {
    let begin = Instant::now();
    loop {
        match try_take_file(path)? {
            Some(lock) => return Ok(lock),
            None if begin.elapsed() < WAIT_MAX => tokio::time::sleep(LOOK_EVERY).await,
            None => return Err(busy(path)),
        }
    }
}

fn busy(path: &Path) -> Error {
    Error::io("lock", path)(std::io::ErrorKind::WouldBlock.into())
}

fn try_take_file(path: &Path) -> Result<Option<Lock>, Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let mut options = File::options();
    let flags = i32::try_from(OFlags::NOFOLLOW.bits()).expect("the flag is a small bit");
    options.create(true).truncate(false).write(true).custom_flags(flags);
    let file = options.open(path).map_err(Error::io("open", path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Lock { _file: file })),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(Error::io("lock", path)(error.into())),
    }
}
