//! Puts a task up for approval, and waits until it is merged, sent back or cancelled.
//!
//! The intent stays open for as long as a person takes. Which of the three it was is read from the task itself, so a
//! repetition after a crash finds the same.

use super::super::cancelled;
use super::super::seat::{self, Seat};
use super::{settle, terms};
use crate::core::run::{Command, Phase};
use crate::core::{Actor, Cleanup, Failure, RunId, Stage, Task, TaskId, WorkPhase};
use crate::error::Error;
use crate::orders::{self, Giver};
use crate::perform::{Control, Work};
use regatta_agents::StopReason;
use std::time::Duration;

/// How long it sleeps when nothing happens; it wakes at once when the log moves.
const IDLE: Duration = Duration::from_secs(5);

pub(super) async fn perform(
    work: &Work,
    run: RunId,
    step: u64,
    task: TaskId,
    control: &Control,
) -> Result<(), Error> {
    let project = &work.project;
    let mut seen = project.store().head().await?;
    loop {
        let Some(before) = wanted(work, run, step).await? else {
            return seat::settle(project, &terms(work)).await;
        };
        let found = orders::get_task(project, task).await?;
        if let Some(command) = judge(&found, before, run, step) {
            return settle(work, run, command).await;
        }
        if is_ready_to_submit(&found) {
            let giver = Giver { actor: Actor::Engine, command_id: None };
            if let Err(error) = orders::complete(project, &giver, task).await {
                let failure = Failure::from(error.explain());
                return settle(work, run, Command::NotPerformed { step, failure }).await;
            }
            continue;
        }
        // A person may take days over it; the next engine goes on waiting.
        if work.is_leaving() {
            return Ok(());
        }
        let mut leaving = work.leaving.clone();
        tokio::select! {
            // Looked at once more, because what it waits for may have come just before.
            _ = leaving.wait_for(|is_leaving| *is_leaving) => {}
            reason = control.asked() => match reason {
                // The next engine goes on with it.
                StopReason::Shutdown => return Ok(()),
                StopReason::Cancelled | StopReason::Paused => {}
            },
            head = project.store().wait_past(seen, IDLE) => seen = head?,
        }
    }
}

/// Tells how often the task was sent back before, if the run still waits for it.
async fn wanted(work: &Work, run: RunId, step: u64) -> Result<Option<u32>, Error> {
    let seat = Seat::load(&work.project, run).await?;
    let run = seat.run();
    Ok(match &run.phase {
        Phase::Landing { item, .. } if run.step == step => {
            Some(run.sent_back.get(item).copied().unwrap_or_default())
        }
        _ => None,
    })
}

/// Says what became of the task, if it is no longer open.
fn judge(task: &Task, sent_back: u32, run: RunId, step: u64) -> Option<Command> {
    match &task.stage {
        Stage::Verified(landed) if landed.cleanup != Cleanup::Pending => Some(Command::Landed { step }),
        Stage::InProgress(work) => match &work.phase {
            WorkPhase::Driven { feedback, .. } if task.rejection_count > sent_back => {
                Some(Command::SentBack { step, feedback: feedback.clone().unwrap_or_default() })
            }
            _ => None,
        },
        Stage::Backlog => {
            Some(Command::NotPerformed { step, failure: cancelled::explain_landing(run, task.id) })
        }
        Stage::Verified(_) | Stage::WaitingApproval(_) => None,
    }
}

fn is_ready_to_submit(task: &Task) -> bool {
    match &task.stage {
        Stage::InProgress(work) => matches!(work.phase, WorkPhase::Driven { session: None, .. }),
        Stage::Backlog | Stage::WaitingApproval(_) | Stage::Verified(_) => false,
    }
}
