//! Translates what the system reports about the folder of the task files into reports about tasks.
//!
//! The kernel reports every opening too; those are dropped on arrival, or our own reading would wake us. What
//! cannot be assigned to a task, or does not fit into the queue, becomes "reports were lost": then the whole
//! folder is scanned.

use crate::task_files::looks::Report;
use crate::task_files::place;
use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use regatta_files::beneath;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;

/// More than one burst of edits; beyond that a scan of the folder is cheaper anyway.
const WAITING_MAX: usize = 256;

/// The reports about one folder; none come until it is watched.
pub(crate) struct Reports {
    root: PathBuf,
    folder: PathBuf,
    watched: Option<Watched>,
    sender: mpsc::Sender<Report>,
    receiver: mpsc::Receiver<Report>,
    is_lost: Arc<AtomicBool>,
}

/// A folder as it was when it was first watched; another one may get its name.
struct Watched {
    identity: (u64, u64),
    watcher: RecommendedWatcher,
}

impl Reports {
    /// Reports about a folder below one that is known.
    pub(crate) fn new(root: PathBuf, folder: PathBuf) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        Reports { root, folder, watched: None, sender, receiver, is_lost: Arc::default() }
    }

    /// Makes sure that the folder of this name is watched, and the private folders in it; if the system has no more
    /// watches, they are not.
    pub(crate) fn ensure_watched(&mut self) {
        let _ = beneath::ensure_folder(&self.root, &self.folder);
        let found = std::fs::symlink_metadata(&self.folder).ok().filter(std::fs::Metadata::is_dir);
        let identity = found.map(|found| (found.dev(), found.ino()));
        if self.watched.as_ref().map(|watched| watched.identity) != identity || identity.is_none() {
            self.watched = identity.and_then(|identity| {
                let watcher = self.start().ok()?;
                Some(Watched { identity, watcher })
            });
        }
        if let Some(watched) = &mut self.watched {
            // Each time, since another private folder of the same name may be there by now. Nothing below a private folder is
            // watched, because an agent decides how deep that is.
            for private_folder in find_private_folders(&self.folder) {
                let _ = watched.watcher.watch(&private_folder, RecursiveMode::NonRecursive);
            }
        }
    }

    /// Waits for the next report.
    pub(crate) async fn next(&mut self) -> Report {
        let report = self.receiver.recv().await;
        if self.is_lost.swap(false, Ordering::Relaxed) {
            return Report::Lost;
        }
        report.unwrap_or(Report::Lost)
    }

    fn start(&self) -> notify::Result<RecommendedWatcher> {
        let (folder, sender, is_lost) = (self.folder.clone(), self.sender.clone(), Arc::clone(&self.is_lost));
        let handle = move |event: notify::Result<Event>| {
            let reports = event.map_or_else(|_| vec![Report::Lost], |event| read(&event, &folder));
            for report in reports {
                if let Err(mpsc::error::TrySendError::Full(_)) = sender.try_send(report) {
                    is_lost.store(true, Ordering::Relaxed);
                }
            }
        };
        let mut watcher = RecommendedWatcher::new(handle, Config::default())?;
        watcher.watch(&self.folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    }
}

/// Lists the private folders in the folder of the task files.
fn find_private_folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).filter(move |path| is_private_folder(path, folder))
}

fn is_private_folder(path: &Path, folder: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    path.parent() == Some(folder) && name.and_then(place::task_of_private_folder).is_some()
}

/// Reads one event of the system.
fn read(event: &Event, folder: &Path) -> Vec<Report> {
    if event.need_rescan() {
        return vec![Report::Lost];
    }
    // A new private folder has to be watched, which happens before a scan of the folder.
    if event.kind.is_create() && event.paths.iter().any(|path| is_private_folder(path, folder)) {
        return vec![Report::Lost];
    }
    let is_finished = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Modify(ModifyKind::Name(RenameMode::To)) => true,
        EventKind::Access(_) => return Vec::new(),
        EventKind::Modify(ModifyKind::Name(_)) | EventKind::Remove(_) => {
            let is_folder = event.paths.iter().any(|path| path == folder);
            let gone = event.paths.iter().filter_map(|path| gone(path));
            return if is_folder { vec![Report::Lost] } else { gone.collect() };
        }
        _ => false,
    };
    event.paths.iter().filter_map(|path| about(path, is_finished)).collect()
}

/// A missing file is written again, unless another one soon takes its place.
fn gone(path: &Path) -> Option<Report> {
    path.file_name().and_then(|name| place::task_of_file(name.to_str()?)).map(Report::Touched)
}

