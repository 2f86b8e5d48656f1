//! Merges a commit into a branch, and updates every checkout of the branch.
//!
//! ```text
//! merge-tree ─▶ commit-tree ─▶ the target is locked ─▶ its checkouts move ─▶ the target moves
//!  objects only, nothing seen    nobody else moves it    ahead of the target    here the merge lands
//! ```
//!
//! The commit's id depends on the request and on the target's head only, so a repeated call makes the same
//! commit until it has landed, and finds it landed afterwards: there is exactly one merge commit, wherever a
//! crash falls. A crash before the last step leaves checkouts ahead of the target, which a repeated call
//! finds and finishes. If the target moved meanwhile, the content of such a checkout is judged as it is: the
//! new merge brings it too, or it is an edit.

use std::path::PathBuf;

use crate::change::CommitParts;
use crate::checkout::{MoveStep, Moved, Obstacle};
use crate::command::Finished;
use crate::error::Error;
use crate::name::{BranchName, CommitId};
use crate::repository::Repository;
use crate::serial::Serial;
use crate::signature::Signature;
use crate::stage::split;

/// Others move a branch seldom and never in a row as fast as a merge is made.
const TRIES_MAX: u32 = 8;

/// What to merge into what.
#[derive(Debug, Clone)]
pub struct MergeRequest {
    /// The branch that receives.
    pub target: BranchName,
    /// The commit that is merged in.
    pub head: CommitId,
    /// What the target must hold: where the diff begins that was approved. Without it, more would be merged.
    pub base: Option<CommitId>,
    /// The message of the merge commit.
    pub message: String,
    /// The author and committer of the merge commit; its time makes a repeat give the same id.
    pub author: Signature,
}

/// How a merge ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The target has a new merge commit.
    Merged {
        /// The merge commit.
        commit: CommitId,
        /// The target's head before it, which is its first parent.
        previous: CommitId,
        /// The checkouts of the target, which all show it now.
        checkouts: Vec<PathBuf>,
    },
    /// The target had the commit already.
    AlreadyMerged {
        /// The merge commit that brought it, or the commit itself when it came in another way.
        commit: CommitId,
        /// The checkouts of the target.
        checkouts: Vec<PathBuf>,
    },
    /// A checkout of the target has something in the way; nothing was changed.
    InTheWay {
        /// What is in the way, and where.
        obstacles: Vec<Obstacle>,
    },
    /// The target does not hold the base of the request; nothing was changed.
    BaseGone,
    /// The two do not fit together; nothing was changed.
    Conflict {
        /// The files in conflict; bytes that are no UTF-8 are shown as replacement characters.
        files: Vec<String>,
    },
}

/// A point that a merge has passed, told to the observer so that tests can stop there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeStep {
    /// The merged tree is among the objects.
    TreeWritten,
    /// The merge commit is among the objects; nothing points to it.
    CommitMade,
    /// The target is locked at its old value.
    RefLocked,
    /// The submodules of a checkout show what the merge wants; passed once for each checkout.
    SubmodulesMoved,
    /// A checkout shows the merge; passed once for each.
    CheckoutMoved,
    /// The target points to the merge commit.
    RefCommitted,
}

/// Told of each step that a merge has passed.
type Observer<'a> = &'a (dyn Fn(MergeStep) + Send + Sync);

impl Repository {
    /// Merges a commit into a branch, always with a merge commit; may be repeated.
    ///
    /// Every worktree that stands on the branch comes along, with its user's edits to other files; if one cannot, nothing
    /// is changed.
    pub async fn merge(
        &self,
        request: &MergeRequest,
        observer: &(dyn Fn(MergeStep) + Send + Sync),
    ) -> Result<MergeOutcome, Error> {
        let serial = self.serialise().await?;
        self.clear_landing()?;
        let outcome = self.merge_held(&serial, request, observer).await;
        self.clear_landing()?;
        outcome
    }

    async fn merge_held(
        &self,
        serial: &Serial,
        request: &MergeRequest,
        observer: Observer<'_>,
    ) -> Result<MergeOutcome, Error> {
        for _ in 0..TRIES_MAX {
            let target = &request.target;
            let tip = self.find_branch(target).await?;
            let tip = tip.ok_or_else(|| Error::BranchMissing { branch: target.clone() })?;
            if self.is_ancestor(&request.head, &tip).await? {
                return self.find_merged(request, &tip).await;
            }
            // The target is locked at just this tip, so what holds of the tip holds of the merge.
            if let Some(base) = &request.base
                && !self.is_ancestor(base, &tip).await?
            {
                return Ok(MergeOutcome::BaseGone);
            }
            if let Some(outcome) = self.try_merge(serial, request, &tip, observer).await? {
                return Ok(outcome);
            }
        }
        Err(Error::LostRaces { branch: request.target.clone(), tries: TRIES_MAX })
    }

