//! Whose turn it is: who has to do something before a run continues.
//!
//! This is the one rule for code that waits for a run and for code that shows it. A run that waits for a task or for its
//! children has their turn, and names them. Whether an engine is there to take its turn is not known here.

use super::{Hold, Phase, Run, Situation, Working};
use crate::{Approval, ReviewPhase, RunId, Stage, Task, TaskId, WorkPhase};

/// Who has to do something before a run continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Nobody: it is over.
    Nobody,
    /// A person.
    Person,
    /// The engine; a run that is paused while something is under way rests only after that.
    Engine,
    /// The one who has the turn with this task, which is up for approval; see [`waits_for_person`].
    Task(TaskId),
    /// Those who have the turn with its children; those of a paused run come to the end of their steps.
    Children,
    /// The one who paused the run that waits for it, or one above that.
    Parent,
}

impl Run {
    /// Says whose turn it is.
    pub fn turn(&self) -> Turn {
        let Situation::Working(working) = &self.situation else { return Turn::Nobody };
        match &working.phase {
            // Its end follows by itself.
            _ if working.is_stopping() => Turn::Engine,
            Phase::Mapping(mapping) if working.awaits_pause() && mapping.is_under_way() => Turn::Children,
            _ if working.hold.is_some() && !working.is_asked => Turn::Person,
            // It can be answered all the same.
            Phase::Asking { .. } => Turn::Person,
            _ if working.is_parent_paused && !working.is_asked => Turn::Parent,
            Phase::Landing { task, .. } => Turn::Task(*task),
            Phase::Mapping(_) if !working.is_asked => Turn::Children,
            Phase::Mapping(_)
            | Phase::Publishing { .. }
            | Phase::Performing { .. }
            | Phase::Parallel { .. }
            | Phase::Passing
            | Phase::Ending => Turn::Engine,
        }
    }

    /// Returns the children that have begun and not ended.
    pub fn children_under_way(&self) -> Vec<RunId> {
        let Some(Phase::Mapping(mapping)) = self.phase() else { return Vec::new() };
        mapping.under_way().collect()
    }
}

impl Working {
    /// Tells whether it is paused, and only its children may still have something under way.
    fn awaits_pause(&self) -> bool {
        let is_paused =
            matches!(self.hold, Some(Hold::Paused)) || (self.hold.is_none() && self.is_parent_paused);
        is_paused && !self.is_asked
    }
}

/// Tells whether a task that a run waits for is a person's to decide: no policy approves it, or it could not.
pub fn waits_for_person(task: &Task) -> bool {
    match &task.stage {
        Stage::WaitingApproval(review) => {
            review.phase == ReviewPhase::Ready && (review.approval != Approval::Auto || task.error.is_some())
        }
        Stage::InProgress(work) => work.phase == WorkPhase::Halted,
        Stage::Backlog | Stage::Verified(_) => false,
    }
}
