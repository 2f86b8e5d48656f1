//! The list of tasks, kept beside the log: an append that changes a task writes its rows, so listing replays
//! nothing.
//!
//! ```text
//!   events of a task ──▶ Task ──▶ TaskRow::of ──▶ the list `board`, one short row a task   ──▶ `task list`
//!                           └─────────────────▶ the list `tasks`, the whole task           ──▶ `task list --json`
//! ```
//!
//! A row holds what follows from its task alone. What depends on other tasks or on the current state of the
//! project (queue, engine, questions) is added when the list is read. If the list has another format, or the
//! log is older than lists, it is built from the log when it is first needed.

use crate::clock;
use crate::core::machine::Column;
use crate::core::{Task, TaskId};
use crate::error::Error;
use crate::log::task_row::{TaskRow, Unreadable};
use crate::log::{SNAPSHOT_FORMAT, Stream};
use crate::project::Project;
use crate::view::task::Around;
use regatta_store::{List, ListId, NewRow, Row, RowRead, Seq};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The short rows, for the table. Raise its format whenever [`TaskRow::of`] makes a different row of the same
/// task.
const BOARD: ListId = ListId { name: "board", format: 8 };
/// The tasks as a whole, in the shape of their snapshots.
const TASKS: ListId = ListId { name: "tasks", format: SNAPSHOT_FORMAT };
/// How task files looked when they last matched the log; see `task_files::lines`. Raise its format whenever
/// the file of an unchanged task gets a different content: then every file is read once.
pub(crate) const FILES: ListId = ListId { name: "files", format: 2 };
/// Each lost race means that the log moved while it was replayed; then the list is built again.
const TRIES_MAX: u32 = 3;

/// Returns the rows of all tasks, by number.
pub async fn list_rows(project: &Project) -> Result<Vec<TaskRow>, Error> {
    let around = Around::load(project).await?;
    let mut rows: Vec<TaskRow> = read(project, BOARD).await?;
    let config = project.config();
    let review = i64::try_from(config.review.as_secs()).unwrap_or(i64::MAX);
    let limit = clock::now().as_second().saturating_sub(review);
    let is_open = |row: &&TaskRow| !row.is_done();
    let unverified: Vec<TaskId> = rows.iter().filter(is_open).map(|row| row.id).collect();
    for row in &mut rows {
        row.stand(project, &around).await?;
        row.judge(&config.settings.checks);
        row.mark(limit, &unverified);
    }
    Ok(rows)
}

/// Returns the rows of some tasks, by number; skips tasks that do not exist.
pub async fn find_rows(project: &Project, tasks: &[TaskId]) -> Result<Vec<TaskRow>, Error> {
    let mut rows = list_rows(project).await?;
    rows.retain(|row| tasks.contains(&row.id));
    Ok(rows)
}

/// Returns all tasks, by number.
pub(crate) async fn load_tasks(project: &Project) -> Result<Vec<Task>, Error> {
    read(project, TASKS).await
}

/// Returns the first tasks that are asked for, from a number on.
pub(crate) async fn load_tasks_from(
    project: &Project,
    from: u64,
    count_max: usize,
    is_asked: impl Fn(&Task) -> bool + Clone + Send + 'static,
) -> Result<Vec<Task>, Error> {
    read_from(project, TASKS, from, count_max, is_asked).await
}

/// Makes sure that the lists exist, so that from now on every append updates them.
pub(crate) async fn ensure(project: &Project) -> Result<(), Error> {
    for list in [BOARD, TASKS] {
        if !project.store().has_list(list).await? {
            build(project).await?;
        }
    }
    ensure_files(project).await
}

/// When a task last had an event, and what it depends on.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) seq: Seq,
    pub(crate) dependencies: Vec<TaskId>,
}

/// Returns the marks of all tasks.
pub(crate) async fn load_marks(project: &Project) -> Result<BTreeMap<TaskId, Mark>, Error> {
    let rows = project.store().find_list(BOARD).await?.map_or_else(Vec::new, |list| list.rows);
    let mark = |row: &Row| {
        let TaskRow { id, dependencies, .. } = TaskRow::read(row.key, &row.data).ok()?;
        Some((id, Mark { seq: row.seq, dependencies }))
    };
    Ok(rows.iter().filter_map(mark).collect())
}

