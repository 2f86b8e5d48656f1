//! What is shown of the files of a run.

use crate::commands::run_orders::get_run;
use crate::core::run::{KeptEdit, Run};
use crate::core::{Failure, RunId};
use crate::error::Error;
use crate::project::Project;
use crate::run_files::kept;
use crate::run_files::memory::Memory;
use crate::run_files::place;
use serde::Serialize;

/// A file of a run as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunFileView {
    /// Its name in the workflow.
    pub name: String,
    /// Where it is, from the project's root.
    pub path: String,
    /// Why its newest value was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// The edits of it that were not taken in, and are still kept beside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptEditView>,
}

/// An edit that is kept beside a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptEditView {
    /// Where it is, from the project's root.
    pub path: String,
    /// The step at which it came, or was overtaken.
    pub step: u64,
    /// Why it was not taken in.
    pub error: Failure,
}

impl From<KeptEdit> for KeptEditView {
    fn from(edit: KeptEdit) -> Self {
        KeptEditView { path: edit.kept, step: edit.step, error: edit.error }
    }
}

/// Lists the files of a run.
pub(crate) fn show(project: &Project, run: &Run) -> Vec<RunFileView> {
    if run.files.is_empty() {
        return Vec::new();
    }
    let memory = Memory::load(project, run.id).unwrap_or_default();
    let edits = kept::list(project, run);
    let view = |(name, path): (&String, &String)| {
        let path = place::tell(project, &place::locate(project, path).path);
        let error = memory.files.get(name).and_then(|file| file.fault.clone());
        let of_file = edits.iter().filter(|edit| edit.mark.file == *name);
        let kept = of_file.cloned().map(KeptEditView::from).collect();
        RunFileView { name: name.clone(), path, error, kept }
    };
    run.files.iter().map(view).collect()
}

/// Lists the edits of files of any run that were not taken in, and are still kept beside them.
pub(crate) async fn find_kept(project: &Project) -> Result<Vec<KeptEditView>, Error> {
    let mut found = Vec::new();
    for run in Memory::list(project) {
        let run = get_run(project, run).await?;
        found.extend(kept::list(project, &run).into_iter().map(KeptEditView::from));
    }
    Ok(found)
}

/// Lists why files of runs were not written.
pub(crate) fn find_errors(project: &Project) -> Vec<(RunId, String, Failure)> {
    let mut found = Vec::new();
    for run in Memory::list(project) {
        let files = Memory::load(project, run).unwrap_or_default().files;
        found.extend(files.into_iter().filter_map(|(name, file)| Some((run, name, file.fault?))));
    }
    found
}
