//! Takes what somebody wrote to the files of a run into the log, before the files are written and before a prompt is made.
//!
//! ```text
//!   file ─▶ is it what we wrote last? ─▶ what was changed? ─▶ event ─▶ keep it beside the file, if need be ─▶ memory
//! ```
//!
//! The caller has the lock of the family. A process may be killed anywhere: the run knows the last edit of each file by the
//! version that it was made on and its digest, so the same edit is not taken in twice, and the next look keeps what the event
//! says is kept. The memory comes last; from then on the text is one of ours, and the writer may replace it.

use crate::commands::run_edits;
use crate::commands::run_orders::get_run;
use crate::core::run::{EditContent, EditMark, FoundEdit, KeptEdit, Run};
use crate::core::{Code, RunId};
use crate::crash;
use crate::error::Error;
use crate::project::Project;
use crate::run_files::found::{self, Found};
use crate::run_files::kept;
use crate::run_files::memory::{FileMemory, Memory, Version};
use crate::run_files::place::{self, Located};
use crate::runs::driver::find_within;
use crate::task_files::lock;
use regatta_flow::{Content, StateFile, Workflow};
use std::collections::BTreeSet;

/// What a look at the files of runs came to, by run and number of the file.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// Those that do not say what they should any more.
    pub(super) rewrite: BTreeSet<(RunId, usize)>,
    /// Those that somebody is in the middle of writing; they are not replaced now.
    pub(super) busy: BTreeSet<(RunId, usize)>,
}

/// Takes in what somebody wrote to the files of a run before its prompt is made; tells whether the run has changed by that.
pub(crate) async fn read_before_prompt(project: &Project, run: &Run) -> Result<bool, Error> {
    if run.files.is_empty() {
        return Ok(false);
    }
    let glances = &project.run_files().glances;
    let is_of_run = |id: RunId| id == run.id;
    if glances.runs().contains(&run.id) && glances.find_changed(is_of_run).is_empty() {
        return Ok(false);
    }
    let root = project.families().find_root(project, run.id).await?;
    let _lock = lock::take_file(&place::guard_path(project, root)).await?;
    let definition = project.definitions().get(project, &run.digest).await?;
    // As it is now: another process may have taken the edit in.
    let now = get_run(project, run.id).await?;
    let mut looked = Looked::default();
    take_in(project, &now, find_within(&definition, &run.within), &mut looked).await?;
    Ok(get_run(project, run.id).await?.edits.count != run.edits.count)
}

/// Takes in what somebody wrote to the files of a family. Only the runs are looked at whose files look different, or that this
/// process does not know.
pub(super) async fn take_in_family(project: &Project, root: RunId) -> Result<Looked, Error> {
    let glances = &project.run_files().glances;
    let mut looked = Looked::default();
    let candidates: Vec<(RunId, bool)> = {
        let mut held = project.families().enter(project, root).await?;
        let runs = held.family().known.runs().filter(|run| !run.files.is_empty());
        let seen = glances.runs();
        runs.map(|run| (run.id, !run.edits.kept.is_empty() || !(run.is_over() || seen.contains(&run.id))))
            .collect()
    };
    let changed = glances.find_changed(|run| candidates.iter().any(|(id, _)| *id == run));
    for (id, _) in candidates.into_iter().filter(|(id, is_due)| *is_due || changed.contains(id)) {
        let run = get_run(project, id).await?;
        let definition = project.definitions().get(project, &run.digest).await?;
        match take_in(project, &run, find_within(&definition, &run.within), &mut looked).await {
            // What is wrong with the disk is said by the writer.
            Err(error) if !error.is_of_engine() => {}
            other => other?,
        }
    }
    Ok(looked)
}

/// Takes in what somebody wrote to the files of a run. One that cannot be read is left for the next look.
pub(super) async fn take_in(
    project: &Project,
    run: &Run,
    workflow: &Workflow,
    looked: &mut Looked,
) -> Result<(), Error> {
    let Some(mut memory) = Memory::load(project, run.id) else { return Ok(()) };
    keep_overtaken(project, run, &mut memory)?;
    for (number, file) in workflow.files.iter().enumerate() {
        let Some(path) = run.files.get(&file.name) else { continue };
        let remembered = memory.files.get(&file.name).cloned().unwrap_or_default();
        let written = remembered.written.as_ref().or(remembered.begun.as_ref()).cloned();
        // Nobody can have edited what was never written; the lines behind a long list stay where they are.
        let Some(written) = written.filter(|version| version.stamp.is_none() && !remembered.is_inherited)
        else {
            continue;
        };
        let one = One { project, run, file, number, located: place::locate(project, path) };
        let glances = &project.run_files().glances;
        // What a run had that has ended may be another's by now.
        let is_own = !run.is_over() || glances.find_run(&one.located.path) == Some(run.id);
        if !is_own || glances.is_unchanged(&one.located) {
            continue;
        }
        one.look(&mut memory, &remembered, &written, looked).await?;
    }
    Ok(())
}

/// A file that is looked at.
struct One<'a> {
    project: &'a Project,
    run: &'a Run,
    file: &'a StateFile,
    number: usize,
    located: Located,
}

