//! Noticing edits: every task file is looked at when an engine starts, and again whenever it changes.
//!
//! Edits are taken in here, and what a crash cut off is finished. What the engine itself has to say is otherwise
//! written by the effects that lead to it, so that the log has it in its place. When to look is decided by [`Looks`].

use super::looks::{Found, Looks, Step};
use super::reports::Reports;
use super::settled::Stamp;
use super::{drawer, file_path, left_over, place, sync};
use crate::core::{Actor, TaskId};
use crate::error::Error;
use crate::orders;
use crate::project::Project;
use crate::restore;
use regatta_files::disk::{self, Itself};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Takes edits in for as long as it is polled.
pub(crate) async fn watch(project: Arc<Project>) {
    let folder = place::folder(&project);
    // What was deleted while no engine ran is in no folder to be found in.
    let _ = restore::write_missing(&project).await;
    let mut reports = Reports::new(folder.clone());
    let mut looks = Looks::new(Instant::now());
    loop {
        if looks.is_folder_due(Instant::now()) {
            // Watched first, so that what changes during the look is reported.
            reports.ensure_watched();
            looks.see_folder(&scan(&project, &folder), Instant::now());
        }
        for task in looks.take_due(Instant::now()) {
            let found = find(&project, task);
            let Step::TakeIn { is_first } = looks.decide(found, Instant::now()) else { continue };
            match take_in(&project, found, is_first).await {
                Ok(true) => looks.settle(task, found.stamp),
                Err(Error::Refused(_)) if found.stamp.is_none() => looks.forget(task),
                Ok(false) | Err(_) => {}
            }
        }
        tokio::select! {
            report = reports.next() => looks.report(report, Instant::now()),
            () = tokio::time::sleep_until(looks.wake_at().into()) => {}
        }
    }
}

/// Brings the file of a task in line if it is not what the log knows to be there; says whether all of it is in the log.
///
/// At the first look so is the file of a task at rest: a crash may have come between a step and its file. Of a task
/// that is under way, the steps themselves see to the file.
async fn take_in(project: &Project, found: Found, is_first: bool) -> Result<bool, Error> {
    let text = orders::load_file(project, found.task).await?.state;
    let on_disk = disk::read_itself(&drawer::peek(project, found.task)).map_err(Error::StateFile)?;
    let digest = match on_disk {
        Itself::File(_, digest) => Some(digest.as_str().to_owned()),
        Itself::Missing | Itself::Odd => None,
    };
    let is_known = text.on_disk.as_ref().map(|version| &version.digest) == digest.as_ref();
    let is_written = is_known && text.on_disk == text.newest && !found.has_left_over;
    if is_written && !(is_first && orders::get_task(project, found.task).await?.is_at_rest()) {
        return Ok(true);
    }
    let kept = sync(project, found.task, &Actor::Engine).await?;
    restore::write_archive(project, found.task).await?;
    Ok(kept.is_settled)
}

/// Looks at one task.
fn find(project: &Project, task: TaskId) -> Found {
    let path = file_path(project, task);
    let stamp = std::fs::metadata(&path).ok().map(|metadata| Stamp::of(&metadata));
    let left = regatta_files::exchange::list(&drawer::peek(project, task)).unwrap_or_default();
    let has_left_over = left.iter().any(|path| place::task_of_left(path) == Some(task));
    Found { task, stamp, has_left_over }
}

/// Looks at the whole folder.
fn scan(project: &Project, folder: &Path) -> Vec<Found> {
    let mut found: BTreeMap<TaskId, Found> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(task) = entry.file_name().to_str().and_then(place::task_of_file) else { continue };
        let stamp = std::fs::metadata(entry.path()).ok().map(|metadata| Stamp::of(&metadata));
        found.insert(task, Found { task, stamp, has_left_over: false });
    }
    for left in left_over::find_all(project).unwrap_or_default() {
        let Some(task) = left.task else { continue };
        found.entry(task).or_insert(Found { task, stamp: None, has_left_over: true }).has_left_over = true;
    }
    found.into_values().collect()
}
