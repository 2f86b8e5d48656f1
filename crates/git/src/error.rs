//! What can go wrong between us and git, distinguished by type.
//!
//! Each variant carries the data that explains it (arguments, exit status, last lines of stderr, path or name).
//! A merge conflict is not here: it is an expected outcome, see [`crate::MergeOutcome`].

use std::path::PathBuf;
use std::time::Duration;

use crate::name::{BranchName, CommitId, NameError, RefName};
use crate::serial_holder::LockHolder;

/// A failure of git, of the disk, or of what was asked of them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program is missing.
    #[error("the `git` program was not found on PATH; install git {} or newer", crate::version::NEEDED)]
    NotFound,
    /// The program is older than what the calls need.
    #[error("git {found} is too old; {needed} or newer is needed for `git merge-tree --write-tree`")]
    TooOld {
        /// The version that `git version` printed.
        found: String,
        /// The oldest version that will do.
        needed: &'static str,
    },
    /// No repository at or above the folder, or git refuses to trust it.
    #[error("{} is not in a usable git repository: {reason}", path.display())]
    NotARepository {
        /// The folder that was asked about.
        path: PathBuf,
        /// What git said.
        reason: String,
    },
    /// The folder is no worktree of this repository.
    #[error("{} is not a worktree of this repository", path.display())]
    NotAWorktree {
        /// The folder that was asked about.
        path: PathBuf,
    },
    /// Files in a worktree kept changing while it was to be removed.
    #[error("files in {} keep changing; a program still works there", path.display())]
    WorktreeChanging {
        /// The worktree.
        path: PathBuf,
    },
    /// A file that is to be copied is a link that leads out of the project.
    #[error(
        "`{path}` of `[worktree] copy` is a link to {}, out of the worktree; put a file in its place, or take it off the list",
        target.display()
    )]
    LinkRefused {
        /// The file, from the root.
        path: String,
        /// Where the link leads.
        target: PathBuf,
    },
    /// A submodule of a worktree uses objects of another repository, which must not come into this one.
    #[error(
        "the submodule in {} has objects outside of its git folder; `git repack -a -d` there and delete objects/info/alternates",
        path.display()
    )]
    SubmoduleBorrows {
        /// The submodule's git folder.
        path: PathBuf,
    },
    /// The folder of a worktree was deleted.
    #[error("the folder {} of the worktree is gone", path.display())]
    WorktreeGone {
        /// The folder.
        path: PathBuf,
    },
    /// A worktree whose branch has no commit yet.
    #[error("{} has no commit yet; make a first commit there", path.display())]
    NoCommit {
        /// The worktree.
        path: PathBuf,
    },
    /// A call ended with a status that it should not have.
    #[error("`git {}` failed with {}: {stderr}", args.join(" "), render_status(*status))]
    Failed {
        /// The arguments after the sealing options.
        args: Vec<String>,
        /// The exit status, or nothing when a signal ended the program.
        status: Option<i32>,
        /// The last of what it wrote to stderr.
        stderr: String,
    },
    /// A call did not end in time and was killed.
    #[error("`git {}` did not end within {} s and was stopped", args.join(" "), limit.as_secs())]
    TimedOut {
        /// The arguments after the sealing options.
        args: Vec<String>,
        /// The limit it passed.
        limit: Duration,
    },
    /// A call wrote more than is kept in memory.
    #[error("`git {}` wrote more than {bytes_max} bytes and was stopped", args.join(" "))]
    OutputTooLarge {
        /// The arguments after the sealing options.
        args: Vec<String>,
        /// The bound it passed.
        bytes_max: usize,
    },
    /// A call succeeded but printed what we cannot read: a bug here, or a git that speaks differently.
    #[error("`git {}` printed something unexpected: {output}", args.join(" "))]
    UnexpectedOutput {
        /// The arguments after the sealing options.
        args: Vec<String>,
        /// The part that could not be read.
        output: String,
    },
    /// The file system refused.
    #[error("could not {action} {}", path.display())]
    Io {
        /// What was tried, as the verb after "could not".
        action: &'static str,
        /// What it was tried on.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A name breaks git's rules.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A branch that should exist does not.
    #[error("the branch {branch} does not exist")]
    BranchMissing {
        /// The missing branch.
        branch: BranchName,
    },
    /// A branch that should be made is there already.
    #[error("the branch {branch} already exists, at {at}")]
    BranchTaken {
        /// The branch.
        branch: BranchName,
        /// Where it points.
        at: CommitId,
    },
    /// A branch that should be removed is checked out somewhere else.
    #[error("the branch {branch} is checked out in {}", path.display())]
    BranchInUse {
        /// The branch.
        branch: BranchName,
        /// The other worktree.
        path: PathBuf,
    },
    /// A worktree should be made where something else stands.
    #[error("{} already exists and was not created as this worktree", path.display())]
    PathTaken {
        /// What stands in the way.
        path: PathBuf,
    },
    /// A worktree is there, but on another branch.
    #[error("the worktree {} is on {}, not on {wanted}", path.display(), render_branch(found.as_ref()))]
    WorktreeElsewhere {
        /// The worktree.
        path: PathBuf,
        /// Its branch; nothing when its HEAD is detached.
        found: Option<BranchName>,
        /// The branch that was asked for.
        wanted: BranchName,
    },
    /// A worktree is there on its branch, but its folder cannot be used as one.
    #[error("the worktree {} is broken: {why}", path.display())]
    WorktreeBroken {
        /// The worktree.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A half-made worktree is not removed because it holds files or commits of someone.
    #[error("the incomplete worktree {} holds work ({what}), so it is not created again; move it away", path.display())]
    WorktreeHoldsWork {
        /// The worktree.
        path: PathBuf,
        /// The first file or the commit that was found.
        what: String,
    },
    /// What an agent left of the git folder that it was given cannot be used.
    #[error("{} was spoiled by the agent that used it, so its commits are not taken in", path.display())]
    StandInSpoiled {
        /// The part that is not what it should be.
        path: PathBuf,
    },
    /// The main worktree, or a folder that holds it or the repository itself, is never removed.
    #[error("{} is, or holds, the repository's main worktree and is never removed", path.display())]
    MainWorktree {
        /// The refused folder.
        path: PathBuf,
    },
    /// A ref that should be made points somewhere else.
    #[error("{name} points to {found}, not to {wanted}")]
    RefElsewhere {
        /// The ref.
        name: RefName,
        /// Where it points.
        found: CommitId,
        /// Where it should point.
        wanted: CommitId,
    },
    /// Several commits begin with the given digits.
    #[error("{prefix} is ambiguous; it is the start of {}", render_ids(candidates))]
    Ambiguous {
        /// The digits given.
        prefix: String,
        /// The commits that begin with them.
        candidates: Vec<CommitId>,
    },
    /// Others moved the target branch each time a merge was about to land.
    #[error("the branch {branch} moved {tries} times during the merge; try again")]
    LostRaces {
        /// The target branch.
        branch: BranchName,
        /// How often it was tried.
        tries: u32,
    },
    /// Another process holds this repository's serial lock for too long.
    #[error("the lock {} was held for {} s by {}", path.display(), limit.as_secs(), render_holder(holder.as_ref()))]
    LockTimedOut {
        /// The lock file.
        path: PathBuf,
        /// The limit on waiting.
        limit: Duration,
        /// Who holds it, as far as that can be seen.
        holder: Option<LockHolder>,
    },
}

impl Error {
    /// Returns a closure that wraps an IO error with what was tried on which path.
    pub(crate) fn io(action: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }
}

fn render_holder(holder: Option<&LockHolder>) -> String {
    holder.map_or_else(|| "others".to_owned(), LockHolder::to_string)
}

fn render_status(status: Option<i32>) -> String {
    status.map_or_else(|| "a signal".to_owned(), |code| format!("status {code}"))
}

fn render_branch(branch: Option<&BranchName>) -> String {
    branch.map_or_else(|| "no branch".to_owned(), |name| format!("the branch {name}"))
}

fn render_ids(ids: &[CommitId]) -> String {
    ids.iter().map(CommitId::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::Error;
    use crate::name::{BranchName, CommitId};

    #[test]
    fn messages_say_what_failed_and_why() {
        let branch = BranchName::parse("task/1").expect("a branch name");
        let at = CommitId::parse(&"0a".repeat(20)).expect("a commit id");
        let args = vec!["merge-tree".to_owned(), "a".to_owned()];
        let path = std::path::PathBuf::from("/w");
        for (error, message) in [
            (Error::NotFound, "the `git` program was not found on PATH; install git 2.38 or newer"),
            (
                Error::TooOld { found: "2.30.2".to_owned(), needed: "2.38" },
                "git 2.30.2 is too old; 2.38 or newer is needed for `git merge-tree --write-tree`",
            ),
            (
                Error::Failed { args: args.clone(), status: Some(128), stderr: "fatal: no".to_owned() },
                "`git merge-tree a` failed with status 128: fatal: no",
            ),
            (
                Error::Failed { args, status: None, stderr: String::new() },
                "`git merge-tree a` failed with a signal: ",
            ),
            (
                Error::BranchTaken { branch: branch.clone(), at },
                "the branch task/1 already exists, at 0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",
            ),
            (
                Error::WorktreeElsewhere { path: path.clone(), found: None, wanted: branch },
                "the worktree /w is on no branch, not on task/1",
            ),
            (
                Error::MainWorktree { path },
                "/w is, or holds, the repository's main worktree and is never removed",
            ),
        ] {
            assert_eq!(error.to_string(), message);
        }
    }
}
