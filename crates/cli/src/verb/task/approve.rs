//! `regatta task approve`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::verb::follow::{Begin, WaitOptions, interruption};
use crate::verb::person::Person;
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders::{self, Approving};
use regatta_engine::show_task;

/// Approve a task's diff and merge it
///
/// If a criterion is open, a configured check failed or did not run at this commit, or the diff changes files that Regatta
/// itself obeys (`.regatta`, `.gitattributes` …), it needs `--anyway` or your consent in a terminal.
#[derive(Args)]
pub(crate) struct Approve {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Comment, at most 1000 characters.
    #[arg(long, value_name = "TEXT")]
    feedback: Option<String>,
    /// Commit that you reviewed; refuse if the diff ends at another.
    #[arg(long, value_name = "SHA")]
    head: Option<String>,
    /// Approve despite open criteria, checks that failed or did not run, or changes to files that Regatta obeys.
    #[arg(long)]
    anyway: bool,
    #[command(flatten)]
    options: WaitOptions,
}

impl Approve {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let Approve { task, feedback, head, anyway, options } = self;
        let mut approval = Approving { feedback, head, anyway };
        if !anyway && place.screen.can_ask() {
            confirm(place, task, &mut approval).await?;
        }
        let title = format!("#{task} is being merged");
        let order = async |project: &_, caller: &_| orders::approve(project, caller, task, approval).await;
        options.carry_out(place, task, &title, Begin::WhenSettled, order).await
    }
}

/// Asks the person at the terminal about a diff that is not whole; the approval is then for the diff that they saw.
async fn confirm(place: &Place, task: TaskId, approval: &mut Approving) -> Result<(), Problem> {
    let project = place.open().await?;
    let view = show_task(&project, task).await?;
    let (Some(lacks), Some(diff)) = (view.lacks, view.diff) else { return Ok(()) };
    if view.phase != "ready" {
        return Ok(());
    }
    let mut progress = Progress::new(place.screen, "");
    progress.pause();
    let person = Person::who_may_leave(interruption());
    if person.confirm(&progress, task, &lacks).await? {
        approval.anyway = true;
        approval.head.get_or_insert_with(|| diff.head.to_string());
    }
    Ok(())
}
