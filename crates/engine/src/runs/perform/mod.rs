//! Performing the effects of runs: one file per effect, each safe to repeat.

mod children;
mod land;
mod node;
mod publish;
mod release;
mod stop;
mod tell;

use super::roles::Roles;
use super::seat::{Seat, Terms};
use crate::core::run::{Command, Effect};
use crate::core::{Actor, RunId};
use crate::engine;
use crate::error::Error;
use crate::perform::{Control, Work};
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
        Effect::PublishItems { run, step } => publish::perform(work, run, step).await,
        Effect::PerformNode { run, .. } => {
            let control = control.unwrap_or_else(Control::new);
            let driven = node::perform(work, roles.as_ref(), run, &control).await;
            control.mark_over();
            driven
        }
        Effect::StartChildren { run, step } => children::perform(work, run, step).await,
        Effect::LandTask { run, step, task } => {
            let control = control.unwrap_or_else(Control::new);
            let landed = land::perform(work, run, step, task, &control).await;
            control.mark_over();
            landed
        }
        Effect::StopRun { run } => stop::perform(work, run, control).await,
        Effect::ReleaseTask { run, task, error } => release::perform(work, run, task, error).await,
        Effect::TellParent { run, parent, .. } => tell::perform(work, run, parent).await,
    }
}

/// Tells a run what came of an effect, and settles the intent with it.
async fn settle(work: &Work, run: RunId, command: Command) -> Result<(), Error> {
    let mut seat = Seat::load(&work.project, run).await?;
    seat.give(&work.project, &Actor::Engine, command, &terms(work)).await.map(|_| ())
}

fn terms(work: &Work) -> Terms {
    Terms { settle: vec![work.intent], fence: Some(work.token) }
}
