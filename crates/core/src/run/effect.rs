//! What the world must be asked to do after a fact about a run.

use super::{Event, Phase, Run, Situation, failure};
use crate::{Effect, Failure, TaskId};

/// Says what the world must be asked to do after `event`, which turned a run that was asked or not into `run`.
pub fn effects(was_asked: bool, run: &Run, event: &Event) -> Vec<Effect> {
    // An edit asks for nothing, also of a run that has ended.
    if let Event::RunEdited { .. } | Event::RunEditKept { .. } = event {
        return Vec::new();
    }
    let mut asked = Vec::new();
    if let Event::RunStopping { .. } = event {
        asked.push(Effect::StopRun { run: run.id });
    }
    if let Some((item, error)) = find_given_up(run, event)
        && let Some(task) = run.tasks.get(item)
    {
        asked.push(Effect::ReleaseTask { run: run.id, task: *task, error: Some(error) });
    }
    if let Some((item, reason)) = find_dropped(run, event)
        && let Some(task) = run.tasks.get(item)
    {
        asked.push(Effect::DropTask { run: run.id, task: *task, reason });
    }
    if run.is_over() {
        asked.extend(at_end(run));
        return asked;
    }
    // Its failure is the next event.
    let is_performing = matches!(run.phase(), Some(Phase::Performing { .. } | Phase::Parallel { .. }));
    let is_lost = matches!(event, Event::RunPublished { .. }) && is_performing && run.lacks_task();
    if run.is_asked() && (begins(event) || !was_asked) && !is_lost {
        asked.extend(of_phase(run));
    }
    asked
}

/// Returns the item that the workflow gives up with the event, and why.
fn find_given_up<'e>(run: &Run, event: &'e Event) -> Option<(&'e String, Failure)> {
    match event {
        Event::RunStepped { choice, .. } => Some((choice.fail.as_ref()?, failure::given_up(run.id, choice))),
        Event::RunSentBack { fail, .. } => Some((fail.as_ref()?, failure::sent_back_and_given_up(run.id))),
        _ => None,
    }
}

/// Returns the item whose task the workflow cancels with the event, and why.
fn find_dropped<'e>(run: &Run, event: &'e Event) -> Option<(&'e String, String)> {
    let id = run.id;
    match event {
        Event::RunStepped { choice, .. } => {
            Some((choice.drop.as_ref()?, format!("run {id} dropped it: edge `{}`", choice.edge)))
        }
        Event::RunSentBack { drop, .. } => {
            Some((drop.as_ref()?, format!("run {id} dropped it, since it was sent back")))
        }
        _ => None,
    }
}

/// Tells whether what the run needs after the event is not what it may have needed before.
fn begins(event: &Event) -> bool {
    match event {
        Event::RunCreated { .. }
        | Event::RunPublished { .. }
        | Event::RunStepped { .. }
        | Event::RunOutputRefused { .. }
        | Event::RunChildrenStarted { .. }
        | Event::RunLanded { .. }
        | Event::RunSentBack { .. }
        | Event::RunSignalled { next: Some(_), .. } => true,
        // What is under way stays under way.
        Event::WorkflowKept { .. }
        | Event::RunAgentRefused { .. }
        | Event::RunMemberEnded { .. }
        | Event::RunChildEnded { .. }
        | Event::RunSignalled { next: None, .. }
        | Event::RunEdited { .. }
        | Event::RunEditKept { .. }
        | Event::RunHeld { .. }
        | Event::RunPutOff { .. }
        | Event::RunPaused { .. }
        | Event::RunResumed { .. }
        | Event::RunParentPaused { .. }
        | Event::RunParentResumed { .. }
        | Event::RunStopping { .. }
        | Event::RunCompleted { .. }
        | Event::RunFailed { .. } => false,
    }
}

fn of_phase(run: &Run) -> Option<Effect> {
    let (id, step) = (run.id, run.step);
    match run.phase()? {
        Phase::Publishing { .. } => Some(Effect::PublishItems { run: id, step }),
        Phase::Performing { asks, .. } => {
            Some(Effect::PerformNode { run: id, step, asks: *asks, task: run.find_task() })
        }
        Phase::Parallel { .. } => Some(Effect::PerformNode { run: id, step, asks: 0, task: None }),
        Phase::Mapping(_) => Some(Effect::StartChildren { run: id, step }),
        Phase::Landing { task, .. } => Some(Effect::LandTask { run: id, step, task: *task }),
        Phase::Asking { .. } | Phase::Passing | Phase::Ending => None,
    }
}

/// The tasks that the run has taken up are let go of, and the run that waits for it learns of its end.
fn at_end(run: &Run) -> Vec<Effect> {
    let error = match &run.situation {
        Situation::Failed { error } => Some(error),
        _ => None,
    };
    let release = |task: &TaskId| Effect::ReleaseTask { run: run.id, task: *task, error: error.cloned() };
    let driven = run.driven.iter().filter_map(|item| run.tasks.get(item));
    let mut asked: Vec<Effect> = driven.map(release).collect();
    if let Some(parent) = &run.parent {
        let item = parent.item.clone();
        asked.push(Effect::TellParent { run: run.id, parent: parent.run_id, item });
    }
    asked
}
