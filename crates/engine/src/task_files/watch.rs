//! Notices edits: an engine finds earlier changes when it starts, and later ones are reported to it.
//!
//! At the start every file is compared with how it looked when it last matched the log ([`Known`]), and only
//! those that differ are read; a missing file is written again. Edits are taken in here, and work that a
//! crash interrupted is finished. The engine's own additions are otherwise written by the effects that cause
//! them, so that they are in the right order in the log. [`Looks`] decides when to look.

use crate::commands::orders;
use crate::core::{Actor, Refusal, TaskId};
use crate::error::Error;
use crate::log::list;
use crate::project::Project;
use crate::task_files::lines::{self, Known, Line, Lines};
use crate::task_files::looks::{Found, Looks, Step};
use crate::task_files::reports::Reports;
use crate::task_files::restore;
use crate::task_files::settled::Stamp;
use crate::task_files::{discard, left_over, place, private_folder, sync};
use regatta_files::disk::{self, Itself};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// How many tasks are looked at in a row; then comes a pause that is a multiple of the time it took. There
/// are more only after an update of the program, or a copy of the whole project.
const IN_A_ROW_MAX: usize = 256;
const PAUSE_LOOKS: u32 = 3;
/// From this many on, one scan of the whole folder is cheaper than one look at each.
const MANY: usize = 8;

/// Takes edits in for as long as it is polled.
pub(crate) async fn watch(project: Arc<Project>) {
    let folder = place::folder(&project);
    // Including their archives, which cannot be seen in the folder of task files.
    let _ = restore::write_missing(&project).await;
    let mut reports = Reports::new(place::root(&project), folder.clone());
    let mut looks = Looks::new(Instant::now());
    let mut lines = Lines::default();
    let _ = list::ensure(&project).await;
    // Before the folder is scanned: a file that changes in between is read.
    let mut known = Known::load(&project).await.ok();
    loop {
        if looks.is_folder_due(Instant::now()) {
            // Watched first, so that changes during the scan are reported.
            reports.ensure_watched();
            let began = Instant::now();
            let found = scan(&project, &folder);
            if let Some(known) = known.take() {
                begin(&mut looks, &known, &found);
            }
            looks.see_folder(&found, Instant::now(), began.elapsed());
        }
        let began = Instant::now();
        let due = looks.take_due(began, IN_A_ROW_MAX);
        let is_crowded = due.len() == IN_A_ROW_MAX;
        let all = (due.len() >= MANY).then(|| scan(&project, &folder));
        for task in due {
            let found = match &all {
                Some(all) => {
                    all.iter().find(|found| found.task == task).copied().unwrap_or(Found::gone(task))
                }
                None => find(&project, task),
            };
            if let Step::TakeIn { is_first } = looks.decide(found, Instant::now()) {
                match take_in(&project, found, is_first).await {
                    Ok(Taken::Settled(line)) => {
                        looks.settle(task, line.as_ref().map_or(found.stamp, |line| Some(line.stamp)));
                        line.into_iter().for_each(|line| lines.note(task, line, Instant::now()));
                    }
                    // The task was deleted, or the file comes from elsewhere: write nothing.
                    Err(Error::Refused(Refusal::TaskNotFound { .. })) => looks.forget(task),
                    Ok(Taken::Unsettled) | Err(_) => {}
                }
            }
        }
        lines.write_if_due(&project, Instant::now()).await;
        let pause = if is_crowded { began.elapsed() * PAUSE_LOOKS } else { std::time::Duration::ZERO };
        let wake_at = lines.write_at().map_or(looks.wake_at(), |at| at.min(looks.wake_at()));
        tokio::select! {
            report = reports.next() => looks.report(report, Instant::now()),
            () = tokio::time::sleep_until(wake_at.max(Instant::now() + pause).into()) => {}
        }
    }
}

/// Records the files that have not changed since they last matched the log, and the tasks that must have a
/// file.
fn begin(looks: &mut Looks, known: &Known, found: &[Found]) {
    known.tasks().for_each(|task| looks.expect(task));
    for one in found {
        if let Some(stamp) = one.stamp.filter(|stamp| known.is_in_line(one.task, *stamp)) {
            looks.settle(one.task, Some(stamp));
        }
    }
}

/// The result of reading a file.
enum Taken {
    /// All of it is in the log; with a line if the file needs no update either.
    Settled(Option<Line>),
    /// Somebody is in the middle of writing.
    Unsettled,
}

