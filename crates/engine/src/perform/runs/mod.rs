//! Performing the effects of runs: one file per effect, each safe to repeat.
//!
//! It does not decide how a run continues: what came of an effect goes back to the run as a command.

mod children;
mod land;
mod mend;
mod node;
mod publish;
mod release;
mod stop;
mod tell;

pub(crate) use node::is_performed;

use crate::commands::run_orders::get_run;
use crate::core::run::{Command, Effect};
use crate::core::{Actor, RunId};
use crate::error::Error;
use crate::perform::Work;
use crate::runs::seat::{Seat, Terms};
use crate::runs::trouble;
use crate::runtime::control::Control;
use crate::runtime::engine;
use crate::session::role::Roles;
use std::sync::Arc;

/// Performs one effect of a run to its end.
pub(crate) async fn perform(
    work: &Work,
    roles: &Arc<dyn Roles>,
    effect: Effect,
    control: Option<Control>,
) -> Result<(), Error> {
    engine::check_lease(&work.project, work.token).await?;
    match effect {
        Effect::PublishItems { run, step } => {
            let published = publish::perform(work, run, step).await;
            or_hold(work, run, step, published).await
        }
        Effect::PerformNode { run, step, .. } => {
            let control = control.unwrap_or_else(Control::new);
            let driven = node::perform(work, roles.as_ref(), (run, step), &control).await;
            control.mark_over();
            driven
        }
        Effect::StartChildren { run, step } => {
            let started = children::perform(work, run, step).await;
            or_hold(work, run, step, started).await
        }
        Effect::LandTask { run, step, task } => {
            let control = control.unwrap_or_else(Control::new);
            let landed = land::perform(work, run, step, task, &control).await;
            control.mark_over();
            or_hold(work, run, step, landed).await
        }
        Effect::StopRun { run } => stop::perform(work, run, control).await,
        Effect::ReleaseTask { run, task, error } => release::perform(work, run, task, error).await,
        Effect::TellParent { run, parent, .. } => tell::perform(work, run, parent).await,
    }
}

/// Holds a run for which something could not be performed, and settles the intent with it.
async fn or_hold(work: &Work, run: RunId, step: u64, performed: Result<(), Error>) -> Result<(), Error> {
    let Err(error) = performed else { return Ok(()) };
    let failure = trouble::of_run(&get_run(&work.project, run).await?, error)?;
    let mut seat = Seat::load_bare(&work.project, run).await?;
    let command = Command::NotPerformed { step, failure };
    seat.give(&work.project, &Actor::Engine, command, &terms(work)).await.map(|_| ())
}

/// Tells a run what came of an effect, and settles the intent with it.
async fn settle(work: &Work, run: RunId, command: Command) -> Result<(), Error> {
    let mut seat = Seat::load(&work.project, run).await?;
    seat.give(&work.project, &Actor::Engine, command, &terms(work)).await.map(|_| ())
}

fn terms(work: &Work) -> Terms {
    Terms { settle: vec![work.intent], fence: Some(work.token) }
}
