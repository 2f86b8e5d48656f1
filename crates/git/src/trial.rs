//! Trial merges: which files of two commits would be in conflict, found without leaving anything behind.
//!
//! What a merge writes goes to an object folder of its own, which is deleted afterwards; so the repository gets no objects
//! that nothing points to, and nothing has to be locked. Attributes, merge drivers and everything else are those of a
//! real merge.

use std::path::PathBuf;
use std::time::Duration;

use crate::command::Git;
use crate::error::Error;
use crate::merge::{merge_tree_words, read_merge_tree};
use crate::name::CommitId;
use crate::programs::Overrides;
use crate::repository::Repository;
use crate::stand_in::borrowing;

/// Nobody waits for a trial; one that takes longer than this is not worth it.
const TIME_MAX: Duration = Duration::from_secs(30);

/// A place for trial merges; dropping it deletes what they wrote.
#[derive(Debug)]
pub struct Trial {
    repository: Repository,
    overrides: Overrides,
    objects: PathBuf,
}

impl Repository {
    /// Prepares trial merges. Only one process may do so at a time.
    pub async fn begin_trial(&self) -> Result<Trial, Error> {
        let objects = self.own_folder().join("trial");
        // A killed process may have left it.
        let _ = std::fs::remove_dir_all(&objects);
        std::fs::create_dir_all(&objects).map_err(Error::io("create", &objects))?;
        let overrides = self.overrides(self.git()).await?;
        Ok(Trial { repository: self.clone(), overrides, objects })
    }
}

impl Trial {
    /// Returns the files that would be in conflict if the two were merged; none if they merge.
    ///
    /// Bytes that are no UTF-8 are shown as replacement characters.
    pub async fn find_conflicts(&self, ours: &CommitId, theirs: &CommitId) -> Result<Vec<String>, Error> {
        let merged = self.git().args(merge_tree_words(ours, theirs)).run().await?;
        Ok(read_merge_tree(merged)?.err().unwrap_or_default())
    }

    fn git(&self) -> Git {
        let git = self.repository.git_at_root().overriding(&self.overrides).time_max(TIME_MAX);
        let objects = self.repository.common_dir().join("objects");
        borrowing(git, &objects).env("GIT_OBJECT_DIRECTORY", &self.objects)
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.objects);
    }
}
