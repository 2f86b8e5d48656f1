//! What happens when a command is given, or why it may not.
//!
//! The one place where a command meets the table: what is not in [`TRANSITIONS`](crate::machine::TRANSITIONS) is
//! refused here, and what is goes to the rule of its command.

use crate::document::Catalogue;
use crate::machine::{self, Column, CommandKind};
use crate::{Actor, Code, Command, Crew, Event, Plan, Refusal, Settings, Task, TaskId, file, task};
use std::collections::BTreeMap;

/// Everything a decision about one task may depend on.
#[derive(Debug, Clone)]
pub struct Situation<'a> {
    /// The task, unless it is to be created.
    pub task: Option<&'a Task>,
    /// Who works on what.
    pub crew: &'a Crew,
    /// Which task depends on which; needed by `Create`, `Depend` and `Delete`.
    pub plan: &'a Plan,
    /// Which epics and PRDs there are; needed by a `Create` that names one.
    pub catalogue: &'a Catalogue,
    /// Where the tasks stand that this one depends on; needed by `Assign`, `Take` and `Reassign`.
    pub upstream: &'a BTreeMap<TaskId, Column>,
    /// The project's settings.
    pub settings: &'a Settings,
}

/// What happens, and what the giver of the command is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The facts, in order; none when the command changes nothing.
    pub events: Vec<Event>,
    /// What the giver is told.
    pub answer: Answer,
}

/// What the giver of a command is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It is done, or under way.
    Accepted,
    /// Nobody is free; the task waits in the queue.
    Queued {
        /// Whether its agent is busy, or every place is taken.
        code: Code,
        /// Tasks that the agent, or the whole crew, works on.
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
    if let (Some(kind), Some(found)) = (command.kind(), situation.task) {
        check_table(found, kind)?;
    }
    match command {
        Command::Create(create) => task::create(situation, id, create).map(accepted),
        Command::Depend(depend) => task::depend(situation.plan, existing()?, depend).map(accepted),
        Command::Assign(assign) => task::assign(situation, existing()?, assign),
        Command::Take(take) => task::take(situation, existing()?, actor, take).map(accepted),
        Command::Reassign(reassign) => task::reassign(situation, existing()?, actor, reassign),
        Command::Dequeue => task::dequeue(situation.crew, existing()?).map(accepted),
        Command::NoteUnassignable(failure) => {
            Ok(accepted(task::note_unassignable(situation.crew, existing()?, failure)))
        }
        Command::Complete(complete) => {
            task::complete(situation.settings, existing()?, complete).map(accepted)
        }
        Command::Submit(submit) => task::submit(situation.settings, existing()?, submit).map(accepted),
        Command::Approve(approve) => {
            task::approve(situation.settings, existing()?, actor, approve).map(accepted)
        }
        Command::Reject(reject) => task::reject(situation.settings, existing()?, reject).map(accepted),
        Command::Cancel(cancel) => task::cancel(existing()?, cancel).map(accepted),
        Command::Resume(feedback) => task::resume(existing()?, feedback.text.as_deref()).map(accepted),
        Command::Delete => task::delete(situation.plan, existing()?).map(accepted),
        Command::Hide { hidden } => task::hide(existing()?, *hidden).map(accepted),
        Command::Edit(edit) => {
            task::check_edit(situation, existing()?, edit)?;
            Ok(accepted(file::edit(existing()?.id, edit)))
        }
        Command::NoteRefused(refused) => Ok(accepted(vec![task::note_refused(existing()?.id, refused)])),
        Command::NoteMovedRefs(moved) => Ok(accepted(task::note_moved_refs(existing()?.id, moved))),
        Command::Report(outcome) => Ok(accepted(task::report(situation.settings, existing()?, outcome))),
    }
}

fn check_table(task: &Task, command: CommandKind) -> Result<(), Refusal> {
    let column = task.column();
    match machine::find(column, command) {
        Some(_) => Ok(()),
        None => Err(Refusal::InvalidTransition { task: task.id, column, command }),
    }
}

fn accepted(events: Vec<Event>) -> Decision {
    Decision { events, answer: Answer::Accepted }
}