/// Syncs the file of a task if it is not the version that the log expects.
///
/// At the first look, the file of a task at rest is also synced: a crash may have come between a step and its
/// file. For a task in progress, the steps themselves update the file.
async fn take_in(project: &Project, found: Found, is_first: bool) -> Result<Taken, Error> {
    // The doctor reports a file that belongs to no task, and it is left alone; the file of a deleted task is
    // removed.
    if !orders::has_task(project, found.task).await? {
        if orders::is_deleted(project, found.task).await? {
            discard(project, found.task).await?;
        }
        return Ok(Taken::Settled(None));
    }
    if !found.has_left_over {
        if let Some(line) = lines::find(project, found.task).await? {
            return Ok(Taken::Settled(Some(line)));
        }
        let text = orders::load_file(project, found.task).await?.state;
        let peek = private_folder::peek(project, found.task);
        let on_disk = disk::read_itself(&place::root(project), &peek).map_err(Error::StateFile)?;
        let digest = match on_disk {
            Itself::File(_, digest) => Some(digest.as_str().to_owned()),
            Itself::Missing | Itself::Odd => None,
        };
        let is_known =
            digest.is_some() && text.on_disk.as_ref().map(|version| &version.digest) == digest.as_ref();
        let is_written = is_known && text.on_disk == text.newest;
        if is_written && !(is_first && orders::get_task(project, found.task).await?.is_at_rest()) {
            return Ok(Taken::Settled(None));
        }
    }
    let kept = sync(project, found.task, &Actor::Engine).await?;
    restore::write_archive(project, found.task).await?;
    if !kept.is_settled {
        return Ok(Taken::Unsettled);
    }
    Ok(Taken::Settled(lines::find(project, found.task).await?))
}

/// Looks at one task.
fn find(project: &Project, task: TaskId) -> Found {
    let path = private_folder::peek(project, task);
    let stamp = std::fs::symlink_metadata(&path).ok().map(|metadata| Stamp::of(&metadata));
    let left = regatta_files::exchange::list(&path).unwrap_or_default();
    let has_left_over = left.iter().any(|path| place::task_of_left(path) == Some(task));
    Found { task, stamp, has_left_over }
}

