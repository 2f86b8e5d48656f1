//! Performs effects: one file per effect, each safe to repeat.
//!
//! A performer checks whether its work is done already, does it, and reports the outcome as a command that
//! also settles the intent. It does not decide anything: it reports a failure, and the rules decide what
//! happens to the task. Start reading at `create_worktree`; effects of runs are in `runs`.

mod create_worktree;
mod merge_branch;
mod pause_agent;
mod policy;
mod record_diff;
mod remove_worktree;
pub(crate) mod run_checks;
mod run_session;
pub(crate) mod runs;
pub(crate) mod stop_agent;
mod wait;

pub(crate) use crate::runtime::control::Control;
pub(crate) use crate::runtime::under_way::UnderWay;
pub(crate) use crate::session::places::Places;

use crate::commands::orders::{self, Order};
use crate::core::{Actor, Command, Effect, Outcome, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::runs::seats::Seats;
use crate::runtime::engine;
use crate::session::charge::Charges;
use crate::task_files;
use jiff::Timestamp;
use regatta_agents::SessionId;
use regatta_store::{IntentId, LeaseToken};
use std::sync::Arc;
use tokio::sync::watch;

/// What every performer is given.
pub(crate) struct Work {
    pub(crate) project: Arc<Project>,
    pub(crate) token: LeaseToken,
    pub(crate) intent: IntentId,
    /// When the intent was stored; commits made for it carry this time, so that a repetition makes the same
    /// commits.
    pub(crate) at: Timestamp,
    pub(crate) places: Arc<Places>,
    /// The steps of runs, by the tasks that they work on.
    pub(crate) under_way: Arc<UnderWay>,
    /// The sessions that wait for budget that others have set aside.
    pub(crate) charges: Arc<Charges>,
    /// The places of runs that wait for their children.
    pub(crate) seats: Arc<Seats>,
    /// Becomes true when the engine is about to exit: running effects end, and no others begin.
    pub(crate) leaving: watch::Receiver<bool>,
}

/// Performs one effect to its end.
pub(crate) async fn perform(work: &Work, effect: Effect, control: Option<Control>) -> Result<(), Error> {
    engine::check_lease(&work.project, work.token).await?;
    match effect {
        Effect::CreateWorktree { task, branch, path, base } => {
            let control = control.unwrap_or_else(Control::new);
            let made = create_worktree::perform(work, task, &branch, &path, &base, &control).await;
            control.mark_over();
            made
        }
        Effect::RunSession { task, agent, session, resume } => {
            let control = control.unwrap_or_else(Control::new);
            let ran = run_session::perform(work, task, &agent, session, resume.as_ref(), &control).await;
            control.mark_over();
            ran
        }
        Effect::Wait { task, session, until } => wait::perform(work, task, session, until).await,
        Effect::RecordDiff { task, head, number } => record_diff::perform(work, task, &head, number).await,
        Effect::PauseAgent { task, session } => pause_agent::perform(work, task, session, control).await,
        Effect::RunChecks { task, commit, names } => {
            let control = control.unwrap_or_else(Control::new);
            let ran = run_checks::perform(work, task, &commit, &names, &control).await;
            control.mark_over();
            ran
        }
        Effect::ApproveByPolicy { task, head } => policy::perform(work, task, &head).await,
        Effect::MergeBranch { task, target, head, base, title, approver, .. } => {
            let approved = merge_branch::Approved { target, head, base, title, approver };
            merge_branch::perform(work, task, &approved).await
        }
        Effect::StopAgent { task, session } => stop_agent::perform(work, task, session, control).await,
        Effect::RemoveWorktree { task, branch, path, base, target } => {
            remove_worktree::perform(work, task, &remove_worktree::Place { branch, path, base, target }).await
        }
    }
}

impl Work {
    /// Tells whether the engine is about to exit.
    pub(crate) fn is_leaving(&self) -> bool {
        *self.leaving.borrow()
    }

    /// Names one start of a program by its purpose and by this engine.
    pub(crate) fn name_start(&self, mark: &str) -> SessionId {
        SessionId::new(format!("{mark}{}", self.token.0.simple()))
            .expect("a mark and hexadecimal digits are an id")
    }

    /// Brings the task's file up to date; a disk error is reported, and stops nothing else.
    pub(crate) async fn keep_file(&self, task: TaskId) -> Result<(), Error> {
        task_files::sync_or_report(&self.project, task).await
    }

    /// Reports an outcome and settles the intent with it.
    pub(crate) async fn settle(&self, task: TaskId, outcome: Outcome) -> Result<(), Error> {
        self.report(task, outcome, vec![self.intent]).await
    }

    /// Reports an intermediate outcome, and leaves the intent open.
    pub(crate) async fn note(&self, task: TaskId, outcome: Outcome) -> Result<(), Error> {
        self.report(task, outcome, Vec::new()).await
    }

    async fn report(&self, task: TaskId, outcome: Outcome, settle: Vec<IntentId>) -> Result<(), Error> {
        let order = Order { settle, fence: Some(self.token), ..Order::new(Some(task), &Actor::Engine) };
        match orders::give(&self.project, order, Command::Report(outcome)).await {
            // Its outcome is in the log already: a repetition has nothing to add.
            Err(Error::Store(regatta_store::Error::IntentSettled { .. })) => Ok(()),
            other => other.map(|_| ()),
        }
    }
}
