//! What a task is busy with that a command has to wait for.

use super::{ReviewPhase, Stage, Task, WorkPhase};
use crate::Refusal;
use crate::machine::CommandKind::{self, Assign, Cancel};

/// Refuses a command while something is under way that it cannot interrupt.
///
/// `ASSIGN` is not legal outside the backlog; there it stands for `resume` and `reassign`, which ask for another session.
pub(crate) fn check_not_busy(task: &Task, command: CommandKind) -> Result<(), Refusal> {
    match find_doing(&task.stage, command) {
        Some(doing) => Err(Refusal::TaskBusy { task: task.id, doing }),
        None => Ok(()),
    }
}

fn find_doing(stage: &Stage, command: CommandKind) -> Option<&'static str> {
    match stage {
        Stage::Backlog | Stage::Verified(_) => None,
        Stage::InProgress(work) => match (&work.phase, command) {
            (WorkPhase::Halted | WorkPhase::Parked { .. } | WorkPhase::ByHand, _) => None,
            (WorkPhase::Handing { .. }, _) => Some("its agent is being stopped, because it was reassigned"),
            (WorkPhase::Unwinding, _) => {
                Some("its agent could not be started, and its worktree is being removed")
            }
            (WorkPhase::Stopping { .. } | WorkPhase::Removing { .. }, Cancel) => {
                Some("it is already being cancelled")
            }
            (WorkPhase::Stopping { .. } | WorkPhase::Removing { .. }, _) => Some("it is being cancelled"),
            // A session, and what leads to it, can be cancelled at any time.
            (_, Cancel) => None,
            (WorkPhase::Preparing, _) => Some("its worktree is being created"),
            (WorkPhase::Starting { .. }, _) => Some("its agent is being started"),
            (WorkPhase::Driven { session: Some(_), .. }, _) | (WorkPhase::Driven { .. }, Assign) => {
                Some("a run works on it")
            }
            (WorkPhase::Running { .. }, Assign) => Some("its session is running"),
            (WorkPhase::Driven { .. } | WorkPhase::Running { .. }, _) => None,
        },
        Stage::WaitingApproval(review) => match (&review.phase, command) {
            (ReviewPhase::Ready, _) => None,
            (ReviewPhase::Merging { .. }, _) => Some("it is approved and being merged"),
            (ReviewPhase::Stopping { .. } | ReviewPhase::Removing { .. }, Cancel) => {
                Some("it is already being cancelled")
            }
            (ReviewPhase::Stopping { .. } | ReviewPhase::Removing { .. }, _) => Some("it is being cancelled"),
            (ReviewPhase::Resubmitting { .. }, Cancel) => Some("its new diff is being recorded"),
            (ReviewPhase::Recording | ReviewPhase::Pausing | ReviewPhase::Checking, Cancel) => None,
            (ReviewPhase::Recording | ReviewPhase::Resubmitting { .. }, _) => {
                Some("its diff is being recorded")
            }
            (ReviewPhase::Pausing, _) => Some("its agent is being paused"),
            (ReviewPhase::Checking, _) => Some("the project's checks are being run"),
        },
    }
}
