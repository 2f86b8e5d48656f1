//! Brings the files of a family of runs up to date, for one process at a time.

use crate::commands::run_orders::get_run;
use crate::core::run::Run;
use crate::core::{Code, Failure, RunId};
use crate::error::Error;
use crate::log::{self, PathOwner, Stream};
use crate::project::Project;
use crate::run_files::edits;
use crate::run_files::evaluate::{self, Due, Question, Seen};
use crate::run_files::glance::Glances;
use crate::run_files::memory::{FileMemory, Memory, Version};
use crate::run_files::target::{Next, Target};
use crate::run_files::{append, aside, content, content::Wanted, place, write};
use crate::task_files::lock;
use regatta_flow::Workflow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// With more families than this, those that nobody uses are dropped, and looked at as a whole the next time.
const FAMILIES_MAX: usize = 64;

/// What this process has evaluated, by the outermost run of a family.
#[derive(Default)]
pub(crate) struct RunFiles {
    /// How the files looked when they were read last.
    pub(super) glances: Glances,
    families: Mutex<HashMap<RunId, Arc<tokio::sync::Mutex<Option<Seen>>>>>,
    /// Whether a run or one below it can have files, by the outermost run.
    have_files: Mutex<HashMap<RunId, bool>>,
}

/// Which files of a family are brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Those whose values may have changed, of all runs of the family.
    Changed,
    /// Those of one run.
    Run(RunId),
    /// All files of all runs, compared with the disk.
    Everything,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Brought {
    /// Whether a file could not be written, and is tried again.
    pub(crate) is_owed: bool,
    /// Whether the outermost run has ended.
    pub(crate) is_over: bool,
    /// Whether there are no files, and never will be.
    pub(crate) is_without: bool,
}

impl RunFiles {
    fn enter(&self, root: RunId) -> Arc<tokio::sync::Mutex<Option<Seen>>> {
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        if families.len() >= FAMILIES_MAX && !families.contains_key(&root) {
            families.retain(|_, seen| Arc::strong_count(seen) > 1);
        }
        Arc::clone(families.entry(root).or_default())
    }
}

/// Whether the runs of a family can have files, which is found once.
async fn may_have_files(project: &Project, root: RunId) -> Result<bool, Error> {
    let have_files = &project.run_files().have_files;
    let known = have_files.lock().unwrap_or_else(PoisonError::into_inner).get(&root).copied();
    if let Some(known) = known {
        return Ok(known);
    }
    let digest = get_run(project, root).await?.digest;
    let found = has_files(&*project.definitions().get(project, &digest).await?);
    have_files.lock().unwrap_or_else(PoisonError::into_inner).insert(root, found);
    Ok(found)
}

/// Whether a workflow or one of its children has files.
fn has_files(workflow: &Workflow) -> bool {
    !workflow.files.is_empty() || workflow.children.values().any(has_files)
}

/// Writes the files of a run before its first step, if nobody has yet.
pub(crate) async fn ensure_first(project: &Project, run: &Run) {
    if !run.files.is_empty() && !Memory::is_there(project, run.id) {
        // What fails is shown with the run, and tried again by the engine.
        let _ = bring_up_to_date(project, run.id, Ask::Run(run.id)).await;
    }
}

/// Brings the files of a run that rests up to date before anybody learns that it rests.
pub(crate) async fn settle(project: &Project, run: RunId) {
    let _ = bring_up_to_date(project, run, Ask::Changed).await;
}

/// Brings files of the family of a run up to date. A file that fails stops no other.
pub(crate) async fn bring_up_to_date(project: &Project, run: RunId, ask: Ask) -> Result<Brought, Error> {
    let families = project.families();
    let root = families.find_root(project, run).await?;
    if !may_have_files(project, root).await? {
        return Ok(Brought { is_without: true, ..Brought::default() });
    }
    let seen = project.run_files().enter(root);
    let mut seen = seen.lock().await;
    let _lock = lock::take_file(&place::guard_path(project, root)).await?;
    let looked = edits::take_in_family(project, root).await?;
    // Read under the lock: nobody writes what is older than what this writes.
    let mut held = families.enter(project, root).await?;
    let known = &held.family().known;
    let is_over = known.find_run(root).is_some_and(Run::is_over);
    let mut before = seen.take().unwrap_or_default();
    looked.rewrite.iter().for_each(|(run, number)| before.forget(*run, *number));
    // A step may have come since: what it overtook is kept before it is replaced.
    let overtaken: Vec<RunId> =
        known.runs().filter(|run| edits::has_overtaken(project, run)).map(|run| run.id).collect();
    let unseen = known.runs().filter(|run| run.is_over() && !run.files.is_empty() && !before.knows(run.id));
    let is_finished = |run: &RunId| Memory::load(project, *run).is_some_and(|memory| memory.is_over);
    let finished: Vec<RunId> = unseen.map(|run| run.id).filter(is_finished).collect();
    let asked = if let Ask::Run(run) = ask { Some(run) } else { None };
    let question = Question { run: asked, all: ask == Ask::Everything, finished };
    let (seq, due, mut after) = evaluate::evaluate(held, before, question).await?;
    let mut brought = Brought { is_over, ..Brought::default() };
    for mut due in due {
        let run = due.run;
        let is_put_off = |number: usize| overtaken.contains(&run) || looked.busy.contains(&(run, number));
        for file in due.files.iter().filter(|file| is_put_off(file.number)) {
            after.forget(run, file.number);
            brought.is_owed = true;
        }
        due.files.retain(|file| !is_put_off(file.number));
        let known = Memory::load(project, run);
        if due.is_over || known.is_none() {
            let owners = load_owners(project, &due).await?;
            // The file of a run that has ended may be another's by now.
            due.files.retain(|file| owners.get(&file.path).is_none_or(|owner| owner.run == Some(run)));
            if known.is_none() {
                inherit(project, &due, &owners).await?.save(project, run)?;
            }
        }
        for number in write_run(project, &due, seq) {
            after.forget(run, number);
            brought.is_owed = true;
        }
    }
    *seen = Some(after);
    Ok(brought)
}

