//! Writes the files of a run to any folder, as they follow from the log now.

use crate::core::run::{Known, folder_of};
use crate::core::{Failure, RunId};
use crate::error::Error;
use crate::project::Project;
use crate::run_files::content::{self, Wanted};
use crate::run_files::evaluate::{Due, DueFile, Question, Seen, evaluate};
use regatta_files::{beneath, disk};
use serde::Serialize;
use std::path::Path;

/// A file that was written, or was not.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WrittenFile {
    /// The run.
    pub run: RunId,
    /// Its name in the workflow.
    pub name: String,
    /// Where it is, below the folder.
    pub path: String,
    /// Why it was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Writes the files of a run, and of the runs below it, below a folder. What is there already and differs stays.
pub async fn write_elsewhere(
    project: &Project,
    run: RunId,
    folder: &Path,
) -> Result<Vec<WrittenFile>, Error> {
    let mut held = project.families().enter(project, run).await?;
    let known = &held.family().known;
    let below: Vec<RunId> =
        known.runs().map(|member| member.id).filter(|member| is_below(known, *member, run)).collect();
    let prefix = format!("{}/", folder_of(known.definition()));
    let question = Question { run: None, all: true, finished: Vec::new() };
    let (_, due, _) = evaluate(held, Seen::default(), question).await?;
    std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let folder = &folder.canonicalize().map_err(Error::io("find", folder))?;
    let mut written = Vec::new();
    for due in due.iter().filter(|due| below.contains(&due.run)) {
        for file in &due.files {
            let path = file.path.strip_prefix(&prefix).unwrap_or(&file.path).to_owned();
            let name = due.file(file.number).name.clone();
            let error = match write(due, file, folder, &path) {
                Ok(true) => None,
                Ok(false) => continue,
                Err(failure) => Some(failure),
            };
            written.push(WrittenFile { run: due.run, name, path, error });
        }
    }
    Ok(written)
}

fn is_below(known: &Known, member: RunId, run: RunId) -> bool {
    let parent = |run: RunId| known.find_run(run)?.parent.as_ref().map(|parent| parent.run_id);
    let mut above = Some(member);
    while let Some(now) = above {
        if now == run {
            return true;
        }
        above = parent(now);
    }
    false
}

/// Writes one file; tells whether there is one.
fn write(due: &Due, file: &DueFile, folder: &Path, path: &str) -> Result<bool, Failure> {
    let of = due.file(file.number);
    let failed = |error: Error| Failure::from(error.explain());
    let explain = |fault: content::Fault| fault.explain(due.run, &of.name);
    let text = match content::make(of, file.value.clone()).map_err(explain)? {
        Wanted::Nothing => return Ok(false),
        Wanted::Document { text, .. } => text,
        Wanted::Items(items) => content::render_items(of, &items).map_err(explain)?.concat(),
    };
    // The folder itself is the caller's choice; no link is followed below it.
    let root = folder.parent().unwrap_or(folder);
    let path = folder.join(path);
    let above = path.parent().unwrap_or(folder);
    beneath::ensure_folder(root, above).map_err(Error::of_folder).map_err(failed)?;
    disk::write_new(root, &path, text.as_bytes()).map_err(Error::StateFile).map_err(failed)?;
    match disk::read_itself(root, &path).map_err(Error::StateFile).map_err(failed)? {
        disk::Itself::File(found, _) if found == text.as_bytes() => Ok(true),
        _ => Err(failed(Error::io("write", &path)(std::io::ErrorKind::AlreadyExists.into()))),
    }
}