    /// Merges into the given head of the target; nothing when someone moved the target meanwhile.
    async fn try_merge(
        &self,
        serial: &Serial,
        request: &MergeRequest,
        tip: &CommitId,
        observer: Observer<'_>,
    ) -> Result<Option<MergeOutcome>, Error> {
        let tree = match self.merge_tree(serial, tip, &request.head).await? {
            Ok(tree) => tree,
            Err(files) => return Ok(Some(MergeOutcome::Conflict { files })),
        };
        observer(MergeStep::TreeWritten);
        let parents = [tip.clone(), request.head.clone()];
        let (author, message) = (&request.author, request.message.as_str());
        let parts = CommitParts { tree: &tree, parents: &parents, author, committer: author, message };
        let commit = self.commit_tree(&parts).await?;
        observer(MergeStep::CommitMade);
        let lock = match self.lock_ref(&request.target.to_ref(), &commit, tip).await {
            Ok(lock) => lock,
            Err(error) => {
                let is_moved = self.find_branch(&request.target).await?.as_ref() != Some(tip);
                return if is_moved { Ok(None) } else { Err(error) };
            }
        };
        observer(MergeStep::RefLocked);
        let told = |step| match step {
            MoveStep::Submodules => observer(MergeStep::SubmodulesMoved),
            MoveStep::Checkout => observer(MergeStep::CheckoutMoved),
        };
        let plans = match self.move_checkouts(serial, &request.target, tip, &commit, &told).await {
            Ok(Moved::All(plans)) => plans,
            Ok(Moved::None(obstacles)) => {
                lock.release().await?;
                return Ok(Some(MergeOutcome::InTheWay { obstacles }));
            }
            Err(error) => {
                let _ = lock.release().await;
                return Err(error);
            }
        };
        if let Err(error) = lock.commit().await
            // A git that died may have done it before: the ref itself says.
            && self.find_branch(&request.target).await?.as_ref() != Some(&commit)
        {
            self.put_checkouts_back(serial, &plans).await;
            return Err(error);
        }
        observer(MergeStep::RefCommitted);
        let checkouts = plans.into_iter().map(|plan| plan.location.path).collect();
        Ok(Some(MergeOutcome::Merged { commit, previous: tip.clone(), checkouts }))
    }

    /// Writes the merged tree, or lists the files in conflict.
    async fn merge_tree(
        &self,
        serial: &Serial,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<Result<String, Vec<String>>, Error> {
        let git = self.git_at_root().overriding(&self.overrides(self.git()).await?);
        read_merge_tree(git.args(merge_tree_words(ours, theirs)).holding(serial)?.run().await?)
    }

    async fn find_merged(&self, request: &MergeRequest, tip: &CommitId) -> Result<MergeOutcome, Error> {
        let landed = self.find_landed(&request.head, tip).await?;
        let checkouts = self.list_checkouts(&request.target).await?;
        Ok(MergeOutcome::AlreadyMerged { commit: landed.unwrap_or_else(|| request.head.clone()), checkouts })
    }

    /// Finds the merge commit on the target's own line that has the merged commit as its second parent.
    async fn find_landed(&self, head: &CommitId, tip: &CommitId) -> Result<Option<CommitId>, Error> {
        let words =
            ["rev-list", "--first-parent", "--parents", "--min-parents=2", tip.as_str(), &format!("^{head}")];
        let finished = self.git().args(words).success().await?;
        let text = String::from_utf8_lossy(&finished.stdout);
        let read = |line: &str| {
            let mut ids = line.split(' ');
            let (commit, second) = (ids.next()?, ids.nth(1)?);
            (second == head.as_str()).then(|| CommitId::parse(commit))
        };
        Ok(text.lines().rev().find_map(read).transpose()?)
    }
}

/// Returns the arguments of a call that writes the merged tree of two commits.
pub(crate) fn merge_tree_words<'a>(ours: &'a CommitId, theirs: &'a CommitId) -> [&'a str; 7] {
    let (ours, theirs) = (ours.as_str(), theirs.as_str());
    ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs]
}

/// Reads the merged tree, or the files in conflict.
pub(crate) fn read_merge_tree(finished: Finished) -> Result<Result<String, Vec<String>>, Error> {
    let mut fields: Vec<String> =
        split(&finished.stdout).map(|field| String::from_utf8_lossy(field).into_owned()).collect();
    match (finished.code, fields.is_empty()) {
        (Some(0), false) => Ok(Ok(fields.swap_remove(0).trim_end().to_owned())),
        (Some(1), false) => {
            fields.remove(0);
            fields.sort();
            fields.dedup();
            Ok(Err(fields))
        }
        _ => Err(finished.into_error()),
    }
}
