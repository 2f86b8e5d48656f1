//! Refs that moved while an agent worked without a sandbox, and that Regatta did not move.
//!
//! Such an agent can move any ref of the repository. So can its user, and therefore nothing is moved back:
//! the change is reported with the old values, so that a person can see and undo it. What the engine does for
//! other tasks at the same time is known from the log, which is read before and after the refs. New refs are
//! not reported; agents make branches all the time.

use crate::commands::orders::{self, Order};
use crate::core::{Actor, AgentId, Command, CommitId, MovedRef, MovedRefs, ReviewPhase, Stage, Task, TaskId};
use crate::error::Error;
use crate::log::{SNAPSHOT_FORMAT, Stream};
use crate::project::Project;
use regatta_git::BranchName;
use std::collections::BTreeMap;

/// The refs of the repository when a session began.
pub(crate) struct Refs {
    task: TaskId,
    agent: AgentId,
    session: u32,
    branch: BranchName,
    before: BTreeMap<String, regatta_git::CommitId>,
}

/// Reads the refs before a session of a task; nothing where they cannot be listed, which must not stop the
/// work.
pub(crate) async fn look(
    project: &Project,
    (task, agent, session): (TaskId, &AgentId, u32),
    branch: &BranchName,
) -> Option<Refs> {
    let before = project.repository().list_kept_refs().await.ok()?;
    Some(Refs { task, agent: agent.clone(), session, branch: branch.clone(), before })
}

/// Reads them again after the session, and records what moved.
pub(crate) async fn note(project: &Project, refs: Refs) -> Result<(), Error> {
    let mut tasks = load_tasks(project).await?;
    let after = project.repository().list_kept_refs().await?;
    if refs.before.iter().all(|(name, from)| after.get(name) == Some(from)) {
        return Ok(());
    }
    tasks.extend(load_tasks(project).await?);
    tasks.retain(|task| task.id != refs.task);
    let own = refs.branch.to_ref();
    let is_moved =
        |name: &str, from: &regatta_git::CommitId| name != own.as_str() && after.get(name) != Some(from);
    let moved = refs.before.iter().filter(|(name, from)| is_moved(name, from)).map(|(name, from)| MovedRef {
        name: name.clone(),
        from: orders::from_git(from),
        to: after.get(name).map(orders::from_git),
    });
    let moved: Vec<MovedRef> = moved.filter(|moved| !is_ours(moved, &tasks)).collect();
    if moved.is_empty() {
        return Ok(());
    }
    let command = Command::NoteMovedRefs(MovedRefs { agent: refs.agent, session: refs.session, refs: moved });
    orders::give(project, Order::new(Some(refs.task), &Actor::Engine), command).await.map(drop)
}

/// Tells whether the log explains a move.
fn is_ours(moved: &MovedRef, tasks: &[Task]) -> bool {
    let Some(branch) = moved.name.strip_prefix("refs/heads/") else { return false };
    // The branch of a step without a task is removed along with it.
    branch.starts_with("run/")
        || tasks.iter().any(|task| explains((&task.branch_name(), &task.stage), branch, moved.to.as_ref()))
}

fn explains((own, stage): (&str, &Stage), branch: &str, to: Option<&CommitId>) -> bool {
    match stage {
        // Removed when it was cancelled.
        Stage::Backlog => to.is_none() && branch == own,
        // Its own agent is working there.
        Stage::InProgress(work) => work.worktree.branch == branch,
        Stage::WaitingApproval(review) if review.worktree.branch == branch => match review.phase {
            ReviewPhase::Stopping { .. } | ReviewPhase::Removing { .. } => to.is_none(),
            _ => to == Some(&review.diff.head),
        },
        Stage::WaitingApproval(review) => {
            matches!(review.phase, ReviewPhase::Merging { .. }) && review.worktree.target == branch
        }
        Stage::Verified(landed) if landed.worktree.branch == branch => to.is_none(),
        Stage::Verified(landed) => landed.worktree.target == branch && to == Some(&landed.commit),
    }
}