/// Returns the tasks with work that is not merged, by number.
pub(crate) async fn find_open(project: &Project) -> Result<Vec<TaskId>, Error> {
    let rows: Vec<TaskRow> = read(project, BOARD).await?;
    let is_open = |row: &TaskRow| matches!(row.column, Column::InProgress | Column::WaitingApproval);
    Ok(rows.into_iter().filter(is_open).map(|row| row.id).collect())
}

/// Returns what is stored about how task files looked.
pub(crate) async fn load_files(project: &Project) -> Result<Vec<Row>, Error> {
    Ok(project.store().find_list(FILES).await?.map_or_else(Vec::new, |list| list.rows))
}

/// The list starts empty: a file that it does not have is read.
async fn ensure_files(project: &Project) -> Result<(), Error> {
    for _ in 0..TRIES_MAX {
        let head = project.store().head().await?;
        if project.store().has_list(FILES).await?
            || project.store().build_list(FILES, head, Vec::new()).await?
        {
            break;
        }
    }
    Ok(())
}

/// Makes the rows of a task as an append leaves it; a deleted task has none.
pub(crate) fn rows_of(id: TaskId, task: Option<&Task>) -> Vec<NewRow> {
    let key = u64::from(id.number());
    let row = |list, data| NewRow { list, key, data };
    vec![row(BOARD, task.map(|task| TaskRow::of(task).to_text())), row(TASKS, task.map(text_of))]
}

/// Finds the tasks whose rows differ from what their events yield.
///
/// Finds nothing while others write to the log all the time; then it has to be called again.
pub(crate) async fn find_strange(project: &Project) -> Result<Vec<TaskId>, Error> {
    for _ in 0..TRIES_MAX {
        let mut kept = Vec::new();
        for list in [BOARD, TASKS] {
            let Some(found) = project.store().find_list(list).await? else { return Ok(Vec::new()) };
            kept.push(found);
        }
        let replayed = replay(project, crate::log::NO_SNAPSHOT).await?;
        if kept.iter().all(|list| list.head == replayed.head) {
            let mut strange = differ(&kept[0], &replayed.board);
            strange.extend(differ(&kept[1], &replayed.tasks));
            strange.sort_unstable();
            strange.dedup();
            return Ok(strange
                .into_iter()
                .filter_map(|key| TaskId::new(key.try_into().ok()?).ok())
                .collect());
        }
    }
    Ok(Vec::new())
}

/// Builds the lists from the log, and replaces what is stored.
pub(crate) async fn build(project: &Project) -> Result<Replayed, Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        let replayed = replay(project, SNAPSHOT_FORMAT).await?;
        let mut is_kept = true;
        for (list, rows) in [(BOARD, &replayed.board), (TASKS, &replayed.tasks)] {
            is_kept &= project.store().build_list(list, replayed.head, rows.clone()).await?;
        }
        if is_kept || tries == TRIES_MAX {
            return Ok(replayed);
        }
    }
}

/// What the log yields, as the rows of the lists.
pub(crate) struct Replayed {
    /// The head of the log before it was read.
    head: Seq,
    board: Vec<(u64, String)>,
    tasks: Vec<(u64, String)>,
}

async fn replay(project: &Project, format: u32) -> Result<Replayed, Error> {
    let head = project.store().head().await?;
    let mut tasks = Vec::new();
    for loaded in project.store().load_prefix("task/", format).await? {
        tasks.extend(Stream::<Option<Task>>::from_loaded(loaded)?.state);
    }
    tasks.sort_by_key(|task| task.id);
    let rows = |text: &dyn Fn(&Task) -> String| {
        tasks.iter().map(|task| (u64::from(task.id.number()), text(task))).collect()
    };
    Ok(Replayed {
        head,
        board: rows(&|task| TaskRow::of(task).to_text()),
        tasks: rows(&|task| text_of(task)),
    })
}

