//! A task: the unit of isolation (one branch, one worktree) and of approval.
//!
//! The rules of each command, with its guards, are in a file of their own; [`evolve`] folds facts. No IO, no clock.

mod answers;
mod approve;
mod assign;
mod busy;
mod cancel;
mod checks;
mod collisions;
#[cfg(test)]
mod compensation;
mod complete;
mod create;
mod delete;
mod depend;
mod driven;
mod edit;
mod evolve;
mod findings;
mod follow;
mod hide;
mod moved_refs;
mod outcome;
mod park;
mod queue;
mod reading;
mod reassign;
mod refused;
mod reject;
mod release;
mod source;
mod state;
mod submit;
mod take;
mod whole;
mod worked;

pub use answers::{CommentAnswer, CommentAnswers};
pub(crate) use approve::{approve, diff_is_current, has_diff, is_valid_approver};
pub(crate) use assign::{
    assign, can_assign, dependencies_verified, has_available_agent, wait_for, within_concurrency_limit,
};
pub(crate) use busy::check_not_busy;
pub(crate) use cancel::{can_cancel, cancel};
pub use collisions::{Collision, CollisionKind, Forecast};
pub(crate) use collisions::{can_collide, note_collisions};
pub(crate) use complete::{complete, diff_not_empty};
pub(crate) use create::create;
pub(crate) use delete::delete;
pub(crate) use depend::depend;
pub(crate) use edit::check_edit;
pub(crate) use evolve::try_evolve;
pub use findings::{Finding, Findings};
pub(crate) use hide::{can_hide, hide};
pub(crate) use moved_refs::note_moved_refs;
pub use moved_refs::{MovedRef, MovedRefs};
pub(crate) use outcome::report;
pub use park::find_next_try;
pub(crate) use park::resume;
pub(crate) use queue::{dequeue, note_unassignable};
pub use reading::Standing;
pub use reassign::Handover;
pub(crate) use reassign::reassign;
pub(crate) use refused::{note_refused, one_line};
pub(crate) use reject::{can_reject, reject};
pub use release::take_up;
pub use source::TaskSource;
pub use state::{
    Cleanup, Criterion, Diff, Evidence, Failure, Landed, Memory, OutputNote, Park, Priority, Proof,
    Rejection, Review, ReviewNote, ReviewPhase, Row, Salvage, Stage, Task, Work, WorkPhase, Worktree,
    WorktreeState,
};
pub(crate) use submit::submit;
pub(crate) use take::take;
pub use whole::Lacks;
pub(crate) use whole::explain as explain_lacks;
pub(crate) use worked::note_worked;
pub use worked::{Worked, WorkedAction, WorkedCommit, WorkedFile};
