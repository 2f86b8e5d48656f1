//! Patches that are being reviewed, read once and kept while a page fetches them in pieces.

use regatta_board::diff::{Highlighter, Patch};
use regatta_engine::core::{CommitId, Problem};
use regatta_engine::{Project, read_patch};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// How many people review at once; a patch may have many megabytes.
const PATCHES_MAX: usize = 6;

/// What is kept for reviews.
#[derive(Default)]
pub(crate) struct Reviews {
    patches: Mutex<Vec<(Ends, Arc<Patch>)>>,
    highlighter: LazyLock<Highlighter>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Ends {
    base: CommitId,
    head: CommitId,
}

impl Reviews {
    /// Returns the patch between two commits. Commits never change, so neither does it.
    pub(crate) async fn patch(
        &self,
        project: &Project,
        base: &CommitId,
        head: &CommitId,
    ) -> Result<Arc<Patch>, Problem> {
        let ends = Ends { base: base.clone(), head: head.clone() };
        if let Some(patch) = self.find(&ends) {
            return Ok(patch);
        }
        let read = read_patch(project, base, head).await?;
        let mut patch = Patch::parse(&read.text);
        patch.is_cut |= read.is_truncated;
        let patch = Arc::new(patch);
        let mut patches = self.patches.lock().unwrap_or_else(PoisonError::into_inner);
        patches.truncate(PATCHES_MAX - 1);
        patches.insert(0, (ends, Arc::clone(&patch)));
        Ok(patch)
    }

    /// Returns the grammars, which take some time to load.
    pub(crate) fn highlighter(&self) -> &Highlighter {
        &self.highlighter
    }

    fn find(&self, ends: &Ends) -> Option<Arc<Patch>> {
        let mut patches = self.patches.lock().unwrap_or_else(PoisonError::into_inner);
        let place = patches.iter().position(|(known, _)| known == ends)?;
        let found = patches.remove(place);
        patches.insert(0, found);
        Some(Arc::clone(&patches[0].1))
    }
}