impl One<'_> {
    async fn look(
        &self,
        memory: &mut Memory,
        remembered: &FileMemory,
        written: &Version,
        looked: &mut Looked,
    ) -> Result<(), Error> {
        let glances = &self.project.run_files().glances;
        let place = (self.run.id, self.number);
        let found = found::look(&self.located, remembered).await?;
        let path = place::tell(self.project, &self.located.path);
        match found {
            Found::Ours => {
                // Which of the two it is, is not known after a crash.
                if remembered.begun.is_none() {
                    let digest = written.digest.as_deref();
                    glances.note(&self.located, (self.run.id, self.run.is_over()), digest);
                }
            }
            Found::Missing => drop(looked.rewrite.insert(place)),
            Found::Unfinished => drop(looked.busy.insert(place)),
            Found::Odd { digest } => {
                let why = "it is not a regular file, or larger than 16 MiB".to_owned();
                let content = EditContent::Unusable(found::unusable(Code::StateCorrupt, &path, why));
                let mark = self.mark(path, written, digest);
                for kept in self.record(mark, content).await? {
                    kept::move_odd(&self.located, &kept.kept)?;
                    memory.kept.insert(kept.kept);
                }
                memory.save(self.project, self.run.id)?;
                looked.rewrite.insert(place);
            }
            Found::Theirs { bytes, digest } => {
                let Some(content) = found::read_edit(self.file, &path, written, &bytes) else {
                    return Ok(());
                };
                let mark = self.mark(path, written, digest.clone());
                let kept = self.record(mark, content).await?;
                for kept in &kept {
                    kept::keep_file(&self.located, &kept.kept, &bytes)?;
                    memory.kept.insert(kept.kept.clone());
                }
                crash::point("run_edit.kept");
                let is_refused = kept.iter().any(|kept| kept.error.code != Code::EditConflict);
                let version = self.version(written, (digest, &bytes), is_refused).await?;
                let remembered = memory.files.entry(self.file.name.clone()).or_default();
                (remembered.written, remembered.begun) = (Some(version), None);
                memory.save(self.project, self.run.id)?;
                crash::point("run_edit.after");
                looked.rewrite.insert(place);
            }
        }
        Ok(())
    }

    fn mark(&self, path: String, written: &Version, digest: String) -> EditMark {
        EditMark { file: self.file.name.clone(), path, written: written.seq, digest }
    }

    /// Gives the run an edit, and returns what has to be kept of it; also if a process that was killed had given it.
    async fn record(&self, mark: EditMark, content: EditContent) -> Result<Vec<KeptEdit>, Error> {
        crash::point("run_edit.before");
        run_edits::give(self.project, self.run.id, FoundEdit { mark: mark.clone(), content }).await?;
        crash::point("run_edit.recorded");
        let kept = get_run(self.project, self.run.id).await?.edits.kept;
        Ok(kept.into_iter().filter(|kept| kept.mark == mark).collect())
    }

    /// Returns what is remembered of a text that is in the log now, or that is kept beside the file.
    async fn version(
        &self,
        written: &Version,
        (digest, bytes): (String, &[u8]),
        is_refused: bool,
    ) -> Result<Version, Error> {
        let (digest, length) = (Some(digest), bytes.len() as u64);
        // The writer must not take it for the first items of the list: the run may have added others meanwhile.
        let items = if let Content::Append { .. } = self.file.content { usize::MAX } else { 0 };
        if is_refused {
            // The next edit is still compared with what we wrote.
            return Ok(Version { digest, bytes: length, items, ..written.clone() });
        }
        let is_place = matches!(self.file.content, Content::Place { .. });
        let text = is_place.then(|| String::from_utf8_lossy(bytes).into_owned());
        let seq = self.project.store().head().await?.0;
        Ok(Version { digest, seq, text, items, bytes: length, stamp: None })
    }
}

/// Keeps the documents as they were before steps replaced what somebody had edited. The files still say so, because they are
/// written after this.
fn keep_overtaken(project: &Project, run: &Run, memory: &mut Memory) -> Result<(), Error> {
    let names: BTreeSet<&String> = run.edits.kept.iter().map(|kept| &kept.kept).collect();
    let before = memory.clone();
    memory.kept.retain(|name| names.contains(name));
    for kept in &run.edits.kept {
        let Some(written) = find_overtaken(memory, kept) else { continue };
        if let (Some(path), Some(text)) = (run.files.get(&kept.mark.file), &written.text) {
            kept::keep_text(&place::locate(project, path), &kept.kept, text)?;
        }
        memory.kept.insert(kept.kept.clone());
    }
    if *memory != before {
        memory.save(project, run.id)?;
    }
    Ok(())
}

/// Tells whether a document has to be kept before the files of a run are written.
pub(super) fn has_overtaken(project: &Project, run: &Run) -> bool {
    let Some(memory) = Memory::load(project, run.id).filter(|_| !run.edits.kept.is_empty()) else {
        return false;
    };
    run.edits.kept.iter().any(|kept| find_overtaken(&memory, kept).is_some())
}

/// Returns what was written with an edit that a step overtook. One that was in conflict when it was found is kept as it was
/// found, and was made on the version that is still the last one.
fn find_overtaken<'m>(memory: &'m Memory, kept: &KeptEdit) -> Option<&'m Version> {
    let is_due = kept.error.code == Code::EditConflict && !memory.kept.contains(&kept.kept);
    let written = memory.files.get(&kept.mark.file)?.written.as_ref()?;
    (is_due && written.seq > kept.mark.written).then_some(written)
}
