//! Handles what a write displaced, until nobody can write to it any more, and what a killed process left
//! beside it.
//!
//! ```text
//!   a version that the log knows, or nothing      removed once nobody has it open
//!   another text, and its base is known           merged like any other edit, then removed as above
//!   another text, and its base is not known       kept beside the task file, and reported
//!   no text, or what is left of one               set aside as corrupt, and reported
//! ```
//!
//! All of this happens under the lock of the task file, so that files in use by a living process of ours are
//! left alone.

use crate::commands::orders::{self, Order};
use crate::core::{Actor, Command, Edit, Event, FileChange, FileText, FileVersion, Origin, Task, TaskId};
use crate::crash;
use crate::error::Error;
use crate::log;
use crate::log::NO_SNAPSHOT;
use crate::project::Project;
use crate::task_files::place::{self, Base, Left};
use crate::task_files::settled::{self, Look, Whole};
use crate::task_files::{Aside, confirm, set_aside, take_edit};
use regatta_files::disk::{self, Itself};
use regatta_files::{TaskFile, exchange, find_damage};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The title of a task file is on its first line; this is enough to see which task it belongs to.
const HEAD_BYTES: usize = 4_096;

/// Far longer than a program needs between finding a file and opening it.
const OPENING_MAX: Duration = Duration::from_millis(20);

/// A file that was left beside the task files.
#[derive(Debug, Clone)]
pub(crate) struct LeftOver {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The task that it belongs to, if known.
    pub(crate) task: Option<TaskId>,
}

/// The result of a look at everything beside a task file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The log learnt something.
    Something,
    /// There was nothing new; some of it may still be written to.
    Nothing { is_any_open: bool },
}

/// Lists what is left beside the task files of a project.
pub(crate) fn find_all(project: &Project) -> Result<Vec<LeftOver>, Error> {
    let folder = place::folder(project);
    let mut paths = exchange::list(&folder.join("any")).map_err(Error::StateFile)?;
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        paths.extend(find_in_private_folder(&entry));
    }
    paths.sort();
    paths.dedup();
    let left_over = |path: PathBuf| {
        let task = place::task_of_left(&path).or_else(|| find_owner(&place::root(project), &path));
        LeftOver { path, task }
    };
    Ok(paths.into_iter().map(left_over).collect())
}

/// Lists the files in a private folder that belong to its task.
fn find_in_private_folder(entry: &std::fs::DirEntry) -> Vec<PathBuf> {
    let (path, kind) = (entry.path(), entry.file_type());
    let private_folder = entry.file_name().to_str().and_then(place::task_of_private_folder);
    let Some(task) = private_folder.filter(|_| kind.is_ok_and(|kind| kind.is_dir())) else {
        return Vec::new();
    };
    let mut found = exchange::list(&path.join("any")).unwrap_or_default();
    found.retain(|left| place::task_of_left(left) == Some(task));
    found
}

/// Keeps a file that belongs to no task under a visible name; an empty one is removed.
pub(crate) fn keep_unowned(path: &Path) -> Result<(), Error> {
    if std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.len() == 0) {
        return remove(path);
    }
    let shown = path.with_file_name("left-over.md");
    exchange::set_aside(path, place::conflict_paths(&shown)).map(|_| ()).map_err(Error::StateFile)
}

/// Looks at what is beside a task file, and takes in what the log does not know.
pub(crate) async fn take_in(
    project: &Project,
    task: &Task,
    text: &FileText,
    path: &Path,
    until: Instant,
) -> Result<Taken, Error> {
    let mut is_any_open = false;
    let lefts = exchange::list(path).map_err(Error::StateFile)?;
    if let Some(written) = find_written(&place::root(project), task.id, text, &lefts)? {
        confirm(project, task.id, written).await?;
        return Ok(Taken::Something);
    }
    for left in lefts {
        // A link of ours that was never put in place.
        if place::private_folder_of_link(&left) == Some(task.id) {
            remove(&left)?;
            continue;
        }
        let base = match place::parse_left(&left) {
            Some(Left::Unfinished { task: owner }) if owner == task.id => {
                remove(&left)?;
                continue;
            }
            Some(Left::Displaced { task: owner, base }) if owner == task.id => Some(base),
            Some(Left::Unnamed) if find_owner(&place::root(project), &left) == Some(task.id) => None,
            _ => continue,
        };
        let candidate = Candidate { project, task, text, left: &left, base };
        match candidate.look(until).await? {
            Taken::Something => return Ok(Taken::Something),
            Taken::Nothing { is_any_open: is_open } => is_any_open |= is_open,
        }
    }
    Ok(Taken::Nothing { is_any_open })
}

