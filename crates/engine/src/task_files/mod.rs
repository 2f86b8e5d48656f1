//! Keeps the file of a task and the log in sync.
//!
//! ```text
//!   disk ──▶ what did somebody change since we last wrote? ──▶ events ──▶ what must the file say? ──▶ disk
//! ```
//!
//! Nothing here is stored as an intent: comparing the newest version in the log with the one that is known to
//! be on the disk shows at any time what has to be written. So any process can recover from a crash by
//! comparing again. A write swaps the new file with the old one. The displaced file is checked until nobody
//! can write to it any more: an edit that came between our reading and our writing, or later, is merged. This
//! module does not know runs or sessions. See docs/design/001-task-files.md.

pub(crate) mod adopted;
pub(crate) mod archive;
mod changes;
mod desired;
mod discard;
pub mod edits;
pub(crate) mod file_size;
mod left_over;
mod lines;
pub(crate) mod lock;
mod looks;
pub(crate) mod place;
mod private_folder;
mod reports;
pub(crate) mod restore;
pub(crate) mod settled;
pub(crate) mod understood;
mod watch;

pub(crate) use changes::{BY_ENGINE, between as changes_between};
pub(crate) use desired::name_documents;
pub(crate) use discard::discard;
pub(crate) use left_over::{LeftOver, keep_unowned};
pub(crate) use place::{archive_path, archive_root, corrupt_paths, ensure_archives, file_path};
pub(crate) use private_folder::{close as close_private_folder, open as open_private_folder};
pub(crate) use watch::watch;

use crate::commands::orders::{self, Beside, Caller, Order};
use crate::commands::round;
use crate::core::{
    Actor, Code, Command, Edit, EditStep, Failure, FileChange, FileText, FileVersion, Origin, Outcome,
    Problem, Splice, Task, TaskId,
};
use crate::crash;
use crate::error::Error;
use crate::project::Project;
use crate::view::version::Unchanged;
use left_over::Taken;
use regatta_files::{Damage, TaskFile, disk, exchange, find_damage, merge};
use regatta_store::{CommandKey, Seq, Version};
use serde::Serialize;
use settled::{Look, Whole};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Each round means that somebody wrote meanwhile; this many in a row mean a loop, not work.
const ROUNDS_MAX: u32 = 32;
/// After this many rounds a sync no longer waits for other writers, or it might never end. It does its own
/// part, and leaves what it displaces to the next look.
const ROUNDS_PATIENT: u32 = 12;

/// A task file as it is in the log and on the disk.
pub(crate) struct Kept {
    /// The parsed file.
    pub(crate) file: TaskFile,
    /// Whether nobody was in the middle of writing to it, or to what was displaced.
    is_settled: bool,
}

/// Lists what was left beside the task files and is not in use by a process of ours.
pub(crate) fn find_left_overs(project: &Project) -> Result<Vec<LeftOver>, Error> {
    let mut found = Vec::new();
    for left_over in left_over::find_all(project)? {
        let is_free = match left_over.task {
            Some(task) => lock::try_take(project, task)?.is_some(),
            None => true,
        };
        // A file that is gone by now was in use by a process that has just finished with it.
        if is_free && left_over.path.exists() {
            found.push(left_over);
        }
    }
    Ok(found)
}

/// Refuses a folder of task files that leads elsewhere.
pub(crate) fn check_folder(project: &Project) -> Result<(), Error> {
    place::ensure_folder(project)
}

/// Lists the task files in this project's folder that belong to none of its tasks.
pub(crate) fn find_foreign(project: &Project, is_known: impl Fn(TaskId) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place::folder(project)).into_iter().flatten().flatten();
    let is_foreign = |entry: &std::fs::DirEntry| {
        let task = entry.file_name().to_str().and_then(place::task_of_file);
        task.is_some_and(|task| !is_known(task))
    };
    let mut found: Vec<PathBuf> = entries.filter(is_foreign).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Reads the file of a task as it is on the disk, without changing anything; nothing when it is not text.
