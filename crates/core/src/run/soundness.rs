//! Whether an event fits the current state of a run: asked only by `replay`.
//!
//! What two people do at the same time may be in the log in either order, so not every swap of two events is
//! noticed here; the numbers of the store show that none is missing.

use super::{ChildEnd, Event, Hold, MemberState, Next, Phase, Run, Situation, Working};
use crate::{Code, RunId, TaskId};
use std::collections::BTreeMap;

/// Tells whether the event can follow.
pub(super) fn carries(run: &Run, event: &Event) -> bool {
    if let Event::RunSignalled { step, next, .. } = event {
        let may_continue = run.is_over() && run.parent.is_none();
        return *step == run.step && if next.is_some() { may_continue } else { !run.is_over() };
    }
    // An edit of a file is refused also when the run has ended, and that is recorded.
    if let Event::RunEditKept { step, .. } = event {
        return *step <= run.step;
    }
    let Situation::Working(working) = &run.situation else { return false };
    let at = |step: &u64| *step == run.step;
    let is_stopping = working.is_stopping();
    let is_open = working.phase != Phase::Ending;
    match event {
        Event::WorkflowKept { .. }
        | Event::RunCreated { .. }
        | Event::RunSignalled { .. }
        | Event::RunEditKept { .. } => false,
        Event::RunEdited { step, .. } => at(step),
        Event::RunAgentRefused { step, .. } => at(step),
        Event::RunPublished { step, .. } => {
            at(step) && matches!(working.phase, Phase::Publishing { .. }) && working.is_asked
        }
        Event::RunStepped { step, node, next, outcome, .. } => {
            let has_come = match outcome {
                None => is_performed(working),
                Some(_) => may_come(working),
            };
            at(step) && *node == run.node && has_come && !is_stopping && leads_on(run, next)
        }
        Event::RunMemberEnded { step, node, .. } => {
            let is_open = |state: &MemberState| state.member.node == *node && state.is_open();
            at(step) && working.is_asked && !is_stopping && run.members().iter().any(is_open)
        }
        Event::RunOutputRefused { step, asks, .. } => {
            let is_next =
                matches!(working.phase, Phase::Performing { asks: before, .. } if *asks == before + 1);
            at(step) && is_next && working.is_asked && !is_stopping
        }
        Event::RunChildrenStarted { step, children, .. } => {
            at(step) && working.is_asked && are_waiting(run, children)
        }
        Event::RunChildEnded { step, item, child, .. } => at(step) && may_end(run, item, child),
        Event::RunLanded { step, task_id, .. } | Event::RunSentBack { step, task_id, .. } => {
            at(step) && is_landing(run, *task_id)
        }
        Event::RunHeld { step, .. } => at(step) && is_open && working.is_asked && !is_stopping,
        Event::RunPutOff { step, .. } => at(step) && run.may_be_put_off(),
        Event::RunPaused { .. } => is_open && working.hold.is_none(),
        Event::RunResumed { .. } => matches!(working.hold, Some(Hold::Paused | Hold::Error { .. })),
        Event::RunParentPaused { .. } => is_open && run.parent.is_some() && !working.is_parent_paused,
        Event::RunParentResumed { .. } => working.is_parent_paused,
        Event::RunStopping { .. } => working.is_at_work() && !is_stopping,
        Event::RunCompleted { .. } => !is_open,
        Event::RunFailed { error, .. } if error.code == Code::RunStopped => {
            is_open && (is_stopping || !working.is_at_work())
        }
        Event::RunFailed { outcome: Some(_), .. } => may_come(working) && !is_stopping,
        // What a node returned is kept if that is why it failed; otherwise an end says so, what came of a task, that
        // there is none, that the node can never be performed, or that what it returned could not be kept.
        Event::RunFailed { output: Some(_), .. } => is_performed(working) && !is_stopping,
        Event::RunFailed { error, output: None, .. } => match working.phase {
            Phase::Performing { .. } | Phase::Parallel { .. } if run.lacks_task() => true,
            Phase::Performing { .. } | Phase::Parallel { .. } | Phase::Publishing { .. } => {
                let is_known = matches!(error.code, Code::EdgeEvaluationFailed | Code::AgentOutputInvalid);
                is_known && working.is_asked && !is_stopping
            }
            Phase::Ending | Phase::Landing { .. } => true,
            _ => false,
        },
    }
}

/// Tells whether something may have come of the node instead of a result.
fn may_come(working: &Working) -> bool {
    match &working.phase {
        Phase::Performing { .. } => working.is_asked,
        Phase::Parallel { members } => working.is_asked && !members.iter().any(MemberState::is_open),
        Phase::Landing { .. } => true,
        _ => false,
    }
}

/// Tells whether the node has returned something.
fn is_performed(working: &Working) -> bool {
    match &working.phase {
        Phase::Performing { .. } => working.is_asked,
        Phase::Parallel { members } => working.is_asked && members.iter().all(MemberState::has_returned),
        Phase::Asking { .. } | Phase::Passing => true,
        Phase::Mapping(mapping) => mapping.is_over(),
        _ => false,
    }
}

/// Only a task that is on the board can be put up for approval.
fn leads_on(run: &Run, next: &Next) -> bool {
    match next {
        Next::Land { node, item, task_id, .. } => {
            run.board && *node == run.node && run.tasks.get(item) == Some(task_id)
        }
        Next::Perform { .. }
        | Next::Parallel { .. }
        | Next::Pass { .. }
        | Next::Ask { .. }
        | Next::Map { .. }
        | Next::End { .. } => true,
    }
}

fn are_waiting(run: &Run, children: &BTreeMap<String, RunId>) -> bool {
    let Some(Phase::Mapping(mapping)) = run.phase() else { return false };
    children.keys().all(|key| mapping.is_waiting(key))
}

fn may_end(run: &Run, item: &str, end: &ChildEnd) -> bool {
    let Some(Phase::Mapping(mapping)) = run.phase() else { return false };
    let is_skipped = *end == ChildEnd::Skipped;
    mapping.find(item).is_some_and(|child| child.end.is_none() && child.run.is_none() == is_skipped)
}

fn is_landing(run: &Run, task: TaskId) -> bool {
    matches!(run.phase(), Some(Phase::Landing { task: waiting, .. }) if *waiting == task)
}