/// Returns the digest of the newest version if a process wrote it to its place and was killed before it could
/// record that.
///
/// The text on the disk was then based on that version, and not on the one that the log assumes to be there.
/// The displaced file shows this: before the exchange, the file of that name holds the newest version itself.
fn find_written<'a>(
    root: &Path,
    task: TaskId,
    text: &'a FileText,
    lefts: &[PathBuf],
) -> Result<Option<&'a str>, Error> {
    let (Some(newest), on_disk) = (&text.newest, text.on_disk.as_ref()) else { return Ok(None) };
    if on_disk.is_some_and(|version| version.digest == newest.digest) {
        return Ok(None);
    }
    let base = place::base_name(on_disk.map(|version| version.digest.as_str()));
    let mut is_displaced = false;
    for left in lefts {
        if place::parse_left(left) != Some(Left::displaced(task, base)) {
            continue;
        }
        match disk::read_itself(root, left).map_err(Error::StateFile)? {
            Itself::File(_, digest) if digest.as_str() == newest.digest => return Ok(None),
            found => is_displaced |= matches!(found, Itself::File(..)),
        }
    }
    Ok(is_displaced.then_some(newest.digest.as_str()))
}

/// One left-over file, and what is needed to judge it.
struct Candidate<'a> {
    project: &'a Project,
    task: &'a Task,
    text: &'a FileText,
    left: &'a Path,
    base: Option<Base>,
}

impl Candidate<'_> {
    async fn look(&self, until: Instant) -> Result<Taken, Error> {
        let nothing = |is_open: bool| Ok(Taken::Nothing { is_any_open: is_open });
        wait_for_openings(self.left).await;
        // Nobody opens it again, so a missing part will not be added later.
        let root = place::root(self.project);
        let file = settled::Watched { root: &root, path: self.left, before: "" };
        let whole = match file.read(until, |digest| self.is_known(digest)).await? {
            Look::Missing => return nothing(false),
            Look::Unfinished => return nothing(true),
            Look::Odd => return self.set_aside(Aside::NoFile).await,
            Look::Whole(whole) => whole,
        };
        if self.is_known(&whole.digest) || whole.bytes.is_empty() {
            return self.dispose(&whole);
        }
        let Ok(theirs) = std::str::from_utf8(&whole.bytes) else {
            return self.set_aside(Aside::NoText).await;
        };
        let history =
            History::read(self.project, self.task.id, &whole.digest, theirs, self.base.as_ref()).await?;
        match history.base {
            // A truncated version of ours has its own kind of name, except under the old naming.
            _ if history.is_version || (self.base.is_none() && history.is_beginning) => self.dispose(&whole),
            Some(base) => match find_damage(&TaskFile::parse(base.as_str()), &TaskFile::parse(theirs)) {
                Some(damage) => self.set_aside(Aside::Damaged(damage)).await,
                None => self.merge(&base, theirs, &whole).await,
            },
            None => self.keep().await,
        }
    }

    /// Tells whether it is one of the most likely versions, without reading the history.
    fn is_known(&self, digest: &str) -> bool {
        let is = |version: &Option<FileVersion>| version.as_ref().is_some_and(|it| it.digest == digest);
        is(&self.text.newest)
            || is(&self.text.on_disk)
            || self.base.as_ref().is_some_and(|base| base.is(digest))
    }

    async fn set_aside(&self, why: Aside) -> Result<Taken, Error> {
        set_aside(self.project, self.task.id, self.left, why).await?;
        Ok(Taken::Something)
    }

    /// Removes what the log has, unless somebody may still write to it.
    fn dispose(&self, whole: &Whole) -> Result<Taken, Error> {
        if !whole.is_open {
            remove(self.left)?;
        }
        Ok(Taken::Nothing { is_any_open: whole.is_open })
    }

    async fn merge(&self, base: &str, theirs: &str, whole: &Whole) -> Result<Taken, Error> {
        take_edit(self.project, self.task, self.text, base, theirs, Origin::Engine).await?;
        crash::point("take_left_over.after");
        if whole.is_open {
            // What comes next is based on this.
            let base = place::base_name(Some(&whole.digest));
            exchange::rebase(self.left, &place::label(self.task.id), base).map_err(Error::StateFile)?;
        }
        Ok(Taken::Something)
    }

    async fn keep(&self) -> Result<Taken, Error> {
        let names = place::conflict_paths(&place::beside(self.project, self.task.id, self.left));
        let kept = exchange::set_aside(self.left, names).map_err(Error::StateFile)?;
        let name = kept.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let changes =
            vec![FileChange::Conflicted { section: format!("the whole file, in a version kept as {name}") }];
        let base = self.text.newest.as_ref().map(|version| version.digest.clone());
        let order = Order::new(Some(self.task.id), &Actor::Engine);
        orders::give(self.project, order, Command::Edit(Edit { base, steps: Vec::new(), changes })).await?;
        Ok(Taken::Something)
    }
}