pub(crate) fn peek_text(project: &Project, task: TaskId) -> Option<TaskFile> {
    match disk::read_itself(&place::root(project), &private_folder::peek(project, task)).ok()? {
        disk::Itself::File(bytes, _) => TaskFile::parse_bytes(bytes).ok(),
        disk::Itself::Missing | disk::Itself::Odd => None,
    }
}

/// Reads what others changed, and writes the engine's own parts.
pub(crate) async fn sync(project: &Project, task: TaskId, editor: &Actor) -> Result<Kept, Error> {
    edit(project, task, editor, |file| Ok((file.clone(), Vec::new()))).await
}

/// Takes in what is on the disk, if the log does not have it; a known file costs one read.
pub(crate) async fn look_in(project: &Project, task: TaskId) -> Result<(), Error> {
    orders::get_task(project, task).await?;
    let text = orders::load_file(project, task).await?.state;
    let found = disk::read_itself(&place::root(project), &private_folder::peek(project, task));
    if let Ok(disk::Itself::File(_, digest)) = &found
        && text.on_disk.as_ref().is_some_and(|version| version.digest == digest.as_str())
    {
        return Ok(());
    }
    sync_or_report(project, task).await
}

/// Syncs the file; a disk error is reported with the task, and stops nothing else.
pub(crate) async fn sync_or_report(project: &Project, task: TaskId) -> Result<(), Error> {
    let kept = sync(project, task, &Actor::Engine).await.map(|_| ());
    report(project, task, kept).await
}

/// Reports a file that could not be synced, and continues.
pub(crate) async fn report(project: &Project, task: TaskId, kept: Result<(), Error>) -> Result<(), Error> {
    match kept {
        Err(error) if !error.is_of_engine() => {
            let outcome = Outcome::FileNotWritten(Failure::from(error.explain()));
            let order = Order::new(Some(task), &Actor::Engine);
            orders::give(project, order, Command::Report(outcome)).await.map(|_| ())
        }
        other => other,
    }
}

/// Syncs the file, makes one change in it, and writes it; then syncs the files that depend on its content.
pub(crate) async fn edit(
    project: &Project,
    task: TaskId,
    editor: &Actor,
    change: impl FnMut(&TaskFile) -> Result<(TaskFile, Vec<FileChange>), Error>,
) -> Result<Kept, Error> {
    edit_by(project, task, &Editing::by(editor), change).await
}

/// Who changes a file, and under which conditions.
pub(crate) struct Editing<'a> {
    actor: &'a Actor,
    key: Option<CommandKey>,
    unchanged: Option<&'a Unchanged>,
}

impl<'a> Editing<'a> {
    /// For a change that is not repeated.
    pub(crate) fn by(actor: &'a Actor) -> Self {
        Editing { actor, key: None, unchanged: None }
    }

    /// For a request that may be repeated under its id.
    pub(crate) fn of(caller: &'a Caller, request: &impl Serialize) -> Self {
        let (key, unchanged) = (round::key(caller, request), caller.unchanged.as_ref());
        Editing { key, unchanged, ..Editing::by(&caller.actor) }
    }
}

/// Does what [`edit`] does for a command that has an id: if it is given twice, the change is made once.
pub(crate) async fn edit_by(
    project: &Project,
    task: TaskId,
    by: &Editing<'_>,
    change: impl FnMut(&TaskFile) -> Result<(TaskFile, Vec<FileChange>), Error>,
) -> Result<Kept, Error> {
    let before = orders::get_task(project, task).await?.memory.output;
    let kept = edit_one(project, task, by, change).await?;
    if orders::get_task(project, task).await?.memory.output != before {
        for dependent in orders::load_dependents(project, task).await? {
            let engine = Editing::by(&Actor::Engine);
            edit_one(project, dependent, &engine, |file| Ok((file.clone(), Vec::new()))).await?;
        }
    }
    Ok(kept)
}

