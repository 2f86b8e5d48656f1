//! `regatta run answer`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::follow::WaitOptions;
use clap::Args;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::runs;
use std::sync::Arc;

/// Answer a run's question and follow it.
#[derive(Args)]
pub(crate) struct Answer {
    /// Run number.
    #[arg(value_name = "ID")]
    run: RunId,
    /// Answer.
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: String,
    /// Decline [default: approve].
    #[arg(long)]
    no: bool,
    #[command(flatten)]
    options: WaitOptions,
}

impl Answer {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = Arc::new(place.open().await?);
        // Before it waits for anything: somebody else may answer meanwhile, and the run ask another question.
        let step = runs::get_run(&project, self.run).await?.step;
        let title = format!("run {} continues", self.run);
        let order = async |project: &_, caller: &_| {
            let asked = (self.run, step);
            runs::answer(project, caller, asked, !self.no, self.text).await.map(|()| self.run)
        };
        self.options.carry_out_run(place, project, Some(self.run), &title, order).await
    }
}