/// Reads a list; builds it if it is missing or cannot be read.
async fn read<T: Listed>(project: &Project, list: ListId) -> Result<Vec<T>, Error> {
    read_from(project, list, 0, usize::MAX, |_: &T| true).await
}

/// Reads what is asked for of a list, from a number on; builds the list if it is missing or cannot be read.
async fn read_from<T: Listed>(
    project: &Project,
    list: ListId,
    from: u64,
    count_max: usize,
    is_asked: impl Fn(&T) -> bool + Clone + Send + 'static,
) -> Result<Vec<T>, Error> {
    let picked = Arc::new(Mutex::new(Picked { rows: Ok(Vec::new()), count_max, is_asked: is_asked.clone() }));
    let shared = Arc::clone(&picked);
    // Each row is decoded where the store has it: a list has many.
    let take = Box::new(move |row: RowRead<'_>| lock(&shared).take(row.key, row.data));
    let is_built = project.store().read_list(list, from, take).await?.is_some();
    let read = std::mem::replace(&mut lock(&picked).rows, Ok(Vec::new()));
    if let (true, Ok(rows)) = (is_built, read) {
        return Ok(rows);
    }
    let built = build(project).await?;
    let rows = if list == BOARD { built.board } else { built.tasks };
    let mut picked = Picked { rows: Ok(Vec::new()), count_max, is_asked };
    for (key, data) in rows.iter().filter(|(key, _)| *key >= from) {
        if picked.take(*key, data).is_break() {
            break;
        }
    }
    picked.rows.map_err(|Unreadable(why)| Error::LogUnsound { seq: 0, why })
}

/// What a row of a list is read as.
trait Listed: Sized + Send + 'static {
    fn read(key: u64, data: &str) -> Result<Self, Unreadable>;
}

impl Listed for TaskRow {
    fn read(key: u64, data: &str) -> Result<Self, Unreadable> {
        TaskRow::read(key, data)
    }
}

impl Listed for Task {
    fn read(_: u64, data: &str) -> Result<Self, Unreadable> {
        Ok(serde_json::from_str(data)?)
    }
}

/// What was read of a list so far.
struct Picked<T, F> {
    rows: Result<Vec<T>, Unreadable>,
    count_max: usize,
    is_asked: F,
}