async fn edit_one(
    project: &Project,
    task: TaskId,
    by: &Editing<'_>,
    mut change: impl FnMut(&TaskFile) -> Result<(TaskFile, Vec<FileChange>), Error>,
) -> Result<Kept, Error> {
    let _lock = lock::take(project, task).await?;
    let path = private_folder::settle(project, task).await?;
    let until = Instant::now() + settled::PATIENCE;
    let mut is_changed = false;
    for round in 0..ROUNDS_MAX {
        let head = project.store().head().await?;
        let (found, version) = orders::get_task_at(project, task).await?;
        let text = orders::load_file(project, task).await?.state;
        let until = (round < ROUNDS_PATIENT).then_some(until);
        let Some(seen) = look(project, &found, &text, &path, until).await? else { continue };
        let newest = text.newest.as_ref().map(|version| TaskFile::parse(version.text.clone()));
        let base = newest.unwrap_or_else(|| desired::render(project, &found));
        let (mut wanted, mut changes) = desired::bring_in_line(project, &found, &base).await?;
        if !is_changed {
            let (changed, more) = change(&wanted)?;
            wanted = changed;
            changes.extend(more);
        }
        let is_new = text.newest.as_ref().is_none_or(|newest| newest.text != wanted.text());
        if is_new || !changes.is_empty() {
            let steps = [(wanted.text(), Origin::Engine)];
            let mut order = Order::new(Some(task), by.actor);
            if !is_changed {
                (order.key, order.unchanged) = (by.key.clone(), by.unchanged.cloned());
            }
            is_changed = record(project, order, &text, &steps, changes).await? || is_changed;
            continue;
        }
        is_changed = true;
        let at = (version, head);
        if let Some(is_settled) = write(project, &found, text, &path, (&seen, at), until).await? {
            return Ok(Kept { file: wanted, is_settled });
        }
    }
    Err(Error::Contended { tries: ROUNDS_MAX })
}

/// What is on the disk once the log has all of it.
struct Surroundings {
    /// Whether there is a file.
    is_there: bool,
    /// Whether nobody is in the middle of writing to it, or to what was displaced.
    is_settled: bool,
}

/// Looks at the file and at what is beside it; returns nothing if the log learnt something from that. An
/// impatient caller only checks whether the file exists.
async fn look(
    project: &Project,
    task: &Task,
    text: &FileText,
    path: &Path,
    until: Option<Instant>,
) -> Result<Option<Surroundings>, Error> {
    let Some(until) = until else {
        return Ok(Some(Surroundings {
            is_there: std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file()),
            is_settled: false,
        }));
    };
    let beside = left_over::take_in(project, task, text, path, until).await?;
    let Taken::Nothing { is_any_open } = beside else { return Ok(None) };
    let (root, before) = (place::root(project), before(text));
    let file = settled::Watched { root: &root, path, before };
    let on_disk = file.read_unless_known(until, |digest| is_current(text, digest)).await?;
    if on_disk == Look::Odd {
        set_aside(project, task.id, path, Aside::NoFile).await?;
        return Ok(None);
    }
    if let Look::Whole(whole) = &on_disk
        && take_in(project, task, text, whole, path).await?
    {
        return Ok(None);
    }
    let is_settled = !is_any_open && on_disk != Look::Unfinished;
    Ok(Some(Surroundings { is_there: on_disk != Look::Missing, is_settled }))
}

/// Returns the version that an edit is based on.
fn before(text: &FileText) -> &str {
    let known = text.on_disk.as_ref().or(text.newest.as_ref());
    known.map_or("", |version| version.text.as_str())
}

/// Tells whether this is the newest version, or the one known to be on the disk.
fn is_current(text: &FileText, digest: &str) -> bool {
    let is = |version: &Option<FileVersion>| version.as_ref().is_some_and(|version| version.digest == digest);
    is(&text.on_disk) || is(&text.newest)
}

