//! Moves the log and the transcripts of an earlier version from `.regatta` to the git folder, once.
//!
//! ```text
//!   .regatta/sessions/*.jsonl   ─▶  <git common dir>/regatta/sessions/     first, one by one
//!   .regatta/regatta.db         ─▶  <git common dir>/regatta/log.db        last: while it stands, the move is not finished
//! ```
//!
//! No process may use the log meanwhile: if a file in WAL mode is renamed while a process has it open, what
//! that process writes next is lost. So the move is refused while an engine holds the lease or a process has
//! the file open. After a crash at any step, the next verb finishes the move.

use crate::clock;
use crate::core::{Code, Problem};
use crate::crash;
use crate::error::Error;
use crate::project::location::{FOLDER, Location};
use crate::runtime::engine::{LEASE, read_holder};
use crate::runtime::holder::Holder;
use regatta_store::{DatabaseFile, Seq};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const OLD_LOG: &str = "regatta.db";
const OLD_SESSIONS: &str = "sessions";
const MOVING: &str = "moving";
/// At worst, moving means copying a log of gigabytes.
const WAIT_MAX: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Returns where an earlier version kept the log of a worktree.
pub(crate) fn old_log(root: &Path) -> PathBuf {
    root.join(FOLDER).join(OLD_LOG)
}

/// Moves what an earlier version left in `.regatta`; does nothing when there is nothing, or another log that has events.
pub(crate) fn take_over(location: &Location) -> Result<(), Error> {
    let old = old_log(&location.root);
    if !old.is_file() {
        return Ok(());
    }
    let _turn = take_turn(location)?;
    if !old.is_file() {
        return Ok(());
    }
    let new = location.log();
    let is_moved = match new.is_file() {
        true => match compare(&old, &new)? {
            Newer::Empty => false,
            Newer::Continues => true,
            Newer::Another => return Ok(()),
        },
        false => false,
    };
    refuse_held(&old)?;
    let taken = take(&old)?;
    crash::point("move_log.taken");
    move_transcripts(location)?;
    crash::point("move_log.transcripts_moved");
    if !is_moved {
        move_log(&taken, &old, &new)?;
    }
    crash::point("move_log.moved");
    remove(&old)?;
    drop(taken);
    // The mark and the lock files of task files stay beside it: they are found where they are looked for.
    sync_folder(&location.folder())
}

/// Refuses while an engine that is not surely dead holds its lease in the database.
pub(crate) fn refuse_held(path: &Path) -> Result<(), Error> {
    let held = DatabaseFile::look(path)?.find_lease(LEASE)?;
    let Some(held) = held.filter(|held| held.expires > clock::now()) else { return Ok(()) };
    let holder = read_holder(&held)?;
    if holder.is_dead() {
        return Ok(());
    }
    Err(in_use(path, Some(&holder)))
}

/// Takes a database for this process alone.
pub(crate) fn take(path: &Path) -> Result<DatabaseFile, Error> {
    DatabaseFile::take(path).map_err(|error| match error {
        regatta_store::Error::Busy { path, .. } => in_use(&path, None),
        other => other.into(),
    })
}

/// How the log in the new place relates to the one in the old.
enum Newer {
    /// It has no events.
    Empty,
    /// It has every event of the old one.
    Continues,
    /// It is an unrelated log.
    Another,
}

fn compare(old: &Path, new: &Path) -> Result<Newer, Error> {
    let (old, new) = (DatabaseFile::look(old)?, DatabaseFile::look(new)?);
    let last = old.head()?;
    if new.head()? == Seq(0) && last > Seq(0) {
        return Ok(Newer::Empty);
    }
    // Event ids are unique, so the same id at the same place means the same log up to there.
    let is_same =
        last == Seq(0) || old.find_event(last)?.map(|row| row.id) == new.find_event(last)?.map(|row| row.id);
    Ok(if is_same { Newer::Continues } else { Newer::Another })
}

/// Puts the log in its new place. The folder may be on another disk, and then it is copied first.
fn move_log(taken: &DatabaseFile, old: &Path, new: &Path) -> Result<(), Error> {
    if new.is_file() {
        // It is empty, or it would not be replaced. It is locked, so that no file of it stays beside the new
        // one.
        drop(take(new)?);
        remove(new)?;
    }
    match std::fs::rename(old, new) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            let copy = new.with_extension("db.moving");
            remove(&copy)?;
            taken.copy_into(&copy)?;
            std::fs::rename(&copy, new).map_err(Error::io("move", &copy))?;
        }
        Err(error) => return Err(Error::io("move", old)(error)),
    }
    sync_folder(new.parent().unwrap_or(new))
}

