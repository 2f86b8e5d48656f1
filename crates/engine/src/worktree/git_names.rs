//! Commits, branches and people in the words of git, and back.

use crate::core::{CommitId, Task, Worktree};
use crate::error::Error;
use regatta_git::{BranchName, Signature};

/// Returns the branch of a worktree as git takes it.
pub(crate) fn branch_of(worktree: &Worktree) -> Result<BranchName, Error> {
    BranchName::parse(&worktree.branch).map_err(|error| Error::Git(error.into()))
}

/// Returns the identity of whoever has a task: its agent, or the person who does it.
pub(crate) fn author_of(task: &Task, at: jiff::Timestamp) -> Signature {
    match (task.agent(), &task.owner) {
        (Some(agent), _) => {
            Signature { name: agent.to_string(), email: format!("{agent}@agents.invalid"), at }
        }
        (None, Some(owner)) => {
            Signature { name: owner.clone(), email: format!("{owner}@people.invalid"), at }
        }
        (None, None) => ourselves(at),
    }
}

/// Returns the identity under which the engine itself commits.
pub(crate) fn ourselves(at: jiff::Timestamp) -> Signature {
    Signature { name: "Regatta".to_owned(), email: "regatta@localhost".to_owned(), at }
}

pub(crate) fn from_git(commit: &regatta_git::CommitId) -> CommitId {
    commit.as_str().parse().expect("git's commit ids are commit ids")
}

pub(crate) fn to_git(commit: &CommitId) -> Result<regatta_git::CommitId, Error> {
    regatta_git::CommitId::parse(commit.as_str()).map_err(|error| Error::Git(error.into()))
}