/// Takes what is on the disk into the log, if the log does not have it; tells whether it did anything.
async fn take_in(
    project: &Project,
    task: &Task,
    text: &FileText,
    whole: &Whole,
    path: &Path,
) -> Result<bool, Error> {
    if text.on_disk.as_ref().is_some_and(|version| version.digest == whole.digest) {
        return Ok(false);
    }
    if is_current(text, &whole.digest) {
        confirm(project, task.id, &whole.digest).await?;
        return Ok(true);
    }
    let Ok(theirs) = std::str::from_utf8(&whole.bytes) else {
        set_aside(project, task.id, path, Aside::NoText).await?;
        return Ok(true);
    };
    // What was there before the task's first version is not an edit of it.
    let damage = match text.newest {
        Some(_) => find_damage(&TaskFile::parse(before(text)), &TaskFile::parse(theirs)),
        // It was imported from the very place where its file belongs.
        None if task.source.as_ref().is_some_and(|source| source.digest == whole.digest) => None,
        None => Some(Damage::Foreign),
    };
    if let Some(damage) = damage {
        set_aside(project, task.id, path, Aside::Damaged(damage)).await?;
        return Ok(true);
    }
    let base = text.on_disk.as_ref().map_or("", |version| version.text.as_str());
    take_edit(project, task, text, base, theirs, Origin::Edit).await?;
    Ok(true)
}

/// Records an edit of a version; if another change of the same version exists, both are merged, in one
/// append.
async fn take_edit(
    project: &Project,
    task: &Task,
    text: &FileText,
    base: &str,
    theirs: &str,
    origin: Origin,
) -> Result<(), Error> {
    let ours = text.newest.as_ref().map_or("", |version| version.text.as_str());
    let mut changes = changes::between(&TaskFile::parse(base), &TaskFile::parse(theirs));
    if text.newest.is_none() {
        changes.splice(0..0, changes::archived_of(&TaskFile::parse(base), &TaskFile::parse(theirs)));
    }
    let merged = if ours == base { None } else { Some(merge(base, ours, theirs)) };
    let mut steps = vec![(theirs, origin)];
    if let Some(merged) = &merged {
        let kept =
            |conflict: &regatta_files::Conflict| FileChange::Conflicted { section: conflict.part.clone() };
        changes.extend(merged.conflicts.iter().map(kept));
        steps.push((&merged.text, Origin::Engine));
    }
    let editor = editor_of(task);
    record(project, Order::new(Some(task.id), &editor), text, &steps, changes).await.map(|_| ())
}

/// A change found while an agent works on the task is attributed to the agent.
fn editor_of(task: &Task) -> Actor {
    match task.agent() {
        Some(agent) if task.agent_state().is_working() => Actor::Agent(agent.clone()),
        _ => Actor::Unknown,
    }
}

/// Records versions of the file; tells whether they are in the log, or another append came first.
async fn record(
    project: &Project,
    order: Order<'_>,
    text: &FileText,
    versions: &[(&str, Origin)],
    changes: Vec<FileChange>,
) -> Result<bool, Error> {
    let mut before = text.newest.as_ref().map_or("", |version| version.text.as_str());
    let mut steps = Vec::new();
    for (version, origin) in versions {
        let digest = digest_of(version.as_bytes());
        steps.push(EditStep { digest, splice: Splice::between(before, version), origin: *origin });
        before = version;
    }
    let base = text.newest.as_ref().map(|version| version.digest.clone());
    match orders::give(project, order, Command::Edit(Edit { base, steps, changes })).await {
        Ok(_) => Ok(true),
        Err(Error::FileMoved { .. }) => Ok(false),
        Err(other) => Err(other),
    }
}

