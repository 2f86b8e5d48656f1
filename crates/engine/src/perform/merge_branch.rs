//! Merges the approved head into the target branch, once, with every checkout of that branch.

use crate::commands::orders;
use crate::core::{CheckoutNote, Code, CommitId, Failure, Outcome, Problem, TaskId, explain_base_gone};
use crate::crash;
use crate::error::{Error, chain};
use crate::perform::Work;
use regatta_git::{BranchName, MergeOutcome, MergeRequest, MergeStep, Obstacle, Reason};
use serde_json::Value;
use std::path::Path;

/// More names do not help a reader; the details list all of them.
const FILES_NAMED_MAX: usize = 5;

/// What was approved, and by whom.
pub(crate) struct Approved {
    pub(crate) target: String,
    pub(crate) head: CommitId,
    /// Where the approved diff begins; a log of an earlier version does not say.
    pub(crate) base: Option<CommitId>,
    pub(crate) title: String,
    pub(crate) approver: String,
}

pub(crate) async fn perform(work: &Work, task: TaskId, approved: &Approved) -> Result<(), Error> {
    let Approved { target, head, base, title, approver } = approved;
    crash::point("merge_branch.before");
    let request = MergeRequest {
        target: BranchName::parse(target).map_err(regatta_git::Error::from)?,
        head: orders::to_git(head)?,
        base: base.as_ref().map(orders::to_git).transpose()?,
        message: format!("Merge task #{task}: {title}\n\nRegatta-Task: {task}\nApproved-by: {approver}\n"),
        author: orders::ourselves(work.at),
    };
    let outcome = match work.project.repository().merge(&request, &crash_between).await {
        Ok(
            MergeOutcome::Merged { commit, checkouts, .. }
            | MergeOutcome::AlreadyMerged { commit, checkouts },
        ) => {
            let checkouts = checkouts.iter().map(|path| note(path)).collect();
            Outcome::Merged { commit: orders::from_git(&commit), checkouts }
        }
        Ok(MergeOutcome::InTheWay { obstacles }) => {
            let files = obstacles.iter().flat_map(|obstacle| obstacle.files.clone()).collect();
            Outcome::NotMerged { files, failure: Failure::from(in_the_way(task, target, &obstacles)) }
        }
        Ok(MergeOutcome::BaseGone) => {
            let base = base.as_ref().unwrap_or(head);
            let failure = Failure::from(explain_base_gone(task, base, target));
            Outcome::NotMerged { files: Vec::new(), failure }
        }
        Ok(MergeOutcome::Conflict { files }) => {
            let failure = Failure::from(conflict(task, target, &files));
            Outcome::NotMerged { files, failure }
        }
        Err(error) => Outcome::NotMerged { files: Vec::new(), failure: failed(task, &error) },
    };
    crash::point("merge_branch.after");
    work.moves.note();
    work.settle(task, outcome).await
}

fn crash_between(step: MergeStep) {
    crash::point(match step {
        MergeStep::TreeWritten => "merge_branch.tree_written",
        MergeStep::CommitMade => "merge_branch.commit_made",
        MergeStep::RefLocked => "merge_branch.ref_locked",
        MergeStep::SubmodulesMoved => "merge_branch.submodules_moved",
        MergeStep::CheckoutMoved => "merge_branch.checkout_moved",
        MergeStep::RefCommitted => "merge_branch.ref_committed",
    });
}

fn note(checkout: &Path) -> CheckoutNote {
    CheckoutNote::FastForwarded { path: checkout.display().to_string() }
}

fn in_the_way(task: TaskId, target: &str, obstacles: &[Obstacle]) -> Problem {
    let mut problem = Problem::new(Code::CheckoutInTheWay, format!("task #{task} was not merged"), "", "");
    problem.why = obstacles.iter().map(|obstacle| tell(target, obstacle)).collect();
    let mut hints: Vec<&str> = obstacles.iter().map(|obstacle| hint(obstacle.reason)).collect();
    hints.dedup();
    problem.next =
        format!("{}; then `regatta task approve {task}` again (nothing was changed)", hints.join("; "));
    let checkouts: Vec<Value> = obstacles.iter().map(to_json).collect();
    problem.with("taskId", task.number()).with("target", target).with("checkouts", checkouts)
}

fn tell(target: &str, obstacle: &Obstacle) -> String {
    let files = match obstacle.files.len() {
        0 => String::new(),
        1..=FILES_NAMED_MAX => format!(": {}", obstacle.files.join(", ")),
        count => {
            format!(": {} and {} more", obstacle.files[..FILES_NAMED_MAX].join(", "), count - FILES_NAMED_MAX)
        }
    };
    format!(
        "the checkout of {target} in {} cannot follow: {}{files}",
        obstacle.checkout.display(),
        obstacle.why
    )
}

fn hint(reason: Reason) -> &'static str {
    match reason {
        Reason::Edited => "commit or stash your edits to these files",
        Reason::Untracked => "move these files away or delete them",
        Reason::Operation => "finish or abort what is in progress there",
        Reason::Locked => "wait for the other git, or delete its index.lock if none is running",
        Reason::Filter => "allow the filter with `[worktree] filters` in .regatta/config.toml",
        Reason::Submodule => {
            "commit what is in the submodule, or fetch the missing commit there with `git fetch`"
        }
        Reason::Missing => "make its folder available, or `git worktree unlock` it",
        Reason::Refused => "fix what git complains about",
    }
}

fn to_json(obstacle: &Obstacle) -> Value {
    serde_json::json!({
        "path": obstacle.checkout.display().to_string(),
        "reason": obstacle.reason.name(),
        "files": obstacle.files,
        "why": obstacle.why,
    })
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
    let next = format!("fix the cause, then `regatta task approve {task}` again");
    let problem = Problem::new(Code::GitFailed, format!("task #{task} was not merged"), "", next);
    Failure::from(Problem { why: chain(error), ..problem })
}
