//! Notices edits of the files of runs while an engine runs: the system reports them, and a look every second finds what it
//! did not report.

use crate::core::RunId;
use crate::project::Project;
use crate::run_files::family::{Ask, bring_up_to_date};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What was reported is looked at after this time, when an editor is likely to be done.
const SETTLE: Duration = Duration::from_millis(30);
/// How often all files are looked at, which opens only those that look different.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// More than one burst of edits; what does not fit is found by the next look.
const WAITING_MAX: usize = 256;

/// Takes edits in until it is stopped.
pub(crate) async fn watch(project: Arc<Project>, stop: CancellationToken) {
    let (sender, mut receiver) = mpsc::channel(WAITING_MAX);
    let mut watcher = start(sender);
    let mut watched: BTreeSet<PathBuf> = BTreeSet::new();
    loop {
        let glances = &project.run_files().glances;
        if let Some(watcher) = &mut watcher {
            let folders = glances.folders();
            for gone in watched.difference(&folders) {
                let _ = watcher.unwatch(gone);
            }
            // One that could not be watched is tried again, and looked at every second meanwhile.
            let is_watched = |folder: &PathBuf| {
                watched.contains(folder) || watcher.watch(folder, RecursiveMode::NonRecursive).is_ok()
            };
            watched = folders.into_iter().filter(is_watched).collect();
        }
        let mut runs: BTreeSet<RunId> = BTreeSet::new();
        tokio::select! {
            () = stop.cancelled() => return,
            path = receiver.recv() => {
                tokio::time::sleep(SETTLE).await;
                let mut next: Option<PathBuf> = path;
                while let Some(path) = next {
                    runs.extend(glances.find_run(&path));
                    next = receiver.try_recv().ok();
                }
                let changed = glances.find_changed(|run| runs.contains(&run));
                runs = changed;
            }
            () = tokio::time::sleep(LOOK_EVERY) => {
                runs = glances.find_changed(|_| true);
                // A folder that was removed and made again is watched again.
                watched.retain(|folder| folder.is_dir());
            }
        }
        for run in runs {
            // What cannot be taken in now is found by the next look.
            let _ = bring_up_to_date(&project, run, Ask::Changed).await;
        }
    }
}

/// Starts to report; without reports the files are only looked at every second.
fn start(sender: mpsc::Sender<PathBuf>) -> Option<RecommendedWatcher> {
    let handle = move |event: notify::Result<Event>| {
        let Ok(event) = event else { return };
        let is_opening = matches!(event.kind, EventKind::Access(notify::event::AccessKind::Open(_)));
        for path in event.paths.into_iter().filter(|_| !is_opening) {
            let _ = sender.try_send(path);
        }
    };
    RecommendedWatcher::new(handle, Config::default()).ok()
}
