//! Performs the effects of runs: one file per effect, each safe to repeat.
//!
//! It does not decide how a run continues: the outcome of an effect goes back to the run as a command.

pub(super) mod children;
pub(super) mod drop;
mod fork_hint;
mod item_branches;
mod item_order;
pub(super) mod land;
mod members;
pub(super) mod node;
pub(super) mod publish;
pub(super) mod release;
pub(super) mod stop;
pub(super) mod tell;

pub(crate) use node::is_performed;

use crate::commands::run_orders::get_run;
use crate::core::RunId;
use crate::core::run::Command;
use crate::error::Error;
use crate::perform::Work;
use crate::runs::driver;
use crate::runs::trouble;

/// Holds a run for which something could not be performed, and settles the intent with it.
pub(super) async fn or_hold(
    work: &Work,
    run: RunId,
    step: u64,
    performed: Result<(), Error>,
) -> Result<(), Error> {
    let Err(error) = performed else { return Ok(()) };
    let failure = trouble::of_run(&get_run(&work.project, run).await?, error)?;
    settle(work, run, Command::NotPerformed { step, failure }).await
}

/// Reports the outcome of an effect to a run, and settles the intent with it.
async fn settle(work: &Work, run: RunId, command: Command) -> Result<(), Error> {
    driver::tell(&work.project, &work.envelope(), run, command).await
}
