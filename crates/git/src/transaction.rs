//! Holds a ref at its old value until the new one may become visible.
//!
//! While the lock is held nobody else can move the ref. It ends with a commit, a release, or the end of our
//! process, which counts as a release.

use crate::error::Error;
use crate::name::{CommitId, RefName};
use crate::repository::Repository;
use crate::talk::Talk;

/// A user's commit holds the lock for well under a second, and so does the rest of a merge whose engine was killed.
const WAIT: [&str; 4] = ["-c", "core.filesRefLockTimeout=10000", "-c", "reftable.lockTimeout=10000"];

/// A ref that is about to move.
pub(crate) struct RefLock {
    talk: Talk,
}

impl Repository {
    /// Locks a ref at a value that it must have, with the value that it is to get.
    pub(crate) async fn lock_ref(
        &self,
        name: &RefName,
        new: &CommitId,
        old: &CommitId,
    ) -> Result<RefLock, Error> {
        let words = ["update-ref", "--no-deref", "-m", "regatta", "--stdin"];
        let mut talk = self.git().args(WAIT).args(words).talk()?;
        talk.ask("start\n", "start: ok").await?;
        talk.ask(&format!("update {name} {new} {old}\nprepare\n"), "prepare: ok").await?;
        Ok(RefLock { talk })
    }
}

impl RefLock {
    /// Moves the ref.
    pub(crate) async fn commit(mut self) -> Result<(), Error> {
        self.talk.ask("commit\n", "commit: ok").await?;
        self.talk.end().await
    }

    /// Leaves the ref where it is.
    pub(crate) async fn release(mut self) -> Result<(), Error> {
        self.talk.ask("abort\n", "abort: ok").await?;
        self.talk.end().await
    }
}