impl<T: Listed, F: Fn(&T) -> bool> Picked<T, F> {
    fn take(&mut self, key: u64, data: &str) -> ControlFlow<()> {
        let Ok(rows) = &mut self.rows else { return ControlFlow::Break(()) };
        match T::read(key, data) {
            Ok(row) if (self.is_asked)(&row) => rows.push(row),
            Ok(_) => {}
            Err(error) => {
                self.rows = Err(error);
                return ControlFlow::Break(());
            }
        }
        if rows.len() < self.count_max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the numbers of the rows that are missing, superfluous or different.
fn differ(kept: &List, replayed: &[(u64, String)]) -> Vec<u64> {
    let kept: std::collections::BTreeSet<(u64, &str)> =
        kept.rows.iter().map(|row| (row.key, row.data.as_str())).collect();
    let replayed = replayed.iter().map(|(key, data)| (*key, data.as_str())).collect();
    kept.symmetric_difference(&replayed).map(|(key, _)| *key).collect()
}

fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a task has only text keys")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::orders::{self, Caller};
    use crate::core::{Actor, Assignee, Create, Depend, Priority};
    use crate::doctor;
    use crate::doctor::Kind;
    use regatta_testkit::repo::TestRepo;

    const CONFIG: &str =
        "[project]\nmax_concurrent_agents = 2\n[agents.worker]\nkind = \"command\"\ncommand = \"true\"\n";

    async fn open(repo: &TestRepo) -> Project {
        repo.write(".regatta/config.toml", CONFIG);
        Project::open_own(repo.path()).await.unwrap()
    }

    fn caller() -> Caller {
        Caller::new(Actor::User("tester".to_owned()))
    }

    async fn add(project: &Project, title: &str) -> TaskId {
        let create =
            Create::new(title.to_owned(), String::new(), Vec::new(), [].into(), Priority::Medium).unwrap();
        orders::create(project, &caller(), create).await.unwrap()
    }

    async fn titles(project: &Project) -> Vec<String> {
        list_rows(project).await.unwrap().into_iter().map(|row| row.title).collect()
    }

    #[tokio::test]
    async fn after_any_commands_the_list_is_what_the_log_adds_up_to() {
        for seed in 1..=4_u64 {
            let repo = TestRepo::new();
            let project = open(&repo).await;
            ensure(&project).await.unwrap();
            let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut draw = |below: u32| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                u32::try_from(random % u64::from(below)).unwrap()
            };
            for step in 0..25 {
                let task = TaskId::new(1 + draw(4)).unwrap();
                // A refused command changes nothing, which is as good a case as any.
                match draw(5) {
                    0 | 1 => drop(add(&project, &format!("task of step {step}")).await),
                    2 => {
                        let on = TaskId::new(1 + draw(4)).unwrap();
                        let depend = Depend { add: [on].into(), remove: [].into() };
                        let _ = orders::depend(&project, &caller(), task, depend).await;
                    }
                    3 => {
                        let _ = orders::assign(&project, &caller(), task, Assignee::Any, None, true).await;
                    }
                    _ => drop(orders::cancel(&project, &caller(), task, None).await),
                }
                assert_eq!(find_strange(&project).await.unwrap(), [], "seed {seed}, step {step}");
            }
            let listed = list_rows(&project).await.unwrap();
            let shown = crate::view::task::list_tasks(&project).await.unwrap();
            assert!(!listed.is_empty());
            for (row, view) in listed.iter().zip(&shown) {
                assert_eq!((row.id, &row.title, row.column), (view.id, &view.title, view.column));
                assert_eq!((&*row.phase, &*row.owner), (view.phase, view.owner.as_str()), "task {}", row.id);
                assert_eq!((row.queue_position, &row.agent_id), (view.queue_position, &view.agent_id));
            }
        }
    }

    #[tokio::test]
    async fn a_list_that_is_missing_or_of_another_format_is_built() {
        let repo = TestRepo::new();
        let project = open(&repo).await;
        add(&project, "one").await;
        assert_eq!(project.store().find_list(BOARD).await.unwrap(), None, "nobody has asked for it");
        assert_eq!(titles(&project).await, ["one"]);
        add(&project, "two").await;
        assert!(project.store().find_list(BOARD).await.unwrap().is_some_and(|list| list.rows.len() == 2));
        let head = project.store().head().await.unwrap();
        for rows in [Vec::new(), vec![(1, "not a row".to_owned())]] {
            let list = ListId { format: if rows.is_empty() { 99 } else { BOARD.format }, ..BOARD };
            assert!(project.store().build_list(list, head, rows).await.unwrap());
            assert_eq!(titles(&project).await, ["one", "two"]);
            assert_eq!(find_strange(&project).await.unwrap(), []);
        }
    }

    #[tokio::test]
    async fn the_doctor_finds_a_list_that_says_something_else_and_builds_it() {
        let repo = TestRepo::new();
        let project = open(&repo).await;
        add(&project, "one").await;
        add(&project, "two").await;
        ensure(&project).await.unwrap();
        let head = project.store().head().await.unwrap();
        let mut list = project.store().find_list(BOARD).await.unwrap().unwrap();
        let changed = list.rows.pop().unwrap().data.replace("two", "tow");
        let rows = vec![(1, list.rows.pop().unwrap().data), (2, changed), (3, "{}".to_owned())];
        assert!(project.store().build_list(BOARD, head, rows).await.unwrap());
        let mut findings = doctor::examine(&project).await.unwrap();
        findings.retain(|finding| finding.kind == Kind::StrangeList);
        let what = "the stored list of tasks differs from the log: #2, #3";
        assert_eq!(findings.iter().map(|finding| finding.what.as_str()).collect::<Vec<_>>(), [what]);
        doctor::repair(&project, &mut findings).await.unwrap();
        assert_eq!(titles(&project).await, ["one", "two"]);
        assert_eq!(find_strange(&project).await.unwrap(), []);
    }
}