/// Scans the whole folder, with one look at each file, and more only where something is left over.
fn scan(project: &Project, folder: &Path) -> Vec<Found> {
    let mut found: BTreeMap<TaskId, Found> = BTreeMap::new();
    // A folder that is a link is refused when a file is written to it.
    if !std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        return Vec::new();
    }
    let mut may_have_more = false;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(task) = name.to_str().and_then(place::task_of_file) else {
            may_have_more = true;
            continue;
        };
        let mut metadata = entry.metadata();
        if metadata.as_ref().is_ok_and(std::fs::Metadata::is_symlink) {
            may_have_more = true;
            metadata = std::fs::symlink_metadata(private_folder::peek(project, task));
        }
        let stamp = metadata.ok().map(|metadata| Stamp::of(&metadata));
        found.insert(task, Found { task, stamp, has_left_over: false });
    }
    let left_overs =
        if may_have_more { left_over::find_all(project).unwrap_or_default() } else { Vec::new() };
    for left in left_overs {
        let Some(task) = left.task else { continue };
        found.entry(task).or_insert(Found { task, stamp: None, has_left_over: true }).has_left_over = true;
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::orders::{Caller, Order};
    use crate::core::{Command, Create, Depend, Priority};
    use notify::event::AccessKind;
    use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
    use regatta_testkit::repo::TestRepo;
    use regatta_testkit::wait::until_async;
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use tokio::task::JoinHandle;

    /// A project with tasks of one criterion each, whose files match the log.
    struct Board {
        _repo: TestRepo,
        project: Arc<Project>,
    }

    impl Board {
        async fn new(tasks: u32) -> Self {
            let repo = TestRepo::new();
            repo.write(".regatta/config.toml", "[agents.worker]\nkind = \"command\"\ncommand = \"true\"\n");
            let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
            list::ensure(&project).await.unwrap();
            let caller = Caller::new(Actor::User("tester".to_owned()));
            for number in 1..=tasks {
                let criteria = vec!["it works".to_owned()];
                let title = format!("task {number}");
                let create =
                    Create::new(title, String::new(), criteria, [].into(), Priority::Medium).unwrap();
                orders::create(&project, &caller, create).await.unwrap();
            }
            Board { _repo: repo, project }
        }

        fn path(&self, task: u32) -> std::path::PathBuf {
            crate::task_files::place::file_path(&self.project, TaskId::new(task).unwrap())
        }

        /// Ticks the criterion in the file, which keeps its size.
        fn tick(&self, task: u32) {
            let text = std::fs::read_to_string(self.path(task)).unwrap();
            assert!(text.contains("- [ ] it works"), "{text}");
            std::fs::write(self.path(task), text.replace("- [ ] it works", "- [x] it works")).unwrap();
        }

        fn watch(&self) -> JoinHandle<()> {
            tokio::spawn(watch(Arc::clone(&self.project)))
        }

        /// Waits until something is appended to the log, or for a short time.
        async fn until_it_moves(&self) {
            let store = self.project.store();
            let seen = store.head().await.unwrap();
            store.wait_past(seen, std::time::Duration::from_millis(50)).await.unwrap();
        }

        async fn until_ticked(&self, task: u32) {
            let task = TaskId::new(task).unwrap();
            let wait = async {
                while !orders::get_task(&self.project, task).await.unwrap().criteria[0].checked {
                    self.until_it_moves().await;
                }
            };
            tokio::time::timeout(regatta_testkit::wait::WAIT_MAX, wait).await.expect("the edit is taken in");
        }

        /// Records which task files anybody opens from now on.
        fn note_openings(&self) -> (RecommendedWatcher, Arc<Mutex<BTreeSet<TaskId>>>) {
            let opened = Arc::new(Mutex::new(BTreeSet::new()));
            let noted = Arc::clone(&opened);
            let handle = move |event: notify::Result<Event>| {
                let Ok(event) = event else { return };
                if matches!(event.kind, EventKind::Access(AccessKind::Open(_))) {
                    let names = event.paths.iter().filter_map(|path| path.file_name()?.to_str());
                    noted.lock().unwrap().extend(names.filter_map(place::task_of_file));
                }
            };
            let mut watcher = RecommendedWatcher::new(handle, notify::Config::default()).unwrap();
            watcher.watch(&place::folder(&self.project), RecursiveMode::NonRecursive).unwrap();
            (watcher, opened)
        }
    }

    #[tokio::test]
    async fn a_start_opens_the_files_that_changed_and_no_other() {
        let board = Board::new(6).await;
        board.tick(4);
        let (_watcher, opened) = board.note_openings();
        let watch = board.watch();
        board.until_ticked(4).await;
        until_async("it is seen", || opened.lock().unwrap().contains(&TaskId::new(4).unwrap())).await;
        watch.abort();
        assert_eq!(*opened.lock().unwrap(), [TaskId::new(4).unwrap()].into());
    }

    #[tokio::test]
    async fn an_edit_that_keeps_size_and_time_is_found_at_the_start() {
        let board = Board::new(2).await;
        let time = std::fs::metadata(board.path(2)).unwrap().modified().unwrap();
        board.tick(2);
        std::fs::File::options().write(true).open(board.path(2)).unwrap().set_modified(time).unwrap();
        let watch = board.watch();
        board.until_ticked(2).await;
        watch.abort();
    }

    #[tokio::test]
    async fn a_file_that_is_gone_is_written_again_at_the_start_and_later() {
        let board = Board::new(3).await;
        let text = std::fs::read(board.path(2)).unwrap();
        std::fs::remove_file(board.path(2)).unwrap();
        let watch = board.watch();
        until_async("it is written", || std::fs::read(board.path(2)).is_ok_and(|found| found == text)).await;
        std::fs::remove_file(board.path(3)).unwrap();
        until_async("it is written again", || board.path(3).exists()).await;
        watch.abort();
    }

    #[tokio::test]
    async fn what_a_crash_left_unwritten_is_written_at_the_start() {
        let board = Board::new(2).await;
        let (task, on) = (TaskId::new(2).unwrap(), TaskId::FIRST);
        let depend = Command::Depend(Depend { add: [on].into(), remove: [].into() });
        // Like a process that is killed right after its append.
        orders::give(&board.project, Order::new(Some(task), &Actor::Engine), depend).await.unwrap();
        let has_it =
            || std::fs::read_to_string(board.path(2)).is_ok_and(|text| text.contains("\"dependencies\""));
        assert!(!has_it());
        let watch = board.watch();
        until_async("its file says so", has_it).await;
        watch.abort();
    }

    #[tokio::test]
    async fn what_was_looked_into_is_known_at_the_next_start() {
        let board = Board::new(3).await;
        let copies = (1..=3).map(|task| (board.path(task), std::fs::read(board.path(task)).unwrap()));
        for (path, bytes) in copies.collect::<Vec<_>>() {
            // Another file of the same text, as a copy of the project has.
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, bytes).unwrap();
        }
        let is_known = async || {
            let known = Known::load(&board.project).await.unwrap();
            let found = scan(&board.project, &place::folder(&board.project));
            found.iter().all(|found| known.is_in_line(found.task, found.stamp.unwrap()))
        };
        assert!(!is_known().await);
        let watch = board.watch();
        let wait = async {
            while !is_known().await {
                board.until_it_moves().await;
            }
        };
        tokio::time::timeout(regatta_testkit::wait::WAIT_MAX, wait).await.expect("it is kept");
        watch.abort();
    }
}
