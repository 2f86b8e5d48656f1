//! What is shown of the files of a run.

use crate::core::run::Run;
use crate::core::{Failure, RunId};
use crate::project::Project;
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
}

/// Lists the files of a run.
pub(crate) fn show(project: &Project, run: &Run) -> Vec<RunFileView> {
    if run.files.is_empty() {
        return Vec::new();
    }
    let memory = Memory::load(project, run.id).unwrap_or_default();
    let view = |(name, path): (&String, &String)| {
        let path = place::tell(project, &place::locate(project, path).path);
        let error = memory.files.get(name).and_then(|file| file.fault.clone());
        RunFileView { name: name.clone(), path, error }
    };
    run.files.iter().map(view).collect()
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
