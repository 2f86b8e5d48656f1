//! Puts a task up for approval, and waits until it is merged, sent back or cancelled.
//!
//! The intent stays open until a person has decided. The outcome is read from the task itself, so a
//! repetition after a crash finds the same.

use crate::commands::orders::{self, Caller, Order};
use crate::commands::rejecting;
use crate::commands::round;
use crate::commands::run_orders::get_run;
use crate::core::run::{Command, Phase};
use crate::core::{Actor, Cleanup, ReviewPhase, RunId, Stage, Task, TaskId, WorkPhase};
use crate::error::Error;
use crate::perform::Work;
use crate::perform::log_watch::LogWatch;
use crate::perform::runs::settle;
use crate::recording::recorded_task;
use crate::runs::cancelled;
use crate::runs::conflicts;
use crate::runs::trouble;

pub(crate) async fn perform(work: &Work, run: RunId, step: u64, task: TaskId) -> Result<(), Error> {
    let project = &work.project;
    let mut log = LogWatch::start(work).await?;
    loop {
        let Some(before) = wanted(work, run, step).await? else {
            return round::settle(project, &work.envelope()).await;
        };
        let found = orders::get_task(project, task).await?;
        if let Some(command) = judge(&found, &before, run, step) {
            return settle(work, run, command).await;
        }
        if let Some(conflict) = conflicts::find(project, &found).await?
            && conflicts::follow(work, run, Command::Conflicted { step, conflict }).await?
        {
            return Ok(());
        }
        match go_on(work, run, &found).await {
            Ok(false) => {}
            Ok(true) => continue,
            Err(error) => {
                let failure = trouble::of_run(&get_run(project, run).await?, error)?;
                return settle(work, run, Command::NotPerformed { step, failure }).await;
            }
        }
        // A person may take days over it; the next engine keeps waiting.
        if work.is_leaving() {
            return Ok(());
        }
        // An engine that is about to exit looks once more, because the decision may have come just before.
        log.wait().await?;
    }
}

/// Puts the task up, and sends it back where a recording says so; returns false when all that is left is to wait.
async fn go_on(work: &Work, run: RunId, task: &Task) -> Result<bool, Error> {
    let project = &work.project;
    let (is_ready, is_up) = (is_ready_to_submit(task), is_up(task));
    if !is_ready && !is_up {
        return Ok(false);
    }
    let decision = recorded_task::find_decision(project, &get_run(project, run).await?).await?;
    if is_ready {
        let settings = decision.as_ref().map(|decision| recorded_task::settings_for(project, decision));
        let order = Order { settings, ..Order::new(Some(task.id), &Actor::Engine) };
        return orders::complete_as(project, order).await.map(|_| true);
    }
    let Some(decision) = decision.filter(|decision| !decision.approved) else { return Ok(false) };
    let caller = Caller::new(Actor::Engine);
    rejecting::repeat(project, &caller, task.id, decision.reason).await.map(|_| true)
}

/// What is known of the run that waits.
struct Waiting {
    /// How often the task was sent back before.
    sent_back: u32,
    /// Which run waits for it in turn.
    parent: Option<RunId>,
}

/// Looks at the run, if it still waits for the task.
async fn wanted(work: &Work, run: RunId, step: u64) -> Result<Option<Waiting>, Error> {
    let run = get_run(&work.project, run).await?;
    Ok(match run.phase() {
        Some(Phase::Landing { item, .. }) if run.step == step => Some(Waiting {
            sent_back: run.sent_back.get(item).copied().unwrap_or_default(),
            parent: run.parent.as_ref().map(|parent| parent.run_id),
        }),
        _ => None,
    })
}

/// Returns what happened to the task, if it is no longer open.
fn judge(task: &Task, waiting: &Waiting, run: RunId, step: u64) -> Option<Command> {
    match &task.stage {
        Stage::Verified(landed) if landed.cleanup != Cleanup::Pending => Some(Command::Landed { step }),
        Stage::InProgress(work) => match &work.phase {
            WorkPhase::Driven { feedback, .. } if task.rejection_count > waiting.sent_back => {
                Some(Command::SentBack { step, feedback: feedback.clone().unwrap_or_default() })
            }
            _ => None,
        },
        Stage::Backlog => {
            let failure = cancelled::explain_landing(run, task.id, waiting.parent);
            Some(Command::NotPerformed { step, failure })
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

fn is_up(task: &Task) -> bool {
    matches!(&task.stage, Stage::WaitingApproval(review) if review.phase == ReviewPhase::Ready)
}
