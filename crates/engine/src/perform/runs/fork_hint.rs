//! Tells a user how to continue a run with a corrected definition.
//!
//! A child plays a part of the definition of the run that a person started, so that run is the one to fork.

use crate::core::run::Run;
use crate::error::Error;
use crate::perform::Work;
use crate::runs::path::find_root;

/// Returns the command that continues a run, or its outermost parent, with another definition.
pub(crate) async fn find(work: &Work, run: &Run) -> Result<String, Error> {
    let root = find_root(&work.project, run).await?;
    Ok(if root.within.is_empty() {
        format!("`regatta run fork {} --with WORKFLOW`", root.id)
    } else {
        // A fork of a child has no parent, and plays what the child played: only a new run plays something
        // else.
        "`regatta run WORKFLOW`".to_owned()
    })
}