/// Writes the newest version to the disk, unless it is there already, and looks at what was displaced.
/// Returns whether all of it is settled, or nothing if the log learnt something.
async fn write(
    project: &Project,
    task: &Task,
    text: FileText,
    path: &Path,
    (seen, at): (&Surroundings, (Version, Seq)),
    until: Option<Instant>,
) -> Result<Option<bool>, Error> {
    let Some(newest) = text.newest else { return Ok(None) };
    let known = text.on_disk.as_ref().map(|version| version.digest.as_str());
    if known == Some(newest.digest.as_str()) && seen.is_there {
        return Ok(Some(seen.is_settled));
    }
    crash::point("write_file.before");
    let (label, base) = (place::label(task.id), place::base_name(known));
    let prepared = exchange::prepare(path, newest.text.as_bytes(), &label, base).map_err(Error::StateFile)?;
    crash::point("write_file.prepared");
    prepared.land().map_err(Error::StateFile)?;
    crash::point("write_file.exchanged");
    let line = lines::of_written(project, task.id, path, &newest.digest, at);
    confirm_with(project, task.id, &newest.digest, line).await?;
    crash::point("write_file.after");
    let Some(until) = until else { return Ok(Some(false)) };
    let text = FileText { on_disk: Some(newest.clone()), newest: Some(newest) };
    Ok(match left_over::take_in(project, task, &text, path, until).await? {
        Taken::Nothing { is_any_open } => Some(seen.is_settled && !is_any_open),
        Taken::Something => None,
    })
}

async fn confirm(project: &Project, task: TaskId, digest: &str) -> Result<(), Error> {
    confirm_with(project, task, digest, None).await
}

async fn confirm_with(
    project: &Project,
    task: TaskId,
    digest: &str,
    beside: Option<Beside>,
) -> Result<(), Error> {
    let outcome = Outcome::FileWritten { digest: digest.to_owned() };
    let order = Order { beside, ..Order::new(Some(task), &Actor::Engine) };
    orders::give(project, order, Command::Report(outcome)).await.map(|_| ())
}

/// Why something in the place of a task file is not a version of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aside {
    /// It is not a file, or too large.
    NoFile,
    /// It is not text.
    NoText,
    /// It is a damaged version, or the file of another task.
    Damaged(Damage),
}

impl Aside {
    fn explain(self, path: &Path) -> String {
        match self {
            Aside::NoFile if path.is_symlink() => {
                let target = std::fs::read_link(path).unwrap_or_default();
                return format!("it was a link to {}, which was not followed", target.display());
            }
            Aside::NoFile => "it was not a regular file, or larger than 16 MiB",
            Aside::NoText => "it is not valid UTF-8 text",
            Aside::Damaged(damage) => name_damage(damage),
        }
        .to_owned()
    }
}

pub(crate) fn name_damage(damage: Damage) -> &'static str {
    match damage {
        Damage::Empty => "it was emptied",
        Damage::Cut => "its last sections are missing",
        Damage::Unlike => "it has none of the sections of a task file",
        Damage::Foreign => "it is the file of another task or project",
    }
}

/// Moves aside what is not a version of the file, so that nothing is lost, under a name that shows which task
/// file it was.
async fn set_aside(project: &Project, task: TaskId, path: &Path, aside: Aside) -> Result<(), Error> {
    let why = aside.explain(path);
    let names = place::corrupt_paths(&place::beside(project, task, path));
    let kept = exchange::set_aside(path, names).map_err(Error::StateFile)?;
    let shown = kept.display().to_string();
    let failure = Failure::from(explain_set_aside(task, &shown, why));
    let outcome = Outcome::FileCorrupt { kept: shown, failure };
    orders::give(project, Order::new(Some(task), &Actor::Engine), Command::Report(outcome)).await.map(|_| ())
}

fn digest_of(bytes: &[u8]) -> String {
    disk::Digest::of(bytes).as_str().to_owned()
}

/// Explains that what was in the place of a task file was not a version of it, and was moved aside.
fn explain_set_aside(task: TaskId, kept: &str, why: String) -> Problem {
    Problem::new(
        Code::StateCorrupt,
        format!("the file of task #{task} was not read"),
        why,
        format!(
            "the file was rebuilt from the log; what was found is kept as {kept}: copy what is \
                     missing from there"
        ),
    )
    .with("kept", kept)
}