async fn load_tasks(project: &Project) -> Result<Vec<Task>, Error> {
    let mut tasks = Vec::new();
    for loaded in project.store().load_prefix("task/", SNAPSHOT_FORMAT).await? {
        tasks.extend(Stream::<Option<Task>>::from_loaded(loaded)?.state);
    }
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Approval, Cleanup, Diff, Landed, Review, Work, WorkPhase, Worktree};

    fn commit(digit: char) -> CommitId {
        digit.to_string().repeat(40).parse().unwrap()
    }

    fn worktree() -> Worktree {
        let (branch, target) = ("task/7".to_owned(), "main".to_owned());
        Worktree { branch, target, base: commit('1'), path: "worktrees/task-7".to_owned() }
    }

    fn diff() -> Diff {
        let (base, head) = (commit('1'), commit('2'));
        Diff {
            files_changed: 1,
            lines_added: 1,
            lines_removed: 0,
            digest: String::new(),
            base,
            head,
            obeyed_files: Vec::new(),
        }
    }

    fn at_work() -> Stage {
        let agent = "coder".parse().ok();
        Stage::InProgress(Box::new(Work { agent, worktree: worktree(), phase: WorkPhase::Halted }))
    }

    fn in_review(phase: ReviewPhase) -> Stage {
        Stage::WaitingApproval(Box::new(Review {
            agent: "coder".parse().ok(),
            worktree: worktree(),
            diff: diff(),
            turn_count: 1,
            summary: None,
            approval: Approval::Person,
            checks: Vec::new(),
            paused: true,
            phase,
        }))
    }

    fn landed() -> Stage {
        Stage::Verified(Box::new(Landed {
            agent: "coder".parse().ok(),
            worktree: worktree(),
            diff: diff(),
            turn_count: 1,
            summary: None,
            commit: commit('3'),
            approver: "local".to_owned(),
            cleanup: Cleanup::Done,
        }))
    }

    #[test]
    fn what_the_engine_and_other_agents_do_meanwhile_is_explained_and_nothing_else() {
        let (gone, head, merge, other) = (None, Some(commit('2')), Some(commit('3')), Some(commit('9')));
        let merging = || in_review(ReviewPhase::Merging { approver: "local".to_owned() });
        let removing = || in_review(ReviewPhase::Removing { reason: None });
        for (stage, branch, to, is_explained) in [
            (Stage::Backlog, "task/7", &gone, true),
            (Stage::Backlog, "task/7", &other, false),
            (Stage::Backlog, "task/8", &gone, false),
            (at_work(), "task/7", &other, true),
            (at_work(), "main", &other, false),
            (in_review(ReviewPhase::Ready), "task/7", &head, true),
            (in_review(ReviewPhase::Ready), "task/7", &other, false),
            (in_review(ReviewPhase::Ready), "task/7", &gone, false),
            (in_review(ReviewPhase::Ready), "main", &other, false),
            (merging(), "main", &other, true),
            (removing(), "task/7", &gone, true),
            (landed(), "main", &merge, true),
            (landed(), "main", &other, false),
            (landed(), "task/7", &gone, true),
            (landed(), "keep", &merge, false),
        ] {
            let found = explains(("task/7", &stage), branch, to.as_ref());
            assert_eq!(found, is_explained, "{branch} to {to:?} by {stage:?}");
        }
    }

    #[test]
    fn tags_and_our_own_refs_are_never_moved_by_us() {
        let moved = |name: &str| MovedRef { name: name.to_owned(), from: commit('1'), to: None };
        assert!(!is_ours(&moved("refs/tags/v1"), &[]) && !is_ours(&moved("refs/regatta/salvage/7/1"), &[]));
        assert!(is_ours(&moved("refs/heads/run/3-5"), &[]) && !is_ours(&moved("refs/heads/keep"), &[]));
    }
}
