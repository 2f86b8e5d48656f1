//! A task that a run put up for approval and that does not merge: the workflow may have an edge for that.
//!
//! Whether an edge holds is decided before anything is stored, because without one a person resolves the conflict and the
//! run keeps waiting. The task goes back to the run when one of its steps takes it up, see [`claim`](super::claim).

use crate::commands::batch::Batch;
use crate::commands::orders;
use crate::commands::round::{self, Round, Verdict};
use crate::core::run::{self, Command, Conflict, Run};
use crate::core::{Actor, Code, ReviewPhase, RunId, Stage, Task};
use crate::error::Error;
use crate::perform::Work;
use crate::project::Project;
use crate::runs::driver::Driver;
use regatta_git::BranchName;
use serde_json::Value;

/// Finds how an approved task does not merge.
pub(crate) async fn find(project: &Project, task: &Task) -> Result<Option<Conflict>, Error> {
    let Stage::WaitingApproval(review) = &task.stage else { return Ok(None) };
    let is_conflict = |error: &&crate::core::Failure| error.code == Code::WorktreeMergeConflict;
    let Some(error) = task.error.as_ref().filter(is_conflict) else { return Ok(None) };
    if review.phase != ReviewPhase::Ready {
        return Ok(None);
    }
    let target = review.worktree.target.clone();
    let branch = BranchName::parse(&target).map_err(regatta_git::Error::from)?;
    let head = project.repository().find_branch(&branch).await?;
    let files = error.details.get("files").and_then(Value::as_array).into_iter().flatten();
    let files = files.filter_map(Value::as_str).map(str::to_owned).collect();
    Ok(Some(Conflict { files, target, head: head.as_ref().map(orders::from_git) }))
}

/// Tells whether the workflow of a run handles the conflict of the task that it waits for.
pub(crate) async fn is_handled(project: &Project, run: &Run, task: &Task) -> Result<bool, Error> {
    let Some(conflict) = find(project, task).await? else { return Ok(false) };
    let driver = match Driver::load(project, run.id).await {
        // A definition that cannot be read handles nothing.
        Err(Error::Workflow(_)) => return Ok(false),
        loaded => loaded?,
    };
    // It has gone on since it was looked at.
    if (driver.run().step, driver.run().phase()) != (run.step, run.phase()) {
        return Ok(true);
    }
    let command = Command::Conflicted { step: run.step, conflict };
    let decided = run::decide(driver.inputs(crate::clock::now()), driver.run(), &command);
    Ok(decided.is_ok_and(|events| !events.is_empty()))
}

/// Follows the edge for a conflict, and settles the intent with it; tells whether there is one that holds.
pub(crate) async fn follow(work: &Work, run: RunId, command: Command) -> Result<bool, Error> {
    let followed = round::submit(&work.project, &work.envelope(), &Follow { run, command }, None).await?;
    Ok(followed.answer)
}

struct Follow {
    run: RunId,
    command: Command,
}

impl Round for Follow {
    type Reads = Driver;
    type Answer = bool;

    async fn load(&self, project: &Project) -> Result<Driver, Error> {
        Driver::load(project, self.run).await
    }

    fn decide(&self, driver: &mut Driver, batch: &mut Batch) -> Result<Verdict<bool>, Error> {
        let events = run::decide(driver.inputs(batch.at), driver.run(), &self.command);
        if events.map_err(Error::Refused)?.is_empty() {
            return Ok(Verdict::Withdraw(false));
        }
        driver.decide(Actor::Engine, &self.command, batch)?;
        Ok(Verdict::Append(true))
    }
}
