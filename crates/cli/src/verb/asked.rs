//! What a person is asked, and whether it still waits for them.
//!
//! An answer at a terminal may take hours, and anybody may give the same order elsewhere meanwhile. So the asker looks
//! again before the answer is carried out: it must never be taken for the answer to another diff or question.

use crate::progress::Progress;
use crate::screen::{CYAN, YELLOW};
use regatta_engine::core::run::{Phase, Run};
use regatta_engine::core::{CommitId, Problem, ReviewPhase, RunId, Stage, Task, TaskId};
use regatta_engine::{Project, orders, runs};

/// One thing that a person is asked.
pub(crate) enum Asked {
    /// What becomes of the diff of a task.
    Diff { task: TaskId, waits: Waits },
    /// What a run wants to know in a step.
    Question { run: RunId, step: u64 },
}

/// A diff that waits for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waits {
    /// The how-manieth of its task it is.
    completion: u32,
    /// The commit that it leads to.
    head: CommitId,
}

impl Asked {
    /// Asks about the diff of a task, if one waits.
    pub(crate) fn diff(task: &Task) -> Option<Self> {
        find_waiting(task).map(|waits| Asked::Diff { task: task.id, waits })
    }

    /// Asks what a run wants to know.
    pub(crate) fn question(run: &Run) -> Self {
        Asked::Question { run: run.id, step: run.step }
    }

    /// Returns the commit that an approval is for.
    pub(crate) fn head(&self) -> Option<String> {
        match self {
            Asked::Diff { waits, .. } => Some(waits.head.to_string()),
            Asked::Question { .. } => None,
        }
    }

    /// Tells whether it no longer waits, since somebody else came first, and says so.
    pub(crate) async fn is_past(&self, progress: &Progress, project: &Project) -> Result<bool, Problem> {
        let waits = match self {
            Asked::Diff { task, waits } => orders::get_task(project, *task)
                .await
                .map(|found| find_waiting(&found).as_ref() == Some(waits)),
            Asked::Question { run, step } => runs::get_run(project, *run)
                .await
                .map(|found| found.step == *step && matches!(found.phase(), Some(Phase::Asking { .. }))),
        };
        let is_past = !waits?;
        if is_past {
            let subject = match self {
                Asked::Diff { task, .. } => format!("#{task:<3}"),
                Asked::Question { run, .. } => format!("r{run:<3}"),
            };
            let text = "has been decided elsewhere; your answer is not used";
            progress.print(&format!("{CYAN}{subject}{CYAN:#} {YELLOW}{text}{YELLOW:#}"));
        }
        Ok(is_past)
    }
}

fn find_waiting(task: &Task) -> Option<Waits> {
    match &task.stage {
        Stage::WaitingApproval(review) if review.phase == ReviewPhase::Ready => {
            Some(Waits { completion: task.completions, head: review.diff.head.clone() })
        }
        _ => None,
    }
}
