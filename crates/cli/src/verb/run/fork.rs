//! `regatta run fork`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::follow::WaitOptions;
use crate::verb::workflow::find_workflow;
use clap::Args;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::runs;
use std::sync::Arc;

/// Start a new run from a step of an earlier one, and follow it
///
/// Items merged by then stay merged; the others become new tasks. An item in progress starts from the commit that it had at
/// that step or, if that is not known, from the target branch, and the answer says so. A replay cannot be forked: what it
/// merged is only on its replay branch.
#[derive(Args)]
pub(crate) struct Fork {
    /// Number of the earlier run.
    #[arg(value_name = "ID")]
    run: RunId,
    /// First step of the new run [default: the last step that the earlier run reached].
    #[arg(long, value_name = "STEP")]
    at: Option<u64>,
    /// Workflow to continue with, also the current version of the same one [default: the definition that the earlier
    /// run started with].
    #[arg(long, value_name = "WORKFLOW")]
    with: Option<String>,
    #[command(flatten)]
    options: WaitOptions,
}

impl Fork {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = Arc::new(place.open().await?);
        let title = format!("a fork of run {} starts", self.run);
        let with = match &self.with {
            Some(name) => Some(find_workflow(place, Some(&project), name)?),
            None => None,
        };
        let order = async |project: &_, caller: &_| {
            runs::fork(project, caller, self.run, self.at, with.as_ref()).await
        };
        self.options.carry_out_run(place, project, None, &title, order).await
    }
}
