//! `regatta run log`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::session_log::LogOptions;
use clap::Args;
use regatta_engine::Project;
use regatta_engine::core::session::Scope;
use regatta_engine::core::{Problem, RunId, WaitsFor};
use regatta_engine::runs::show_run;

/// Show what the agents of a run and its children said and did
///
/// The sessions of all roles are printed in the order in which they started. With `--follow` it prints while they run, and
/// ends when the run has ended or waits for you.
#[derive(Args)]
pub(crate) struct Log {
    /// Run number
    #[arg(value_name = "ID")]
    run: RunId,
    #[command(flatten)]
    options: LogOptions,
}

impl Log {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let run = self.run;
        show_run(&project, run).await?;
        let continues = async |project: &Project| {
            let (view, _) = show_run(project, run).await?;
            Ok(!matches!(view.waits_for, WaitsFor::You | WaitsFor::Nobody))
        };
        self.options.print(place, &project, Scope::Run(run), continues).await?;
        Ok(Exit::Done)
    }
}
