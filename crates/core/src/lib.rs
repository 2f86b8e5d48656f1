//! The rules of Regatta, and nothing but the rules.
//!
//! Plain functions over plain data: [`decide`] says what happens or why it may not, [`Task::evolve`] folds one
//! fact into the state, [`effects`] says what the world must now be asked to do. Nothing here is `async`, logs,
//! reads a clock, makes an id or touches a disk: times, ids and what was seen outside arrive inside the command.
//!
//! Start reading at [`machine::TRANSITIONS`], then [`decide`].

#[macro_use]
mod events;

mod actor;
mod any_event;
mod assignments;
mod code;
mod command;
mod comment;
mod decide;
pub mod document;
mod effect;
mod event;
mod failure_class;
mod file;
mod id;
pub mod machine;
pub mod message;
mod plain;
mod plan;
mod problem;
mod refusal;
mod replay;
pub mod run;
pub mod session;
mod settings;
mod task;
mod waiting;

#[cfg(test)]
mod cells;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;

pub use actor::Actor;
pub use any_event::AnyEvent;
pub use assignments::{AgentState, Assignment, Assignments, Queued, Shortage};
pub use code::Code;
pub use command::{
    Approve, Assign, Assignee, Cancel, Command, Complete, Create, Depend, Feedback, FieldFault, Outcome,
    Reassign, Refused, Reject, Revise, RunEnd, Seen, SessionEnd, SessionFailure, Start, Take, is_title,
};
pub use comment::{COMMENTS_MAX, Comment, Part, Side, render_comments};
pub use decide::{Answer, Decision, Situation, decide};
pub use effect::{Asker, Effect, Resume, effects};
pub use event::{CheckoutNote, Event, Fact};
pub use failure_class::FailureClass;
pub use file::{
    CriterionNote, Edit, EditStep, FileChange, FileText, FileVersion, Filed, InputNote, Origin, ProgressNote,
    Splice,
};
pub use id::{AgentId, CommitId, EpicId, Id, MessageId, PrdSlug, RunId, TaskId};
pub use plain::plain_text;
pub use plan::Plan;
pub use problem::Problem;
pub use refusal::{Refusal, explain_base_gone};
pub use regatta_flow::find_nearest;
pub use replay::{
    Unsound, replay_assignments, replay_catalogue, replay_epic, replay_inbox, replay_plan, replay_prd,
    replay_run, replay_task,
};
pub use settings::{AgentSettings, Approval, Retries, Settings};
pub use task::{
    Cleanup, Collision, CollisionKind, CommentAnswer, CommentAnswers, Criterion, Diff, Evidence, Failure,
    Finding, Findings, Forecast, Handover, Lacks, Landed, Memory, MovedRef, MovedRefs, OutputNote, Park,
    Priority, Proof, Rejection, Review, ReviewNote, ReviewPhase, Row, Salvage, Stage, Standing, Task,
    TaskSource, Work, WorkPhase, Worked, WorkedAction, WorkedCommit, WorkedFile, Worktree, WorktreeState,
    find_next_try, take_up,
};
pub use waiting::{Around, Spans, Wait, WaitsFor};
