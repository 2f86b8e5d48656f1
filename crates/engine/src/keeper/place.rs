//! Where task files and their archives are.

use crate::core::TaskId;
use crate::project::Project;
use std::path::{Path, PathBuf};

/// Returns where the file of a task is.
pub(crate) fn file_path(project: &Project, task: TaskId) -> PathBuf {
    project.place(&project.config().task_states).join(format!("task-{task}-state.md"))
}

/// Returns the file whose lock keeps two processes of ours apart; it is never removed.
pub(super) fn guard_path(project: &Project, task: TaskId) -> PathBuf {
    project.place(&project.config().task_states).join(format!(".task-{task}.guard"))
}

/// Returns where the sessions are that were taken out of the file of a task.
pub(crate) fn archive_path(project: &Project, task: TaskId) -> PathBuf {
    project.place(&project.config().archives).join(format!("task-{task}-archive.md"))
}

/// Returns a name beside the path that is not taken.
pub(super) fn find_free_aside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let candidate = |number: u32| path.with_file_name(format!("{name}.corrupt-{number}"));
    (1..u32::MAX).map(candidate).find(|path| !path.exists()).unwrap_or_else(|| candidate(0))
}
