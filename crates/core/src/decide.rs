//! What happens when a command is given, or why it may not.
//!
//! The one place where a command meets the table: what is not in [`TRANSITIONS`](crate::machine::TRANSITIONS) is
//! refused here, and so is what a guard of its row refuses. The file of the command makes the events.

use crate::document::Catalogue;
use crate::machine::{self, Attempt, Stop};
use crate::{
    Actor, Assignments, Code, Command, Event, Plan, Refusal, Settings, Standing, Task, TaskId, file, task,
};
use std::collections::BTreeMap;

/// Everything a decision about one task may depend on.
#[derive(Debug, Clone)]
pub struct Situation<'a> {
    /// The task, unless it is to be created.
    pub task: Option<&'a Task>,
    /// Who works on what.
    pub assignments: &'a Assignments,
    /// Which task depends on which; needed by `Create`, `Depend` and `Delete`.
    pub plan: &'a Plan,
    /// Which epics and PRDs there are; needed by a `Create` that names one.
    pub catalogue: &'a Catalogue,
    /// Where the tasks stand that this one depends on; needed by `Assign`, `Take` and `Reassign`.
    pub upstream: &'a BTreeMap<TaskId, Standing>,
    /// The project's settings.
    pub settings: &'a Settings,
}

/// What happens, and the answer to the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The facts, in order; none when the command changes nothing.
    pub events: Vec<Event>,
    /// What to answer.
    pub answer: Answer,
}

/// The answer to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It is done, or under way.
    Accepted,
    /// Nobody is free; the task waits in the queue.
    Queued {
        /// Whether its agent is busy, or every place is taken.
        code: Code,
        /// Tasks that the agent, or the whole assignments, works on.
        working: u32,
        /// As many as it may work on.
        limit: u32,
    },
}

/// Says what happens when `actor` gives `command`, or why it may not.
pub fn decide(
    situation: &Situation<'_>,
    id: TaskId,
    actor: &Actor,
    command: &Command,
) -> Result<Decision, Refusal> {
    let existing = || situation.task.ok_or(Refusal::TaskNotFound { task: id });
    match command {
        Command::Create(create) => task::create(situation, id, create).map(accepted),
        Command::Depend(depend) => task::depend(situation.plan, existing()?, depend).map(accepted),
        Command::Reassign(reassign) => task::reassign(situation, existing()?, actor, reassign),
        Command::Dequeue => task::dequeue(situation.assignments, existing()?).map(accepted),
        Command::NoteUnassignable(failure) => {
            Ok(accepted(task::note_unassignable(situation.assignments, existing()?, failure)))
        }
        Command::Submit(submit) => task::submit(situation, existing()?, actor, submit),
        Command::Resume(feedback) => task::resume(existing()?, feedback.text.as_deref()).map(accepted),
        Command::Delete => task::delete(situation.plan, existing()?).map(accepted),
        Command::Hide { hidden } => task::hide(existing()?, *hidden).map(accepted),
        Command::Edit(edit) => {
            task::check_edit(situation, existing()?, edit)?;
            Ok(accepted(file::edit(existing()?.id, edit)))
        }
        Command::NoteRefused(refused) => Ok(accepted(vec![task::note_refused(existing()?.id, refused)])),
        Command::NoteMovedRefs(moved) => Ok(accepted(task::note_moved_refs(existing()?.id, moved))),
        Command::NoteWorked(worked) => Ok(accepted(vec![task::note_worked(existing()?.id, worked)])),
        Command::NoteCollisions(forecast) => Ok(accepted(task::note_collisions(existing()?, forecast))),
        Command::Report(outcome) => Ok(accepted(task::report(situation.settings, existing()?, outcome))),
        Command::Assign(_)
        | Command::Take(_)
        | Command::Complete(_)
        | Command::Approve(_)
        | Command::Reject(_)
        | Command::Cancel(_) => carry_out(situation, &Attempt { task: existing()?, actor, command }),
    }
}

/// Carries out a command of the machine: it must be in the table, nothing may be under way that it has to wait for, and
/// every guard of its row must hold, in their order.
pub(crate) fn carry_out(situation: &Situation<'_>, attempt: &Attempt<'_>) -> Result<Decision, Refusal> {
    let Attempt { task, command, .. } = *attempt;
    let Some(kind) = command.kind() else { return Ok(accepted(Vec::new())) };
    let column = task.column();
    let illegal = Refusal::InvalidTransition { task: task.id, column, command: kind };
    let row = machine::find(column, kind).ok_or(illegal)?;
    task::check_not_busy(task, kind)?;
    let held = row.guards.iter().try_for_each(|guard| (guard.check)(situation, attempt));
    match held.and_then(|()| find_facts(situation, attempt)) {
        Ok(events) => Ok(accepted(events)),
        Err(Stop::Refused(refusal)) => Err(refusal),
        Err(Stop::Short(shortage)) => task::wait_for(situation, attempt, shortage),
    }
}

fn find_facts(situation: &Situation<'_>, attempt: &Attempt<'_>) -> Result<Vec<Event>, Stop> {
    let (settings, Attempt { task, actor, command }) = (situation.settings, *attempt);
    Ok(match command {
        Command::Assign(assign) => task::assign(situation, task, assign)?,
        Command::Take(take) => task::take(situation, task, actor, take),
        Command::Complete(complete) => task::complete(settings, task, complete),
        Command::Approve(approve) => task::approve(settings, task, actor, approve)?,
        Command::Reject(reject) => task::reject(task, reject),
        Command::Cancel(cancel) => task::cancel(task, cancel),
        _ => Vec::new(),
    })
}

pub(crate) fn accepted(events: Vec<Event>) -> Decision {
    Decision { events, answer: Answer::Accepted }
}
