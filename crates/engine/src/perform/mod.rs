//! Performs effects: one file per effect, each safe to repeat.
//!
//! A performer checks whether its work is done already, does it, and reports the outcome as a command that
//! also settles the intent. It does not decide anything: it reports a failure, and the rules decide what
//! happens to the task. Start reading at `create_worktree`; effects of runs are in `runs`.

mod create_worktree;
pub(crate) mod log_watch;
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

pub(crate) use crate::runtime::active_steps::ActiveSteps;
pub(crate) use crate::runtime::stop_handle::StopHandle;
pub(crate) use crate::session::slots::Slots;

use crate::commands::orders::{self, Order};
use crate::commands::round::Envelope;
use crate::core::{Actor, Command, Effect, Outcome, TaskId};
use crate::error::Error;
use crate::forecast::Moves;
use crate::on_heap::on_heap;
use crate::project::Project;
use crate::runs::drivers::Drivers;
use crate::runtime::engine;
use crate::session::reservation::Charges;
use crate::session::role::Roles;
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
    pub(crate) slots: Arc<Slots>,
    /// The steps of runs, by the tasks that they work on.
    pub(crate) active_steps: Arc<ActiveSteps>,
    /// The sessions that wait for budget that others have set aside.
    pub(crate) charges: Arc<Charges>,
    /// The places of runs that wait for their children.
    pub(crate) drivers: Arc<Drivers>,
    /// Told when a branch moved, so that collisions are forecast.
    pub(crate) moves: Moves,
    /// Becomes true when the engine is about to exit: running effects end, and no others begin.
    pub(crate) leaving: watch::Receiver<bool>,
}

/// Performs one effect to its end.
///
/// `control` is the effect's own, or that of the effect that it stops.
pub(crate) async fn perform(
    work: &Work,
    roles: &dyn Roles,
    effect: Effect,
    stop_handle: Option<StopHandle>,
) -> Result<(), Error> {
    engine::check_lease(&work.project, work.token).await?;
    let stops_another =
        matches!(effect, Effect::PauseAgent { .. } | Effect::StopAgent { .. } | Effect::StopRun { .. });
    let own = if stops_another { None } else { stop_handle.clone() }.unwrap_or_else(StopHandle::new);
    let performed = on_heap(|| dispatch(work, roles, effect, &own, stop_handle)).await;
    own.mark_over();
    performed
}

async fn dispatch(
    work: &Work,
    roles: &dyn Roles,
    effect: Effect,
    own: &StopHandle,
    other: Option<StopHandle>,
) -> Result<(), Error> {
    match effect {
        Effect::CreateWorktree { task, branch, path, base } => {
            on_heap(|| async move { create_worktree::perform(work, task, &branch, &path, &base, own).await })
                .await
        }
        Effect::RunSession { task, agent, session, resume } => {
            let run = || async move {
                run_session::perform(work, task, &agent, session, resume.as_ref(), own).await
            };
            on_heap(run).await
        }
        Effect::Wait { task, session, until } => on_heap(|| wait::perform(work, task, session, until)).await,
        Effect::RecordDiff { task, head, number } => {
            on_heap(|| async move { record_diff::perform(work, task, &head, number).await }).await
        }
        Effect::PauseAgent { task, session } => {
            on_heap(|| pause_agent::perform(work, task, session, other)).await
        }
        Effect::RunChecks { task, commit, names } => {
            on_heap(|| async move { run_checks::perform(work, task, &commit, &names, own).await }).await
        }
        Effect::ApproveByPolicy { task, head } => {
            on_heap(|| async move { policy::perform(work, task, &head).await }).await
        }
        Effect::MergeBranch { task, target, head, base, title, approver, .. } => {
            let approved = merge_branch::Approved { target, head, base, title, approver };
            on_heap(|| async move { merge_branch::perform(work, task, &approved).await }).await
        }
        Effect::StopAgent { task, session } => {
            on_heap(|| stop_agent::perform(work, task, session, other)).await
        }
        Effect::RemoveWorktree { task, branch, path, base, target } => {
            let place = remove_worktree::Place { branch, path, base, target };
            on_heap(|| async move { remove_worktree::perform(work, task, &place).await }).await
        }
        Effect::PublishItems { run, step } => {
            let published = on_heap(|| runs::publish::perform(work, run, step)).await;
            runs::or_hold(work, run, step, published).await
        }
        Effect::PerformNode { run, step, .. } => {
            on_heap(|| runs::node::perform(work, roles, (run, step), own)).await
        }
        Effect::StartChildren { run, step } => {
            let started = on_heap(|| runs::children::perform(work, run, step)).await;
            runs::or_hold(work, run, step, started).await
        }
        Effect::LandTask { run, step, task } => {
            let landed = on_heap(|| runs::land::perform(work, run, step, task)).await;
            runs::or_hold(work, run, step, landed).await
        }
        Effect::StopRun { run } => on_heap(|| runs::stop::perform(work, run, other)).await,
        Effect::ReleaseTask { run, task, error } => {
            on_heap(|| runs::release::perform(work, run, task, error)).await
        }
        Effect::DropTask { run, task, reason } => {
            on_heap(|| runs::drop::perform(work, run, task, reason)).await
        }
        Effect::TellParent { run, parent, .. } => on_heap(|| runs::tell::perform(work, run, parent)).await,
    }
}

impl Work {
    /// Returns what accompanies the outcome of the effect: it settles the intent, if the lease is still held.
    pub(crate) fn envelope(&self) -> Envelope {
        Envelope { settles: vec![self.intent], fence: Some(self.token), ..Envelope::by(&Actor::Engine) }
    }

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
        orders::give(&self.project, order, Command::Report(outcome)).await.map(drop)
    }
}

#[cfg(test)]
impl Work {
    /// For the oldest open intent of a project that has no engine.
    pub(crate) async fn for_first_intent(project: &Arc<Project>) -> Self {
        let token = engine::take_lease(project, None).await.unwrap();
        let intent = project.store().open_intents().await.unwrap().swap_remove(0);
        Work {
            project: Arc::clone(project),
            token,
            intent: intent.id,
            at: intent.at,
            slots: Arc::new(Slots::new(project.config())),
            active_steps: Arc::default(),
            charges: Arc::default(),
            drivers: Arc::default(),
            moves: Moves::default(),
            leaving: watch::channel(false).1,
        }
    }
}
