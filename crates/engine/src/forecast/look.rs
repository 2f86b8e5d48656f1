//! Looks at the branches of all open tasks: their heads, and what they change.
//!
//! One call of git reads all heads. What two commits differ in is read once and remembered while a branch needs it, so a
//! round in which nothing moved costs that one call and, in each worktree where somebody works, a `git status`.

use super::branch::{Branch, Paths};
use crate::commands::orders;
use crate::core::machine::Column;
use crate::core::{Forecast, Task, TaskId};
use crate::error::Error;
use crate::log::list;
use crate::project::Project;
use regatta_git::{BranchName, CommitId};
use regatta_store::Seq;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// More branches are not compared: those of the highest numbers, which are the newest.
const BRANCHES_MAX: usize = 200;
/// More files of one branch are not compared.
const PATHS_MAX: usize = 5_000;

/// A task with a branch that is not merged.
#[derive(Debug, Clone)]
struct Open {
    task: TaskId,
    branch: BranchName,
    target: BranchName,
    /// Its worktree, if somebody works there.
    works_in: Option<String>,
    recorded: Forecast,
}

/// What was seen in earlier rounds.
#[derive(Default)]
pub(super) struct Sight {
    head: Option<Seq>,
    open: Vec<Open>,
    /// Where the first commit of a pair, a target's head, parted from the second.
    bases: BTreeMap<(CommitId, CommitId), Option<CommitId>>,
    changed: BTreeMap<(CommitId, CommitId), Paths>,
}

impl Sight {
    /// Looks at all branches, as they are now.
    pub(super) async fn look(&mut self, project: &Project) -> Result<Vec<Branch>, Error> {
        self.refresh(project).await?;
        if self.open.is_empty() {
            return Ok(Vec::new());
        }
        let names: BTreeSet<BranchName> =
            self.open.iter().flat_map(|open| [open.branch.clone(), open.target.clone()]).collect();
        let names: Vec<BranchName> = names.into_iter().collect();
        let heads = project.repository().find_branches(&names).await?;
        let (bases, changed) = (std::mem::take(&mut self.bases), std::mem::take(&mut self.changed));
        let mut reader = Reader { project, bases, changed };
        let mut branches = Vec::new();
        for open in self.open.clone() {
            // A worktree that is being made or removed has no branch for a while.
            let (Some(head), Some(target_head)) = (heads.get(&open.branch), heads.get(&open.target)) else {
                continue;
            };
            let Some(base) = reader.base(target_head, head, self).await? else { continue };
            branches.push(Branch {
                task: open.task,
                name: open.branch.as_str().to_owned(),
                head: head.clone(),
                target: open.target.as_str().to_owned(),
                target_head: target_head.clone(),
                committed: reader.changed(&base, head, self).await?,
                uncommitted: BTreeSet::new(),
                changed_on_target: reader.changed(&base, target_head, self).await?,
                recorded: open.recorded,
            });
        }
        self.look_into_worktrees(project, &mut branches).await;
        Ok(branches)
    }

    /// Reads the open tasks again if anything happened since.
    async fn refresh(&mut self, project: &Project) -> Result<(), Error> {
        let head = project.store().head().await?;
        if self.head == Some(head) {
            return Ok(());
        }
        let mut open = Vec::new();
        for id in list::find_open(project).await?.into_iter().rev().take(BRANCHES_MAX) {
            // It may have been deleted since.
            let Ok(task) = orders::get_task(project, id).await else { continue };
            open.extend(read_open(&task));
        }
        open.reverse();
        (self.head, self.open) = (Some(head), open);
        Ok(())
    }

    /// Reads what is being changed where somebody works, if there is anything that it could collide with.
    async fn look_into_worktrees(&self, project: &Project, branches: &mut [Branch]) {
        let others = branches.len() > 1;
        for branch in branches {
            let place = self.open.iter().find(|open| open.task == branch.task);
            let Some(path) = place.and_then(|open| open.works_in.as_ref()) else { continue };
            if !others && branch.changed_on_target.is_empty() {
                continue;
            }
            // A worktree that cannot be read now is read in the next round.
            let status = project.repository().status(&project.place(path), &project.config().copy).await;
            let paths = status.unwrap_or_default().into_iter().map(|entry| entry.path);
            branch.uncommitted = paths.take(PATHS_MAX).collect();
        }
    }
}

fn read_open(task: &Task) -> Option<Open> {
    let worktree = task.worktree()?;
    let is_worked_on = match task.column() {
        Column::InProgress => true,
        Column::WaitingApproval => false,
        Column::Backlog | Column::Verified => return None,
    };
    Some(Open {
        task: task.id,
        branch: BranchName::parse(&worktree.branch).ok()?,
        target: BranchName::parse(&worktree.target).ok()?,
        works_in: is_worked_on.then(|| worktree.path.clone()),
        recorded: task.forecast.clone(),
    })
}

/// Reads from git what was not read before; what a round does not ask for is forgotten.
struct Reader<'a> {
    project: &'a Project,
    bases: BTreeMap<(CommitId, CommitId), Option<CommitId>>,
    changed: BTreeMap<(CommitId, CommitId), Paths>,
}

impl Reader<'_> {
    async fn base(
        &mut self,
        target: &CommitId,
        head: &CommitId,
        sight: &mut Sight,
    ) -> Result<Option<CommitId>, Error> {
        let key = (target.clone(), head.clone());
        let found = match sight.bases.get(&key).cloned().or_else(|| self.bases.remove(&key)) {
            Some(found) => found,
            None => self.project.repository().find_merge_base(target, head).await?,
        };
        sight.bases.insert(key, found.clone());
        Ok(found)
    }

    async fn changed(&mut self, from: &CommitId, to: &CommitId, sight: &mut Sight) -> Result<Paths, Error> {
        if from == to {
            return Ok(Paths::default());
        }
        let key = (from.clone(), to.clone());
        let found = match sight.changed.get(&key).cloned().or_else(|| self.changed.remove(&key)) {
            Some(found) => found,
            None => {
                let paths = self.project.repository().changed_paths(from, to, PATHS_MAX).await?;
                Arc::new(paths.into_iter().collect())
            }
        };
        sight.changed.insert(key, Arc::clone(&found));
        Ok(found)
    }
}
