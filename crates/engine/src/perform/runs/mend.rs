//! How a run goes on with a mended definition, in the words that a user is told.
//!
//! A child plays a part of the definition of the run that a person began, so that is the one to fork.

use crate::core::run::Run;
use crate::error::Error;
use crate::perform::Work;
use crate::runs::way::find_root;

/// Returns the command that has a run, or the one that it is a child of, go on with another definition.
pub(crate) async fn find_command(work: &Work, run: &Run) -> Result<String, Error> {
    let root = find_root(&work.project, run).await?;
    Ok(if root.within.is_empty() {
        format!("`regatta run fork {} --with WORKFLOW`", root.id)
    } else {
        // A fork of a child is nobody's child, and plays what the child played: only a new run plays something else.
        "`regatta run WORKFLOW`".to_owned()
    })
}
