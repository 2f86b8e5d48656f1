//! What a session of a run added to its task's branch: read from git once, when it ends.

use crate::commands::orders::{self, Order};
use crate::core::{Actor, Command, Task, Worked, WorkedAction, WorkedCommit, WorkedFile};
use crate::error::Error;
use crate::perform::Work;
use jiff::Timestamp;
use regatta_git::{ChangeKind, CommitId, FileChange};

/// As many commits of a session are read; the rest is counted.
const COMMITS_MAX: usize = 1_000;

/// Records what a session added between two commits. One that is run again after a crash records it once more, which
/// changes nothing for those who read it.
pub(crate) async fn note(
    work: &Work,
    task: &Task,
    session: u32,
    (base, head): (&CommitId, &CommitId),
) -> Result<(), Error> {
    let repository = work.project.repository();
    let (commits, more_commits) = repository.list_commits(base, head, COMMITS_MAX).await?;
    let files = if base == head { Vec::new() } else { repository.changed_files(base, head).await? };
    let commit = |commit: regatta_git::ListedCommit| WorkedCommit {
        id: orders::from_git(&commit.id),
        title: commit.title,
        at: Timestamp::from_second(commit.seconds).unwrap_or_default(),
    };
    let worked = Worked {
        session,
        base: orders::from_git(base),
        head: orders::from_git(head),
        commits: commits.into_iter().map(commit).collect(),
        more_commits: u32::try_from(more_commits).unwrap_or(u32::MAX),
        files: files.into_iter().map(file).collect(),
        more_files: 0,
    };
    let order = Order { fence: Some(work.token), ..Order::new(Some(task.id), &Actor::Engine) };
    orders::give(&work.project, order, Command::NoteWorked(worked)).await.map(drop)
}

fn file(change: FileChange) -> WorkedFile {
    let count = |lines: u64| u32::try_from(lines).unwrap_or(u32::MAX);
    WorkedFile {
        action: match change.status {
            ChangeKind::Added => WorkedAction::Added,
            ChangeKind::Modified | ChangeKind::TypeChanged => WorkedAction::Modified,
            ChangeKind::Deleted => WorkedAction::Deleted,
        },
        added: count(change.added),
        removed: count(change.removed),
        path: change.path,
    }
}
