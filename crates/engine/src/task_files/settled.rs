//! Reading a file that anybody may be writing to, so that a half-written one is not taken for a whole.
//!
//! An editor that truncates and writes has the file open meanwhile. So a file is whole when nobody has it open for
//! writing and it did not change while it was read. One that is kept open for long counts as whole when it has not
//! changed for a while. One that is empty or lacks its end is looked at as long, because the rest may come with the next
//! opening, and is never judged while somebody has it open.

use crate::error::Error;
use regatta_files::disk::{self, Itself};
use regatta_files::writers::{self, Writers};
use regatta_files::{TaskFile, find_damage};
use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// How long a sync waits for a program to finish its writing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// What is open or empty and has not changed for so long is taken as it is.
const STEADY_AFTER: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// There is no file.
    Missing,
    /// Something that is no file, or one that is too large.
    Odd,
    /// Somebody is in the middle of writing.
    Unfinished,
    /// A whole version.
    Whole(Whole),
}

/// A whole version of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// Their digest.
    pub(crate) digest: String,
    /// Whether somebody may still write to the file.
    pub(crate) is_open: bool,
}

/// What tells one state of a file from another without reading it. Who sets the time of a file back still leaves the time
/// at which that was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Makes the stamp of a file.
    pub(crate) fn of(metadata: &std::fs::Metadata) -> Self {
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Stamp { inode: metadata.ino(), bytes: metadata.len(), modified, changed }
    }

    /// Makes a stamp that stands for a file of this size.
    #[cfg(test)]
    pub(crate) fn sample(bytes: u64) -> Self {
        Stamp { inode: 1, bytes, modified: (0, 0), changed: (0, 0) }
    }
}

/// A file that is looked at, below a known folder.
pub(crate) struct Watched<'a> {
    /// The folder below which no link is followed.
    pub(crate) root: &'a Path,
    /// The file.
    pub(crate) path: &'a Path,
    /// The version before; what is only left of it may still be completed.
    pub(crate) before: &'a str,
}

