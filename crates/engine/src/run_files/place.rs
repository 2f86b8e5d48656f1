//! Where the files of runs are, and what belongs to them.

use crate::core::RunId;
use crate::project::Project;
use crate::project::location::FOLDER;
use crate::task_files::place::known_root;
use std::path::{Path, PathBuf};

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    /// The folder below which no link is followed.
    pub(crate) root: PathBuf,
    /// The file.
    pub(crate) path: PathBuf,
}

/// Finds where a file of a run is. `file` is its folder and path, as the run's first event has them.
pub(crate) fn locate(project: &Project, file: &str) -> Located {
    let folders = &project.config().folders;
    let below = |(name, to): (&String, &PathBuf)| {
        let rest = file.strip_prefix(name.as_str())?.strip_prefix('/')?;
        Some((to.clone(), rest.to_owned(), name.len()))
    };
    match folders.iter().filter_map(below).max_by_key(|(_, _, length)| *length) {
        Some((to, rest, _)) => Located { root: known_root(project, &to), path: project.place(to).join(rest) },
        None => Located { root: project.root().to_owned(), path: project.root().join(FOLDER).join(file) },
    }
}

/// Returns a path as people see it: from the project's root, if it is below it.
pub(crate) fn tell(project: &Project, path: &Path) -> String {
    path.strip_prefix(project.root()).unwrap_or(path).display().to_string()
}

/// Returns the folder of what is remembered of the files of runs.
pub(crate) fn memories(project: &Project) -> PathBuf {
    project.location().home.join("run-files")
}

/// Returns the file whose lock keeps two processes of ours apart; it is never removed.
pub(crate) fn guard_path(project: &Project, root: RunId) -> PathBuf {
    project.location().guards().join(format!("run-{root}"))
}

/// Returns the part of the names of what is beside a file that says whose it is: the run, and which of its files.
pub(crate) fn label(run: RunId, number: usize) -> String {
    format!("run-{run}.{number}")
}
