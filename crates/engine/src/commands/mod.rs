//! What can be asked of a project, and how a command gets into the log.
//!
//! A command looks at the world, is decided by `core`, and is appended. It does not perform an effect and
//! does not print. Start reading at `round`, then `orders` (tasks) and `run_orders` (runs).

pub mod accounts;
pub(crate) mod batch;
pub mod documents;
pub(crate) mod fork_point;
pub mod messages;
pub mod notes;
pub mod orders;
pub(crate) mod questions;
#[cfg(test)]
pub(crate) mod races;
pub(crate) mod rejecting;
pub(crate) mod request;
pub(crate) mod revision;
pub(crate) mod round;
pub(crate) mod run_edits;
pub(crate) mod run_orders;
pub(crate) mod seen;
pub(crate) mod signals;
pub(crate) mod submission;
