//! Where task files and their companions are, and what the names beside them mean.

use crate::core::TaskId;
use crate::error::Error;
use crate::project::Project;
use regatta_files::beneath;
use regatta_files::exchange::{NAME_ENDS, UNFINISHED};
use std::path::{Component, Path, PathBuf};

/// This many characters of a digest distinguish the versions of one file.
const BASE_CHARACTERS: usize = 16;
/// Stands for the digest of a version that does not exist.
const NO_BASE: &str = "none";
/// Far more than anybody keeps; it bounds the search for a free name.
const ASIDE_MAX: u32 = 100_000;

/// Returns the folder of the task files.
pub(crate) fn folder(project: &Project) -> PathBuf {
    project.place(&project.config().task_states)
}

/// Returns the folder below which no link to the task files is followed.
pub(crate) fn root(project: &Project) -> PathBuf {
    known_root(project, &project.config().task_states)
}

/// Returns the folder below which no link to the archives is followed.
pub(crate) fn archive_root(project: &Project) -> PathBuf {
    known_root(project, &project.config().archives)
}

/// Returns the project, or the parent of a folder that the config puts elsewhere: the path up to there is the
/// user's choice.
pub(crate) fn known_root(project: &Project, configured: &Path) -> PathBuf {
    let is_below = configured.components().all(|part| matches!(part, Component::Normal(_)));
    let place = project.place(configured);
    if is_below { project.root().to_owned() } else { place.parent().unwrap_or(&place).to_owned() }
}

/// Makes the folder of the task files; a link in its place is refused.
pub(crate) fn ensure_folder(project: &Project) -> Result<(), Error> {
    beneath::ensure_folder(&root(project), &folder(project)).map_err(Error::of_folder)
}

/// Makes the folder of the archives; a link in its place is refused.
pub(crate) fn ensure_archives(project: &Project) -> Result<(), Error> {
    let folder = project.place(&project.config().archives);
    beneath::ensure_folder(&archive_root(project), &folder).map_err(Error::of_folder)
}

/// Returns where the file of a task is.
pub(crate) fn file_path(project: &Project, task: TaskId) -> PathBuf {
    folder(project).join(format!("task-{task}-state.md"))
}

/// Returns the task whose file has this name.
pub(crate) fn task_of_file(name: &str) -> Option<TaskId> {
    name.strip_prefix("task-")?.strip_suffix("-state.md")?.parse().ok()
}

/// Returns the file whose lock keeps two processes of ours apart; it is never removed.
pub(crate) fn guard_path(project: &Project, task: TaskId) -> PathBuf {
    project.location().guards().join(format!("task-{task}"))
}

/// Returns the folder that holds the file of a task alone while its agent is in a sandbox; see `private folder`.
pub(crate) fn private_folder_path(project: &Project, task: TaskId) -> PathBuf {
    folder(project).join(private_folder_name(task))
}

/// Returns the task whose private folder has this name.
pub(crate) fn task_of_private_folder(name: &str) -> Option<TaskId> {
    let task = name.strip_prefix(".task-")?.parse().ok()?;
    (private_folder_name(task) == name).then_some(task)
}

/// Returns the target of the link to a task file in its private folder.
pub(crate) fn link_target(task: TaskId) -> PathBuf {
    Path::new(&private_folder_name(task)).join(format!("task-{task}-state.md"))
}

/// Returns the task into whose private folder a link leads; nothing for anything else.
pub(crate) fn private_folder_of_link(path: &Path) -> Option<TaskId> {
    let target = std::fs::read_link(path).ok()?;
    let task = task_of_private_folder(target.parent()?.to_str()?)?;
    (link_target(task) == target).then_some(task)
}

fn private_folder_name(task: TaskId) -> String {
    format!(".task-{task}")
}

/// Returns the name of a task file beside a version of it, or in the common folder if that is in a private folder.
pub(crate) fn beside(project: &Project, task: TaskId, version: &Path) -> PathBuf {
    let path = file_path(project, task);
    if version.parent() == Some(&private_folder_path(project, task)) {
        return path;
    }
    version.with_file_name(path.file_name().unwrap_or_default())
}

/// Returns the file with the sessions that were archived from the file of a task.
pub(crate) fn archive_path(project: &Project, task: TaskId) -> PathBuf {
    project.place(&project.config().archives).join(format!("task-{task}-archive.md"))
}

/// Returns the names under which an invalid file is set aside.
pub(crate) fn corrupt_paths(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    aside(path, "corrupt")
}

/// Returns the names under which an edit of the file of a deleted task is kept.
pub(crate) fn deleted_paths(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    aside(path, "deleted")
}

/// Returns the names under which a version that could not be merged is kept.
pub(crate) fn conflict_paths(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    aside(path, "conflict")
}