fn about(path: &Path, is_finished: bool) -> Option<Report> {
    if let Some(task) = path.file_name().and_then(|name| place::task_of_file(name.to_str()?)) {
        return Some(if is_finished { Report::Finished(task) } else { Report::Touched(task) });
    }
    place::task_of_left(path).map(Report::Beside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::TaskId;
    use notify::event::{CreateKind, DataChange, Flag, RemoveKind};
    use std::time::Duration;

    /// Far above what a report takes on a busy machine; it only bounds a test that fails.
    const WAIT_MAX: Duration = Duration::from_secs(60);

    fn read_one(kind: EventKind, name: &str) -> Vec<Report> {
        read(&Event::new(kind).add_path(Path::new("/folder").join(name)), Path::new("/folder"))
    }

    #[test]
    fn events_become_reports() {
        let close = EventKind::Access(AccessKind::Close(AccessMode::Write));
        let open = EventKind::Access(AccessKind::Open(AccessMode::Any));
        let moved_to = EventKind::Modify(ModifyKind::Name(RenameMode::To));
        let moved_from = EventKind::Modify(ModifyKind::Name(RenameMode::From));
        let modified = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let (task, file) = (TaskId::FIRST, "task-1-state.md");
        let displaced = ".regatta-task-1-0123456789abcdef-Ab.tmp";
        assert_eq!(read_one(close, file), [Report::Finished(task)]);
        assert_eq!(read_one(moved_to, file), [Report::Finished(task)]);
        assert_eq!(read_one(modified, file), [Report::Touched(task)]);
        assert_eq!(read_one(EventKind::Create(CreateKind::File), file), [Report::Touched(task)]);
        assert_eq!(read_one(modified, displaced), [Report::Beside(task)]);
        assert_eq!(read_one(close, displaced), [Report::Beside(task)]);
        assert_eq!(read_one(moved_from, ""), [Report::Lost]);
        assert_eq!(read_one(EventKind::Remove(RemoveKind::Folder), ""), [Report::Lost]);
        let removed = EventKind::Remove(RemoveKind::File);
        assert_eq!(read_one(removed, file), [Report::Touched(task)]);
        assert_eq!(read_one(moved_from, file), [Report::Touched(task)]);
        for (kind, name) in [(open, file), (removed, displaced), (open, ""), (close, ".task-1.guard")] {
            assert_eq!(read_one(kind, name), [], "{kind:?} {name}");
        }
        assert_eq!(read_one(EventKind::Create(CreateKind::Folder), ".task-1"), [Report::Lost]);
        assert_eq!(read_one(EventKind::Create(CreateKind::Folder), ".task-1/.task-1"), []);
        assert_eq!(read_one(close, ".task-1/task-1-state.md"), [Report::Finished(task)]);
        let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(read(&overflow, Path::new("/folder")), [Report::Lost]);
    }

    async fn wait_for(reports: &mut Reports, wanted: Report) {
        let wait = async { while reports.next().await != wanted {} };
        tokio::time::timeout(WAIT_MAX, wait).await.expect("it is reported in time");
    }

    #[tokio::test]
    async fn the_system_reports_writes_renames_and_another_folder() {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("task-states");
        let mut reports = Reports::new(outside.path().to_owned(), folder.clone());
        reports.ensure_watched();
        std::fs::write(folder.join("task-1-state.md"), b"one").unwrap();
        wait_for(&mut reports, Report::Finished(TaskId::FIRST)).await;
        std::fs::write(folder.join("other"), b"two").unwrap();
        std::fs::rename(folder.join("other"), folder.join("task-2-state.md")).unwrap();
        wait_for(&mut reports, Report::Finished("2".parse().unwrap())).await;
        let private_folder = folder.join(".task-3");
        for text in ["one", "two"] {
            std::fs::create_dir(&private_folder).unwrap();
            wait_for(&mut reports, Report::Lost).await;
            reports.ensure_watched();
            std::fs::write(private_folder.join("task-3-state.md"), text).unwrap();
            wait_for(&mut reports, Report::Finished("3".parse().unwrap())).await;
            std::fs::remove_dir_all(&private_folder).unwrap();
        }
        std::fs::rename(&folder, outside.path().join("moved")).unwrap();
        wait_for(&mut reports, Report::Lost).await;
        reports.ensure_watched();
        std::fs::write(folder.join("task-3-state.md"), b"three").unwrap();
        wait_for(&mut reports, Report::Finished("3".parse().unwrap())).await;
    }
}
