//! The private folder of a task: a folder that holds its file alone, while its agent is in a sandbox.
//!
//! An agent may replace its file by a rename, so it needs a folder to write in; but in the folder of all task
//! files it could write to those of other tasks. So its file moves into a folder of its own, which the
//! sandbox shows in place of the common one, and a link takes its old place:
//!
//! ```text
//!   task-states/task-12-state.md            a link, for people and for us
//!   task-states/.task-12/task-12-state.md   the file; to the agent this folder is `task-states`
//! ```
//!
//! The agent controls what is in a private folder. So no link in it is followed, and nothing in it counts as another
//! task's. A private folder that a killed engine left open does no harm: the file is found in it.

use crate::commands::orders;
use crate::core::TaskId;
use crate::error::Error;
use crate::project::Project;
use crate::task_files::place::{self, file_path, private_folder_path};
use crate::task_files::{lock, sync_or_report};
use regatta_files::exchange;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Moves the file of a task into its private folder, and returns the private folder. A link to elsewhere is moved as it is,
/// and the next look sets it aside.
pub(crate) async fn open(project: &Project, task: TaskId) -> Result<PathBuf, Error> {
    let _lock = lock::take(project, task).await?;
    let private_folder = private_folder_path(project, task);
    if std::fs::symlink_metadata(&private_folder).is_ok_and(|found| !found.is_dir()) {
        exchange::set_aside(&private_folder, place::left_private_folders(&private_folder))
            .map_err(Error::StateFile)?;
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&private_folder);
    made.map_err(Error::io("create", &private_folder))?;
    settle(project, task).await?;
    Ok(private_folder)
}

/// Moves the file of a task back to its place, and removes what else its agent left in the private folder.
pub(crate) async fn close(project: &Project, task: TaskId) -> Result<(), Error> {
    let private_folder = private_folder_path(project, task);
    if !is_folder(&private_folder) {
        return Ok(());
    }
    // What is not a file is set aside first, and reported.
    sync_or_report(project, task).await?;
    let _lock = lock::take(project, task).await?;
    let inside = settle(project, task).await?;
    let path = file_path(project, task);
    for left in exchange::list(&inside).map_err(Error::StateFile)? {
        if place::task_of_left(&left) == Some(task) {
            let name = path.with_file_name(left.file_name().unwrap_or_default());
            exchange::set_aside(&left, std::iter::once(name)).map_err(Error::StateFile)?;
        }
    }
    if is_file(&inside) {
        std::fs::rename(&inside, &path).map_err(Error::io("move back", &path))?;
    } else {
        // The next look writes the file again from the log.
        std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
    }
    // Under another name, since an agent can leave files that cannot be removed.
    let gone = exchange::set_aside(&private_folder, place::left_private_folders(&private_folder))
        .map_err(Error::StateFile)?;
    let _ = regatta_agents::remove_folder(&gone);
    Ok(())
}

/// Returns where the file of a task really is. A file that somebody put in the place of the link is moved
/// into the private folder too, as a displaced version. The caller holds the lock.
pub(crate) async fn settle(project: &Project, task: TaskId) -> Result<PathBuf, Error> {
    let (path, private_folder) = (file_path(project, task), private_folder_path(project, task));
    if !is_folder(&private_folder) {
        return Ok(path);
    }
    let inside = inside(&private_folder, &path);
    if place::private_folder_of_link(&path) == Some(task) {
        return Ok(inside);
    }
    let text = orders::load_file(project, task).await?.state;
    let base = place::base_name(text.on_disk.as_ref().map(|version| version.digest.as_str()));
    let displaced =
        exchange::land_link(&path, &place::link_target(task), &private_folder, &place::label(task), base)
            .map_err(Error::StateFile)?;
    if let Some(displaced) = displaced
        && std::fs::symlink_metadata(&inside).is_err()
    {
        exchange::set_aside(&displaced, std::iter::once(inside.clone())).map_err(Error::StateFile)?;
    }
    Ok(inside)
}

/// Returns where the newest text of a task is most likely to be read, without changing anything.
pub(crate) fn peek(project: &Project, task: TaskId) -> PathBuf {
    let (path, private_folder) = (file_path(project, task), private_folder_path(project, task));
    if is_file(&path) {
        path
    } else if is_folder(&private_folder) {
        inside(&private_folder, &path)
    } else {
        path
    }
}

fn inside(private_folder: &Path, path: &Path) -> PathBuf {
    private_folder.join(path.file_name().unwrap_or_default())
}

fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn is_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}
