//! Removes the file of a task that was deleted.
//!
//! No intent is needed: a scan of the folder finds a file whose task is deleted, and discards it. Text in the
//! file that the log does not have is kept beside it.

use crate::commands::orders;
use crate::core::TaskId;
use crate::crash;
use crate::error::Error;
use crate::project::Project;
use crate::task_files::place::file_path;
use crate::task_files::{is_current, lock, place, private_folder};
use regatta_files::disk::{self, Itself};
use regatta_files::exchange;

/// Removes the file of a deleted task; an edit that is not in the log is set aside.
pub(crate) async fn discard(project: &Project, task: TaskId) -> Result<(), Error> {
    let _lock = lock::take(project, task).await?;
    let path = file_path(project, task);
    let text = orders::load_file(project, task).await?.state;
    crash::point("delete.before_file");
    match disk::read_itself(&place::root(project), &private_folder::peek(project, task))
        .map_err(Error::StateFile)?
    {
        Itself::Missing => {}
        Itself::File(_, digest) if is_current(&text, digest.as_str()) => {
            std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
        Itself::File(..) | Itself::Odd => {
            exchange::set_aside(&path, place::deleted_paths(&path)).map_err(Error::StateFile)?;
        }
    }
    crash::point("delete.after_file");
    Ok(())
}