/// Finds who has the paths of files.
async fn load_owners(project: &Project, due: &Due) -> Result<HashMap<String, PathOwner>, Error> {
    let mut owners = HashMap::new();
    for file in &due.files {
        let owner: Stream<PathOwner> = Stream::load(project, log::path_stream(&file.path)).await?;
        owners.insert(file.path.clone(), owner.state);
    }
    Ok(owners)
}

/// What the run that had a path before wrote there is no edit.
async fn inherit(project: &Project, due: &Due, owners: &HashMap<String, PathOwner>) -> Result<Memory, Error> {
    let mut memory = Memory::default();
    for file in &due.files {
        let Some(before) = owners.get(&file.path).and_then(|owner| owner.before) else { continue };
        let of_other = get_run(project, before).await?.files;
        let name = of_other.iter().find(|(_, path)| **path == file.path).map(|(name, _)| name.clone());
        let left = Memory::load(project, before).unwrap_or_default();
        if let Some(FileMemory { written, begun, .. }) = name.and_then(|name| left.files.get(&name).cloned())
        {
            // None of its items is ours, and no edit is compared with it.
            let stripped = |version: Version| Version { text: None, ..version };
            let (written, begun) = (written.map(stripped), begun.map(stripped));
            let is_inherited = true;
            let inherited = FileMemory { written, begun, is_inherited, fault: None };
            memory.files.insert(due.file(file.number).name.clone(), inherited);
        }
    }
    Ok(memory)
}

/// Writes the files of a run; returns those that have to be tried again.
fn write_run(project: &Project, due: &Due, seq: u64) -> Vec<usize> {
    let run = due.run;
    let known = Memory::load(project, run);
    let mut memory = known.clone().unwrap_or_default();
    let mut owed = Vec::new();
    let mut steps = Vec::new();
    for file in &due.files {
        let of = due.file(file.number);
        let located = place::locate(project, &file.path);
        let target = Target { run, number: file.number, located, seq };
        let remembered = memory.files.entry(of.name.clone()).or_default();
        let prepared = content::make(of, file.value.clone()).map_err(|fault| fault.explain(run, &of.name));
        let prepared = prepared.and_then(|wanted| {
            aside::clean_up(&target, remembered).map_err(failure)?;
            match wanted {
                Wanted::Nothing => write::prepare_removal(&target, remembered).map_err(failure),
                Wanted::Document { text, is_place } => {
                    write::prepare(&target, remembered, &text, is_place).map_err(failure)
                }
                Wanted::Items(items) => append::prepare(&target, remembered, of, &items),
            }
        });
        match prepared {
            Ok(next) => {
                remembered.fault = None;
                match next {
                    Next::Nothing => {}
                    Next::Do(step) => steps.push((file.number, of.name.clone(), target, step)),
                    Next::Later => owed.push(file.number),
                }
            }
            Err(fault) => {
                let is_of_disk = !is_of_value(&fault);
                remembered.fault = Some(fault);
                owed.extend(is_of_disk.then_some(file.number));
            }
        }
    }
    memory.is_over = due.is_over && owed.is_empty();
    // Before anything is written: a crash in between must not make an edit of what we wrote.
    if known.as_ref() != Some(&memory) && memory.save(project, run).is_err() {
        return due.files.iter().map(|file| file.number).collect();
    }
    let had_steps = !steps.is_empty();
    for (number, name, target, step) in steps {
        let remembered = memory.files.entry(name).or_default();
        if let Err(error) = step.perform(&target, remembered) {
            remembered.fault = Some(failure(error));
            memory.is_over = false;
            owed.push(number);
        }
    }
    if had_steps && memory.save(project, run).is_err() {
        return due.files.iter().map(|file| file.number).collect();
    }
    for file in &due.files {
        let remembered = memory.files.get(&due.file(file.number).name);
        if let Some(digest) = remembered.and_then(|file| file.written.as_ref()?.digest.as_deref()) {
            let located = place::locate(project, &file.path);
            project.run_files().glances.note(&located, (run, due.is_over), Some(digest));
        }
    }
    owed
}

/// Whether an error follows from the value of a file, so that only another value helps.
fn is_of_value(fault: &Failure) -> bool {
    matches!(fault.code, Code::FileValueFailed | Code::FileInvalid)
}

fn failure(error: Error) -> Failure {
    Failure::from(error.explain())
}
