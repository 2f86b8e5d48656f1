//! Pins the head of a completed diff, so that it can be fetched whatever happens to the branch.

use super::Work;
use crate::core::{Code, CommitId, Failure, Outcome, Problem, TaskId};
use crate::crash;
use crate::error::{Error, chain};
use crate::orders;
use regatta_git::RefName;

pub(super) async fn perform(work: &Work, task: TaskId, head: &CommitId, number: u32) -> Result<(), Error> {
    crash::point("record_diff.before");
    let name =
        RefName::parse(&format!("refs/regatta/review/{task}/{number}")).map_err(regatta_git::Error::from)?;
    let outcome = match work.project.repository().pin(&name, &orders::to_git(head)?).await {
        Ok(()) => Outcome::DiffRecorded,
        Err(error) => Outcome::DiffNotRecorded(explain(task, &error)),
    };
    work.keep_file(task).await?;
    crash::point("record_diff.after");
    work.settle(task, outcome).await
}

fn explain(task: TaskId, error: &regatta_git::Error) -> Failure {
    let next = format!("mend the cause and `regatta task complete {task}` again");
    let problem =
        Problem::new(Code::GitFailed, format!("the diff of task #{task} was not recorded"), "", next);
    Failure::from(Problem { why: chain(error), ..problem })
}
