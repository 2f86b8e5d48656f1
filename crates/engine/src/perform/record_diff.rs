//! Pins the head of a completed diff, so that it can be fetched whatever happens to the branch.

use crate::commands::orders;
use crate::core::{Code, CommitId, Failure, Outcome, Problem, TaskId};
use crate::crash;
use crate::error::{Error, chain};
use crate::perform::Work;
use regatta_git::RefName;

/// This much of a commit's id distinguishes it from any other that a ref of that name could have.
const ID_LETTERS: usize = 12;

pub(crate) async fn perform(work: &Work, task: TaskId, head: &CommitId, number: u32) -> Result<(), Error> {
    crash::point("record_diff.before");
    let outcome = match pin(work, task, head, number).await {
        Ok(()) => Outcome::DiffRecorded,
        Err(Error::Git(error)) => Outcome::DiffNotRecorded(explain(task, &error)),
        Err(other) => return Err(other),
    };
    work.keep_file(task).await?;
    crash::point("record_diff.after");
    work.moves.note();
    work.settle(task, outcome).await
}

/// Pins the head under the number of the review. Another log of this repository (an earlier one, or that of a
/// linked worktree) may have pinned a commit under the same name. That one stays, and the new name then
/// includes the commit.
async fn pin(work: &Work, task: TaskId, head: &CommitId, number: u32) -> Result<(), Error> {
    let (repository, commit) = (work.project.repository(), orders::to_git(head)?);
    let name = |end: &str| RefName::parse(&format!("refs/regatta/review/{task}/{number}{end}"));
    let plain = name("").map_err(regatta_git::Error::from)?;
    match repository.pin(&plain, &commit).await {
        Err(regatta_git::Error::RefElsewhere { .. }) => {
            let short = commit.as_str().get(..ID_LETTERS).unwrap_or_default();
            let own = name(&format!("-{short}")).map_err(regatta_git::Error::from)?;
            Ok(repository.pin(&own, &commit).await?)
        }
        pinned => Ok(pinned?),
    }
}

fn explain(task: TaskId, error: &regatta_git::Error) -> Failure {
    let next = format!("fix the cause, then `regatta task complete {task}` again");
    let problem =
        Problem::new(Code::GitFailed, format!("the diff of task #{task} was not recorded"), "", next);
    Failure::from(Problem { why: chain(error), ..problem })
}
