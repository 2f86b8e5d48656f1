//! Where a workload runs: a project of its own in a folder, and the threads that carry its engine.

use crate::error::Error;
use regatta_core::Actor;
use regatta_engine::Project;
use regatta_engine::orders::Caller;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// Starts the threads, as the product does.
pub(crate) fn start_runtime() -> Result<Runtime, Error> {
    Builder::new_multi_thread().enable_all().build().map_err(Error::Runtime)
}

/// Opens the project in a folder, and makes it first if there is none.
pub(crate) async fn ensure_project(folder: &Path) -> Result<Arc<Project>, Error> {
    if folder.join(".regatta/config.toml").exists() {
        return Ok(Arc::new(Project::open(folder).await?));
    }
    std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    init_repository(folder)?;
    Ok(Arc::new(Project::init(folder).await?))
}

/// Returns the database of the project in a folder.
pub(crate) fn database(folder: &Path) -> PathBuf {
    folder.join(".git/regatta/log.db")
}

/// Returns who gives the orders of a workload.
pub(crate) fn caller() -> Caller {
    Caller::new(Actor::User("bench".to_owned()))
}

fn init_repository(folder: &Path) -> Result<(), Error> {
    let mut git = Command::new("git");
    git.args(["init", "--quiet", "--template=", "--initial-branch=main", "."]).current_dir(folder);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = git.output().map_err(Error::io("run git in", folder))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Error::Git { path: folder.to_owned(), said })
}
