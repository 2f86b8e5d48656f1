//! `regatta task progress`.

use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::edits::{self, Progress as Entry};

/// Add an entry to a task's progress log.
#[derive(Args)]
pub(crate) struct Progress {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// What was done.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    did: String,
    /// Issues met.
    #[arg(long, value_name = "TEXT", default_value = "None", allow_hyphen_values = true)]
    issues: String,
    /// What comes next.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    next: String,
}

impl Progress {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let caller = crate::caller::caller(None);
        let entry = Entry { did: self.did, issues: self.issues, next: self.next };
        edits::log_progress(&project, &caller, self.task, &entry).await?;
        super::show::print(place, &project, self.task).await
    }
}