/// Moves the transcripts. Private folders of sessions that are over stay behind and are removed.
fn move_transcripts(location: &Location) -> Result<(), Error> {
    let (old, new) = (location.folder().join(OLD_SESSIONS), location.sessions());
    let entries = match std::fs::read_dir(&old) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("list", &old)(error)),
    };
    std::fs::create_dir_all(&new).map_err(Error::io("create", &new))?;
    for entry in entries.flatten() {
        let (from, to) = (entry.path(), new.join(entry.file_name()));
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            // The endpoint and the `/tmp` of a session that nobody runs any more.
            let _ = std::fs::remove_dir_all(&from);
        } else if kind.is_file() && to.symlink_metadata().is_err() {
            move_file(&from, &to)?;
        }
    }
    sync_folder(&new)?;
    // The folder stays if it holds something that is not ours.
    let _ = std::fs::remove_dir(&old);
    Ok(())
}

fn move_file(from: &Path, to: &Path) -> Result<(), Error> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            let copy = to.with_extension("moving");
            std::fs::copy(from, &copy).map_err(Error::io("copy", from))?;
            File::open(&copy).and_then(|file| file.sync_all()).map_err(Error::io("sync", &copy))?;
            std::fs::rename(&copy, to).map_err(Error::io("move", &copy))?;
            remove(from)
        }
        other => other.map_err(Error::io("move", from)),
    }
}

/// Waits until no other process of ours moves or replaces the log of this project.
pub(crate) fn take_turn(location: &Location) -> Result<File, Error> {
    lock(&location.home, MOVING, FlockOperation::NonBlockingLockExclusive)
}

/// Waits until nobody moves or replaces the log, and prevents others from doing so; any number of processes
/// may open it meanwhile.
pub(crate) fn keep_in_place(location: &Location) -> Result<File, Error> {
    lock(&location.home, MOVING, FlockOperation::NonBlockingLockShared)
}

/// Waits for a lock of its own name in the folder of the log; it ends with the process.
pub(crate) fn lock(home: &Path, name: &str, how: FlockOperation) -> Result<File, Error> {
    std::fs::create_dir_all(home).map_err(Error::io("create", home))?;
    let path = home.join(name);
    let open = File::options().create(true).truncate(false).write(true).open(&path);
    let file = open.map_err(Error::io("open", &path))?;
    let begin = Instant::now();
    loop {
        match flock(&file, how) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) if begin.elapsed() < WAIT_MAX => {
                std::thread::sleep(LOOK_EVERY)
            }
            Err(error) => return Err(Error::io("lock", &path)(error.into())),
        }
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.map_err(Error::io("remove", path)),
    }
}

fn sync_folder(folder: &Path) -> Result<(), Error> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::io("sync", folder))
}

/// Explains that a log cannot be moved or replaced, because a process uses it.
fn in_use(path: &Path, holder: Option<&Holder>) -> Error {
    let (why, next) = match holder {
        Some(holder) => (
            format!("{} is used by {holder}", path.display()),
            format!("stop it first with `kill {}`, then try again", holder.pid),
        ),
        None => (
            format!("another process has {} open", path.display()),
            format!("find it with `fuser -v {}`, stop it, then try again", path.display()),
        ),
    };
    let problem = Problem::new(Code::StateInUse, "the project's log was not moved", why, next);
    match holder {
        Some(holder) => problem.with("pid", holder.pid).with("host", holder.host.as_str()).into(),
        None => problem.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;
    use regatta_store::{LeaseRequest, LeaseToken, OpenMode, SqliteStore, Store};
    use regatta_testkit::repo::TestRepo;

    async fn refused(repo: &TestRepo) -> (crate::core::Code, String) {
        match Project::open_own(repo.path()).await {
            Err(error) => (error.explain().code, error.explain().why.concat()),
            Ok(_) => panic!("it was moved"),
        }
    }

    #[tokio::test]
    async fn nothing_is_moved_while_somebody_has_it_open_or_an_engine_holds_it() {
        let repo = TestRepo::new();
        repo.write(".regatta/config.toml", "");
        let old = old_log(repo.path());
        let store = SqliteStore::open(&old, OpenMode::Create).unwrap();
        store.head().await.unwrap();
        let (code, why) = refused(&repo).await;
        assert_eq!(code, crate::core::Code::StateInUse);
        assert!(why.contains("another process has"), "{why}");
        let now = clock::now();
        let request = LeaseRequest {
            name: LEASE.to_owned(),
            holder: serde_json::to_string(&Holder::this(now, None)).unwrap(),
            token: LeaseToken(uuid::Uuid::now_v7()),
            now,
            ttl: Duration::from_secs(600),
            replaces: None,
        };
        store.take_lease(request.clone()).await.unwrap();
        drop(store);
        let (code, why) = refused(&repo).await;
        assert_eq!(code, crate::core::Code::StateInUse);
        assert!(why.contains(&format!("process {} on", std::process::id())), "{why}");
        assert!(old.is_file());
        let store = SqliteStore::open(&old, OpenMode::Existing).unwrap();
        store.release_lease(&request.token).await.unwrap();
        drop(store);
        let project = Project::open_own(repo.path()).await.unwrap();
        assert!(project.log_path().is_file() && !old.exists());
    }
}
