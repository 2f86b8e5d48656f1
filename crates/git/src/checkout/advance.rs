//! Moves a checkout that was judged to be movable, and moves it back.
//!
//! Submodules come first, then files, then the index: after an interruption at any point, a commit would keep
//! what has moved so far and never revert it. Git checks every file once more before it touches the first.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::MoveStep;
use super::judge::{IndexEntry, Plan};
use crate::command::CHECKOUT_TIME_MAX;
use crate::error::Error;
use crate::folder;
use crate::location::Location;
use crate::name::CommitId;
use crate::repository::Repository;
use crate::serial::Serial;

/// So many files are made to last one by one; beyond that the whole disk is, at once.
const FILES_SYNCED_MAX: usize = 64;

impl Repository {
    pub(super) async fn advance(
        &self,
        serial: &Serial,
        plan: &Plan,
        observer: &(dyn Fn(MoveStep) + Send + Sync),
    ) -> Result<(), Error> {
        for submodule in &plan.submodules {
            // What one submodule does is a part of the checkout's step.
            let moved = Box::pin(self.advance(serial, &submodule.plan, &|_| {}));
            moved.await?;
            let Plan { location, old, new, .. } = &submodule.plan;
            let words = ["update-ref", "--no-deref", "-m", "regatta", "HEAD", new.as_str(), old.as_str()];
            location.git().args(words).holding(serial)?.success().await?;
        }
        observer(MoveStep::Submodules);
        if !plan.changed.is_empty() {
            set_entries(plan, &plan.fixes).await?;
            read_tree(serial, &plan.location, plan.old.as_str(), plan.new.as_str()).await?;
            persist(plan).await?;
        }
        observer(MoveStep::Checkout);
        Ok(())
    }

    pub(super) async fn retreat(&self, serial: &Serial, plan: &Plan) -> Result<(), Error> {
        if !plan.changed.is_empty() {
            let old = self.old_with_kept_files(plan).await?;
            read_tree(serial, &plan.location, plan.new.as_str(), &old).await?;
            set_entries(plan, &plan.fixed).await?;
        }
        for submodule in plan.submodules.iter().rev() {
            Box::pin(self.retreat(serial, &submodule.plan)).await?;
            let Plan { location, old, .. } = &submodule.plan;
            let back = match &submodule.branch {
                Some(branch) => {
                    let name = branch.to_ref();
                    location.git().args(["symbolic-ref", "-m", "regatta", "HEAD", name.as_str()])
                }
                None => {
                    location.git().args(["update-ref", "--no-deref", "-m", "regatta", "HEAD", old.as_str()])
                }
            };
            back.holding(serial)?.success().await?;
        }
        Ok(())
    }

    /// Returns the tree to go back to: the old one, but for files that had the new content before the move.
    async fn old_with_kept_files(&self, plan: &Plan) -> Result<String, Error> {
        if plan.had_new.is_empty() {
            return Ok(plan.old.to_string());
        }
        let index = self.landing_folder()?.join("old-index");
        folder::remove(&index)?;
        let git = || plan.location.git().env("GIT_INDEX_FILE", &index);
        git().args(["read-tree", plan.old.as_str()]).success().await?;
        let update = git().args(["update-index", "-z", "--index-info"]);
        update.input(render_entries(&plan.had_new, &plan.old)).success().await?;
        let tree = git().arg("write-tree").text().await?;
        folder::remove(&index)?;
        Ok(tree)
    }
}

/// Moves files and index from one commit or tree to another; entries that are the same in both stay as they are.
async fn read_tree(serial: &Serial, location: &Location, from: &str, to: &str) -> Result<(), Error> {
    let refresh = location.git().args(["update-index", "-q", "--refresh"]).holding(serial)?;
    refresh.run().await?;
    let read = location.git().args(["read-tree", "-m", "-u", from, to]);
    read.time_max(CHECKOUT_TIME_MAX).holding(serial)?.success().await.map(drop)
}

async fn set_entries(plan: &Plan, entries: &[IndexEntry]) -> Result<(), Error> {
    if entries.is_empty() {
        return Ok(());
    }
    let update = plan.location.git().args(["update-index", "-z", "--index-info"]);
    update.input(render_entries(entries, &plan.old)).success().await.map(drop)
}

/// Writes entries as `update-index --index-info` reads them; `of_size` says how long an id is in this repository.
fn render_entries(entries: &[IndexEntry], of_size: &CommitId) -> Vec<u8> {
    let zeros = "0".repeat(of_size.as_str().len());
    let mut text = Vec::new();
    for (path, entry) in entries {
        let line = match entry {
            Some(entry) => format!("{} {}\t", entry.mode, entry.id),
            None => format!("0 {zeros}\t"),
        };
        text.extend_from_slice(line.as_bytes());
        text.extend_from_slice(path.as_os_str().as_bytes());
        text.push(0);
    }
    text
}

/// Makes what was moved outlast a power cut, since the branch will: else the checkout could come back behind it.
async fn persist(plan: &Plan) -> Result<(), Error> {
    let (root, index) = (plan.location.path.clone(), plan.location.git_dir.join("index"));
    let changed = plan.changed.clone();
    folder::blocking(move || {
        sync(&index);
        if changed.len() > FILES_SYNCED_MAX {
            if let Ok(folder) = File::open(&root) {
                let _ = rustix::fs::syncfs(&folder);
            }
            return Ok(());
        }
        changed.iter().for_each(|path: &PathBuf| sync(&root.join(path)));
        Ok(())
    })
    .await
}

/// Syncs a regular file; what cannot be opened was deleted, or is a link.
fn sync(path: &Path) {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    if let Some(file) = is_file.then(|| File::open(path).ok()).flatten() {
        let _ = file.sync_data();
    }
}
