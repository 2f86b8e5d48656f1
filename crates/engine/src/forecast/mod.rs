//! Forecasts which branches are going to collide, before anybody merges them.
//!
//! ```text
//!   a session ended, a branch was merged or removed ─┐
//!   every 30 s in `regatta up`                      ─┴▶ look at git ─▶ meet ─▶ trial merges ─▶ collisions:forecast
//! ```
//!
//! Two branches that changed a common file are merged on trial; a file that is being changed on both sides and is not all
//! committed is an overlap. It does not stop any work, nor decide anything; what fails is looked at again in
//! the next round: the merge itself says what is wrong. Start reading at `forecaster`.

mod branch;
mod forecaster;
mod look;
mod meet;
pub(crate) mod tell;
#[cfg(test)]
mod tests;
mod trials;

pub(crate) use forecaster::{Forecaster, LOOK_EVERY, Moves};