impl Watched<'_> {
    /// Reads the file at once if it is known, which is the rule, and otherwise like [`Watched::read`].
    pub(crate) async fn read_unless_known(
        &self,
        until: Instant,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<Look, Error> {
        match disk::read_itself(self.root, self.path).map_err(Error::StateFile)? {
            Itself::Missing => Ok(Look::Missing),
            Itself::Odd => Ok(Look::Odd),
            Itself::File(bytes, digest) if is_known(digest.as_str()) => {
                Ok(Look::Whole(Whole { bytes, digest: digest.as_str().to_owned(), is_open: false }))
            }
            Itself::File(..) => self.read(until, is_known).await,
        }
    }

    /// Reads the file once it is whole, or is known, waiting for that until the given moment.
    pub(crate) async fn read(&self, until: Instant, is_known: impl Fn(&str) -> bool) -> Result<Look, Error> {
        loop {
            let look = look(self, &is_known).await?;
            if look != Look::Unfinished || Instant::now() >= until {
                return Ok(look);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Tells whether these bytes may be what is there between the truncation of a file and the writing of it.
    fn may_be_half(&self, bytes: &[u8]) -> bool {
        let before = TaskFile::parse(self.before);
        bytes.is_empty()
            || std::str::from_utf8(bytes)
                .is_ok_and(|now| find_damage(&before, &TaskFile::parse(now)).is_some())
    }
}

/// Who writes is asked before the file is read: what is read after the last writer has gone is final. The file must not
/// have changed since before that was asked, or somebody may have begun to write right after.
async fn look(file: &Watched<'_>, is_known: impl Fn(&str) -> bool) -> Result<Look, Error> {
    let path = file.path;
    let Ok(before) = std::fs::symlink_metadata(path) else { return Ok(Look::Missing) };
    let writers = find_writers(path).await;
    let (bytes, digest) = match disk::read_itself(file.root, path).map_err(Error::StateFile)? {
        Itself::Missing => return Ok(Look::Missing),
        Itself::Odd => return Ok(Look::Odd),
        Itself::File(bytes, digest) => (bytes, digest),
    };
    let digest = digest.as_str().to_owned();
    let is_same = std::fs::symlink_metadata(path).is_ok_and(|after| Stamp::of(&after) == Stamp::of(&before));
    let age = before.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    let is_steady = is_same && age.is_some_and(|age| age >= STEADY_AFTER);
    let is_done = is_same && writers == Writers::Nobody;
    let is_open = writers == Writers::Somebody || (writers == Writers::Unknown && !is_steady);
    let is_whole = match file.may_be_half(&bytes) {
        true => is_steady && writers != Writers::Somebody,
        false => is_done || is_steady,
    };
    if is_known(&digest) || is_whole {
        return Ok(Look::Whole(Whole { bytes, digest, is_open }));
    }
    Ok(Look::Unfinished)
}

/// Asks in a thread of its own: it takes milliseconds, more where many processes run.
async fn find_writers(path: &Path) -> Writers {
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || writers::find(&path)).await.unwrap_or(Writers::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regatta_testkit::wait::until;
    use std::fs::File;
    use std::io::Write;

    fn at_once(path: &Path, is_known: bool) -> Look {
        made_on("", path, is_known)
    }

    fn made_on(before: &str, path: &Path, is_known: bool) -> Look {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(look(&watched(before, path), |_| is_known)).unwrap()
    }

    fn watched<'a>(before: &'a str, path: &'a Path) -> Watched<'a> {
        Watched { root: path.parent().unwrap(), path, before }
    }

    fn whole(look: Look) -> Option<(Vec<u8>, bool)> {
        match look {
            Look::Whole(whole) => Some((whole.bytes, whole.is_open)),
            _ => None,
        }
    }

    fn make_old(file: &File) {
        file.set_modified(SystemTime::now() - 2 * STEADY_AFTER).unwrap();
    }

    #[test]
    fn a_file_in_the_middle_of_a_write_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        assert_eq!(at_once(&path, false), Look::Missing);
        let mut editor = File::create(&path).unwrap();
        editor.write_all(b"half").unwrap();
        assert_eq!(at_once(&path, false), Look::Unfinished);
        assert_eq!(whole(at_once(&path, true)), Some((b"half".to_vec(), true)), "known, so it may be taken");
        make_old(&editor);
        assert_eq!(whole(at_once(&path, false)), Some((b"half".to_vec(), true)), "kept open for long");
        editor.write_all(b" and half").unwrap();
        drop(editor);
        // A process that is being started elsewhere may have it open for a moment longer.
        let done = Some((b"half and half".to_vec(), false));
        until("the file is whole", || whole(at_once(&path, false)) == done);
    }

    #[test]
    fn an_empty_file_waits_longer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let file = File::create(&path).unwrap();
        make_old(&file);
        drop(file);
        until("it is taken as it is", || whole(at_once(&path, false)) == Some((Vec::new(), false)));
        File::options().write(true).open(&path).unwrap().set_modified(SystemTime::now()).unwrap();
        assert_eq!(at_once(&path, false), Look::Unfinished);
    }

    #[test]
    fn a_file_without_its_end_waits_as_long_and_for_whoever_has_it_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let before = "# Task #1: A\n\n## 3. Progress Log\n\n(none)\n\n## 4. Chain Output\n\n(none)\n";
        std::fs::write(&path, &before[..20]).unwrap();
        assert_eq!(made_on(before, &path, false), Look::Unfinished, "the rest may come");
        let editor = File::options().append(true).open(&path).unwrap();
        make_old(&editor);
        assert_eq!(made_on(before, &path, false), Look::Unfinished, "somebody has it open");
        drop(editor);
        let left = Some((before.as_bytes()[..20].to_vec(), false));
        until("it is judged as it is", || whole(made_on(before, &path, false)) == left);
    }

    #[tokio::test]
    async fn a_reader_waits_for_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let mut editor = File::create(&path).unwrap();
        editor.write_all(b"half").unwrap();
        let file = watched("", &path);
        assert_eq!(file.read(Instant::now(), |_| false).await.unwrap(), Look::Unfinished);
        let far = Instant::now() + Duration::from_secs(60);
        let write = async {
            tokio::task::yield_now().await;
            editor.write_all(b" and half").unwrap();
            drop(editor);
        };
        let (look, ()) = tokio::join!(file.read(far, |_| false), write);
        assert_eq!(whole(look.unwrap()).map(|(bytes, _)| bytes), Some(b"half and half".to_vec()));
    }
}
