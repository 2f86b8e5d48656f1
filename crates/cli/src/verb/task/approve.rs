//! `regatta task approve`.

use super::task_id;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::verb::carry::{Begin, Manner, interruption};
use crate::verb::person::Person;
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders::{self, Approving};
use regatta_engine::show_task;

/// Approve the diff of a task and merge it.
///
/// A diff that is not whole needs `--anyway`, or your consent at a terminal: a criterion is open, a configured check
/// failed or did not run at this commit, or files that Regatta itself obeys are changed (`.regatta`, `.gitattributes` …).
#[derive(Args)]
pub(crate) struct Approve {
    /// The task's number.
    #[arg(value_name = "ID", value_parser = task_id)]
    task: TaskId,
    /// What the approver has to say, at most 1000 characters.
    #[arg(long, value_name = "TEXT")]
    feedback: Option<String>,
    /// The commit that was looked at; refused when the diff leads to another.
    #[arg(long, value_name = "SHA")]
    head: Option<String>,
    /// Approve although criteria are open, a check failed or did not run, or files that Regatta obeys are changed.
    #[arg(long)]
    anyway: bool,
    #[command(flatten)]
    manner: Manner,
}

impl Approve {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let Approve { task, feedback, head, anyway, manner } = self;
        let mut approval = Approving { feedback, head, anyway };
        if !anyway && place.screen.can_ask() {
            confirm(place, task, &mut approval).await?;
        }
        let title = format!("#{task} is being merged");
        let order = async |project: &_, giver: &_| orders::approve(project, giver, task, approval).await;
        manner.carry_out(place, task, &title, Begin::WhenSettled, order).await
    }
}

/// Asks the person at the terminal about a diff that is not whole; the approval is then for the diff that they saw.
async fn confirm(place: &Place, task: TaskId, approval: &mut Approving) -> Result<(), Problem> {
    let project = place.open().await?;
    let view = show_task(&project, task).await.map_err(|error| error.explain())?;
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