/// Returns the names under which a closed private folder waits for its removal.
pub(crate) fn left_private_folders(private_folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    aside(private_folder, "left")
}

fn aside(path: &Path, why: &'static str) -> impl Iterator<Item = PathBuf> + use<> {
    let path = path.to_owned();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    (1..ASIDE_MAX).map(move |number| path.with_file_name(format!("{name}.{why}-{number}")))
}

/// Returns the part of a file name that names the task.
pub(crate) fn label(task: TaskId) -> String {
    format!("task-{task}")
}

/// Returns the part of a displaced file's name that names a version.
pub(crate) fn base_name(digest: Option<&str>) -> &str {
    digest.map_or(NO_BASE, |digest| digest.get(..BASE_CHARACTERS).unwrap_or(digest))
}

/// What the name of a file that was left beside the task files means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Left {
    /// A new version of ours that was never put in place, and may be truncated.
    Unfinished { task: TaskId },
    /// A new version of ours, or what it displaced, based on the version with this digest prefix.
    Displaced { task: TaskId, base: Base },
    /// One of the same kind, with a name that says nothing more.
    Unnamed,
}

impl Left {
    /// Returns what the name says of a displaced file with this base.
    pub(crate) fn displaced(task: TaskId, base: &str) -> Self {
        let base = if base == NO_BASE { Base::None } else { Base::Version(base.to_owned()) };
        Left::Displaced { task, base }
    }
}

/// The version that a displaced file is based on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Base {
    /// There was none.
    None,
    /// The version with this digest prefix.
    Version(String),
}

impl Base {
    /// Tells whether this is the base with the digest.
    pub(crate) fn is(&self, digest: &str) -> bool {
        matches!(self, Base::Version(begin) if digest.starts_with(begin))
    }
}

/// Parses the name of a file beside the task files; returns nothing for a file that is not ours.
pub(crate) fn parse_left(path: &Path) -> Option<Left> {
    let name = path.file_name()?.to_str()?;
    let inner = name.strip_prefix(NAME_ENDS.0)?.strip_suffix(NAME_ENDS.1)?;
    Some(parse_inner(inner).unwrap_or(Left::Unnamed))
}

/// Returns the task that the name of a file beside the task files names.
pub(crate) fn task_of_left(path: &Path) -> Option<TaskId> {
    match parse_left(path)? {
        Left::Unfinished { task } | Left::Displaced { task, .. } => Some(task),
        Left::Unnamed => None,
    }
}

fn parse_inner(inner: &str) -> Option<Left> {
    let mut parts = inner.strip_prefix("task-")?.splitn(3, '-');
    let task = parts.next()?.parse().ok()?;
    let base = parts.next()?;
    parts.next()?;
    Some(match base {
        UNFINISHED => Left::Unfinished { task },
        NO_BASE => Left::displaced(task, base),
        begin if begin.len() == BASE_CHARACTERS => Left::displaced(task, begin),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str) -> Option<Left> {
        parse_left(&Path::new("folder").join(name))
    }

    #[test]
    fn a_name_tells_the_task_and_the_base() {
        let task: TaskId = "12".parse().unwrap();
        let digest = "0123456789abcdef0123";
        let name = |base: &str| format!(".regatta-{}-{base}-Xy-9z.tmp", label(task));
        let base = Base::Version("0123456789abcdef".to_owned());
        assert!(base.is(digest) && !base.is("0123456789abcdee") && !Base::None.is(digest));
        let displaced = Left::Displaced { task, base };
        assert_eq!(parse(&name(base_name(Some(digest)))), Some(displaced));
        assert_eq!(parse(&name(base_name(None))), Some(Left::Displaced { task, base: Base::None }));
        assert_eq!(parse(&name(UNFINISHED)), Some(Left::Unfinished { task }));
    }

    #[test]
    fn other_names_are_told_apart() {
        for unnamed in [".regatta-a1B2c3.tmp", ".regatta-task-0-new-x.tmp", ".regatta-task-1-short-x.tmp"] {
            assert_eq!(parse(unnamed), Some(Left::Unnamed), "{unnamed}");
        }
        for other in ["task-1-state.md", ".task-1.guard", ".regatta-a1B2c3.swp", "x.tmp"] {
            assert_eq!(parse(other), None, "{other}");
        }
        assert_eq!(task_of_file("task-7-state.md"), "7".parse().ok());
        assert_eq!(task_of_private_folder(".task-7"), "7".parse().ok());
        for other in [".task-7.guard", ".task-07", "task-7", ".task-"] {
            assert_eq!(task_of_private_folder(other), None, "{other}");
        }
        assert_eq!(task_of_file("task-7-state.md.corrupt-1"), None);
    }
}