/// What all versions of a file in the log say about a text.
#[derive(Debug, Default, PartialEq, Eq)]
struct History {
    /// Whether it is one of them.
    is_version: bool,
    /// Whether one of them begins with it.
    is_beginning: bool,
    /// The version that it is based on.
    base: Option<String>,
}

impl History {
    /// Reads the whole stream, one version at a time. It is long, and rarely needed.
    async fn read(
        project: &Project,
        task: TaskId,
        digest: &str,
        theirs: &str,
        base: Option<&Base>,
    ) -> Result<Self, Error> {
        let loaded = project.store().load(&log::file_stream(task), NO_SNAPSHOT).await?;
        let mut history = History::default();
        if base == Some(&Base::None) {
            history.base = Some(String::new());
        }
        let mut text = FileText::default();
        for row in &loaded.tail {
            let fact = log::fact_of(row)?;
            text = text.evolve(&fact);
            if let (Event::FileChanged { .. }, Some(version)) = (&fact.event, &text.newest) {
                history.compare(version, digest, theirs, base);
            }
        }
        Ok(history)
    }

    fn compare(&mut self, version: &FileVersion, digest: &str, theirs: &str, base: Option<&Base>) {
        self.is_version |= version.digest == digest;
        self.is_beginning |= version.text.starts_with(theirs);
        if base.is_some_and(|base| base.is(&version.digest)) {
            self.base = Some(version.text.clone());
        }
    }
}

/// Waits until a program that was about to open the file when it was displaced has done so, and can be seen.
async fn wait_for_openings(path: &Path) {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return };
    let seconds = u64::try_from(metadata.ctime()).unwrap_or_default();
    let nanoseconds = u32::try_from(metadata.ctime_nsec()).unwrap_or_default();
    let displaced = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
    // After a clock was set back, the wait is at most as long as usual.
    let age = SystemTime::now().duration_since(displaced).unwrap_or_default();
    tokio::time::sleep(OPENING_MAX.saturating_sub(age)).await;
}

/// Returns the task that a file claims to belong to.
fn find_owner(root: &Path, path: &Path) -> Option<TaskId> {
    let Ok(Itself::File(bytes, _)) = disk::read_itself(root, path) else { return None };
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let number = TaskFile::parse(String::from_utf8_lossy(head)).title()?.id?;
    TaskId::new(number).ok()
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(Error::io("remove", path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task_files::digest_of;

    fn version(text: &str) -> FileVersion {
        FileVersion { text: text.to_owned(), digest: digest_of(text.as_bytes()) }
    }

    fn compare(theirs: &str, base: Option<&str>) -> History {
        let digest = digest_of(theirs.as_bytes());
        let base =
            base.map(|text| Base::Version(place::base_name(Some(&digest_of(text.as_bytes()))).to_owned()));
        let mut history = History::default();
        for known in ["one", "one two", "one two three"] {
            history.compare(&version(known), &digest, theirs, base.as_ref());
        }
        history
    }

    #[test]
    fn a_write_that_nobody_confirmed_is_known_by_what_it_displaced() {
        let folder = tempfile::tempdir().unwrap();
        let task = TaskId::FIRST;
        let text = FileText { newest: Some(version("two")), on_disk: Some(version("one")) };
        let leave = |random: &str, text: &str| {
            let base = digest_of(b"one");
            let name = format!(".regatta-task-1-{}-{random}.tmp", place::base_name(Some(&base)));
            std::fs::write(folder.path().join(&name), text).unwrap();
            folder.path().join(name)
        };
        let root = folder.path();
        let written = |lefts: &[PathBuf]| find_written(root, task, &text, lefts).unwrap().map(str::to_owned);
        assert_eq!(written(&[]), None);
        assert_eq!(written(&[leave("a", "two")]), None, "not exchanged yet");
        assert_eq!(written(&[leave("a", "one")]), Some(digest_of(b"two")));
        assert_eq!(written(&[leave("a", "one, edited")]), Some(digest_of(b"two")));
        assert_eq!(written(&[leave("a", "one"), leave("b", "two")]), None, "about to be put in its place");
        let confirmed = FileText { newest: text.newest.clone(), on_disk: text.newest.clone() };
        assert_eq!(find_written(root, task, &confirmed, &[leave("a", "one")]).unwrap(), None);
    }

    #[test]
    fn the_history_knows_versions_beginnings_and_bases() {
        let base = |text: &str| Some(text.to_owned());
        let known = History { is_version: true, is_beginning: true, base: base("one") };
        assert_eq!(compare("one two", Some("one")), known);
        let edit = History { is_version: false, is_beginning: false, base: base("one two") };
        assert_eq!(compare("one two, edited", Some("one two")), edit);
        let cut_off = History { is_version: false, is_beginning: true, base: None };
        assert_eq!(compare("one tw", None), cut_off);
        assert_eq!(compare("another", Some("gone")), History::default());
    }
}
