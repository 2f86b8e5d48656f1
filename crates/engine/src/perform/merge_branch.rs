//! Merges the approved head into the target branch, once.

use super::Work;
use crate::core::{CheckoutNote, Code, CommitId, Failure, Outcome, Problem, TaskId};
use crate::crash;
use crate::error::{Error, chain};
use crate::orders;
use regatta_git::{BranchName, Checkout, MergeOutcome, MergeRequest, MergeStep};

pub(super) async fn perform(
    work: &Work,
    task: TaskId,
    target: &str,
    head: &CommitId,
    title: &str,
    approver: &str,
) -> Result<(), Error> {
    crash::point("merge_branch.before");
    let request = MergeRequest {
        target: BranchName::parse(target).map_err(regatta_git::Error::from)?,
        head: orders::to_git(head)?,
        message: format!("Merge task #{task}: {title}\n\nRegatta-Task: {task}\nApproved-by: {approver}\n"),
        author: orders::ourselves(work.at),
    };
    let outcome = match work.project.repository().merge(&request, &crash_between).await {
        Ok(
            MergeOutcome::Merged { commit, checkout, .. } | MergeOutcome::AlreadyMerged { commit, checkout },
        ) => Outcome::Merged { commit: orders::from_git(&commit), checkout: note(checkout) },
        Ok(MergeOutcome::Conflict { files }) => {
            let failure = Failure::from(conflict(task, target, &files));
            Outcome::NotMerged { files, failure }
        }
        Err(error) => Outcome::NotMerged { files: Vec::new(), failure: failed(task, &error) },
    };
    crash::point("merge_branch.after");
    work.settle(task, outcome).await
}

fn crash_between(step: MergeStep) {
    crash::point(match step {
        MergeStep::TreeWritten => "merge_branch.tree_written",
        MergeStep::CommitMade => "merge_branch.commit_made",
        MergeStep::RefSwapped => "merge_branch.ref_swapped",
        MergeStep::CheckoutUpdated => "merge_branch.checkout_updated",
    });
}

fn note(checkout: Checkout) -> CheckoutNote {
    match checkout {
        Checkout::NotThere => CheckoutNote::NotThere,
        Checkout::FastForwarded { path } => CheckoutNote::FastForwarded { path: path.display().to_string() },
        Checkout::LeftAlone { path, why } => {
            CheckoutNote::LeftAlone { path: path.display().to_string(), why }
        }
    }
}

fn conflict(task: TaskId, target: &str, files: &[String]) -> Problem {
    Problem::new(
        Code::WorktreeMergeConflict,
        format!("task #{task} was not merged"),
        format!("it conflicts with {target} in {}", files.join(", ")),
        format!(
            "`regatta task reject {task} --reason \"merge {target} into your branch and resolve the conflict\"` leaves it \
             to the agent; or run `git merge {target}` in the worktree (`regatta task open {task}`), resolve it, and \
             `regatta task submit {task}`"
        ),
    )
    .with("taskId", task.number())
    .with("files", files.to_vec())
}

fn failed(task: TaskId, error: &regatta_git::Error) -> Failure {
    let next = format!("mend the cause and `regatta task approve {task}` again");
    let problem = Problem::new(Code::GitFailed, format!("task #{task} was not merged"), "", next);
    Failure::from(Problem { why: chain(error), ..problem })
}
