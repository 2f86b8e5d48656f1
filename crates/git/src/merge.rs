//! Merging a commit into a branch without a checkout.
//!
//! ```text
//! merge-tree ─▶ commit-tree ─▶ update-ref (old value given) ─▶ the checkout follows, if clean
//!  objects only, nothing seen    the one moment it lands         repeated after a crash
//! ```
//!
//! The commit's id depends on the request and on the target's head only, so a repeated call makes the same commit
//! until it has landed, and finds it landed afterwards: there is exactly one merge commit, wherever a crash falls.

use crate::change::CommitParts;
use crate::checkout::Checkout;
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
        /// What became of the checkout.
        checkout: Checkout,
    },
    /// The target had the commit already.
    AlreadyMerged {
        /// The merge commit that brought it, or the commit itself when it came in another way.
        commit: CommitId,
        /// What became of the checkout.
        checkout: Checkout,
    },
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
    /// The target points to the merge commit.
    RefSwapped,
    /// The checkout was dealt with.
    CheckoutUpdated,
}

/// Told of each step that a merge has passed.
type Observer<'a> = &'a (dyn Fn(MergeStep) + Send + Sync);

/// A merge commit that was found in a branch, and the branch's head before it.
struct Landed {
    commit: CommitId,
    previous: CommitId,
}

impl Repository {
    /// Merges a commit into a branch, always with a merge commit; may be repeated.
    ///
    /// A worktree that stands on the branch follows when it is clean, and is left alone otherwise.
    pub async fn merge(
        &self,
        request: &MergeRequest,
        observer: &(dyn Fn(MergeStep) + Send + Sync),
    ) -> Result<MergeOutcome, Error> {
        let serial = self.serialise().await?;
        for _ in 0..TRIES_MAX {
            let target = &request.target;
            let tip = self.find_branch(target).await?;
            let tip = tip.ok_or_else(|| Error::BranchMissing { branch: target.clone() })?;
            if self.is_ancestor(&request.head, &tip).await? {
                return self.find_merged(&serial, request, &tip, observer).await;
            }
            if let Some(outcome) = self.try_merge(&serial, request, &tip, observer).await? {
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
        // Judged before the swap: afterwards every checkout of the target looks changed.
        let checkout = self.find_checkout(&request.target).await?;
        let unclean = match &checkout {
            Some(location) => self.judge_checkout(serial, location, tip).await?,
            None => None,
        };
        let name = request.target.to_ref();
        if let Err(error) = self.swap_ref(serial, &name, &commit, Some(tip)).await {
            let is_moved = self.find_branch(&request.target).await?.as_ref() != Some(tip);
            return if is_moved { Ok(None) } else { Err(error) };
        }
        observer(MergeStep::RefSwapped);
        let checkout = match (checkout, unclean) {
            (None, _) => Checkout::NotThere,
            (Some(location), Some(why)) => Checkout::LeftAlone { path: location.path, why },
            (Some(location), None) => self.advance_checkout(serial, &location, tip, &commit).await?,
        };
        observer(MergeStep::CheckoutUpdated);
        Ok(Some(MergeOutcome::Merged { commit, previous: tip.clone(), checkout }))
    }

    /// Writes the merged tree, or lists the files in conflict.
    async fn merge_tree(
        &self,
        serial: &Serial,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<Result<String, Vec<String>>, Error> {
        let words = [
            "merge-tree",
            "--write-tree",
            "-z",
            "--name-only",
            "--no-messages",
            ours.as_str(),
            theirs.as_str(),
        ];
        let git = self.git_at_root().overriding(&self.overrides(self.git()).await?);
        let finished = git.args(words).holding(serial)?.run().await?;
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

    async fn find_merged(
        &self,
        serial: &Serial,
        request: &MergeRequest,
        tip: &CommitId,
        observer: Observer<'_>,
    ) -> Result<MergeOutcome, Error> {
        let landed = self.find_landed(&request.head, tip).await?;
        let previous = landed.as_ref().map(|landed| &landed.previous);
        let checkout = self.follow(serial, &request.target, previous, tip).await?;
        observer(MergeStep::CheckoutUpdated);
        let commit = landed.map_or_else(|| request.head.clone(), |landed| landed.commit);
        Ok(MergeOutcome::AlreadyMerged { commit, checkout })
    }

    /// Finds the merge commit on the target's own line that has the merged commit as its second parent.
    async fn find_landed(&self, head: &CommitId, tip: &CommitId) -> Result<Option<Landed>, Error> {
        let words =
            ["rev-list", "--first-parent", "--parents", "--min-parents=2", tip.as_str(), &format!("^{head}")];
        let finished = self.git().args(words).success().await?;
        let text = String::from_utf8_lossy(&finished.stdout);
        let read = |line: &str| {
            let mut ids = line.split(' ');
            let (commit, previous, second) = (ids.next()?, ids.next()?, ids.next()?);
            (second == head.as_str()).then(|| (commit.to_owned(), previous.to_owned()))
        };
        let Some((commit, previous)) = text.lines().rev().find_map(read) else { return Ok(None) };
        Ok(Some(Landed { commit: CommitId::parse(&commit)?, previous: CommitId::parse(&previous)? }))
    }

    /// Lets a checkout follow that a crash left behind between the swap and the update of its files.
    async fn follow(
        &self,
        serial: &Serial,
        target: &BranchName,
        previous: Option<&CommitId>,
        tip: &CommitId,
    ) -> Result<Checkout, Error> {
        let Some(location) = self.find_checkout(target).await? else { return Ok(Checkout::NotThere) };
        let Some(why) = self.judge_checkout(serial, &location, tip).await? else {
            return Ok(Checkout::FastForwarded { path: location.path });
        };
        if let Some(previous) = previous
            && self.judge_checkout(serial, &location, previous).await?.is_none()
        {
            return self.advance_checkout(serial, &location, previous, tip).await;
        }
        Ok(Checkout::LeftAlone { path: location.path, why })
    }
}
