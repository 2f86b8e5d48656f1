//! `regatta run fork`.

use super::carry::Manner;
use super::run_id;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::workflow::find_workflow;
use clap::Args;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::runs;
use std::sync::Arc;

/// Begins a new run where another stood before a step, and follows it.
///
/// Items that were merged by then stay merged; the others become new tasks. One that had been begun starts from the commit
/// that the step saw; where that is not known, it starts anew, and the answer says so. A replay
/// cannot be forked: what it merged is on its replay branch alone.
#[derive(Args)]
pub(crate) struct Fork {
    /// The number of the run to begin from.
    #[arg(value_name = "ID", value_parser = run_id)]
    run: RunId,
    /// The step to begin with; without this, the last one that the run came to.
    #[arg(long, value_name = "STEP")]
    at: Option<u64>,
    /// Goes on with another workflow, or with the same one as it is now; without this, with the definition that the run
    /// began with.
    #[arg(long, value_name = "WORKFLOW")]
    with: Option<String>,
    #[command(flatten)]
    manner: Manner,
}

impl Fork {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = Arc::new(place.open().await?);
        let title = format!("a fork of run {} begins", self.run);
        let with = match &self.with {
            Some(name) => Some(find_workflow(place, Some(&project), name)?),
            None => None,
        };
        let order =
            async |project: &_, giver: &_| runs::fork(project, giver, self.run, self.at, with.as_ref()).await;
        self.manner.carry_out(place, project, None, &title, order).await
    }
}
