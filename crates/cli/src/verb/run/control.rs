//! `regatta run pause` and `regatta run stop`.

use super::show::print_brief;
use crate::arguments::Place;
use crate::caller::Repeat;
use crate::exit::Exit;
use crate::verb::follow::WaitOptions;
use clap::Args;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::runs;
use std::sync::Arc;

/// Pause a run and its children after the current step.
#[derive(Args)]
pub(crate) struct Pause {
    /// Run number.
    #[arg(value_name = "ID")]
    run: RunId,
    #[command(flatten)]
    repeat: Repeat,
}

impl Pause {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        runs::pause(&project, &self.repeat.caller(), self.run).await?;
        print_brief(place, &project, self.run).await
    }
}

/// Stop a run and its running sessions; their work is kept.
#[derive(Args)]
pub(crate) struct Stop {
    /// Run number.
    #[arg(value_name = "ID")]
    run: RunId,
    /// Reason.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    options: WaitOptions,
}

impl Stop {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = Arc::new(place.open().await?);
        let title = format!("run {} is being stopped", self.run);
        let order = async |project: &_, caller: &_| {
            runs::stop(project, caller, self.run, self.reason).await.map(|()| self.run)
        };
        self.options.carry_to_end(place, project, Some(self.run), &title, order).await
    }
}
