//! One start of one agent, from the reservation of its budget to its settlement.
//!
//! Knows neither how a task nor how a run continues. Start reading at `sessions`; `desk` has the tools of the agent, `roles` the
//! sessions of a run's roles.

pub(crate) mod charge;
pub mod desk;
pub(crate) mod hearing;
pub(crate) mod leftovers;
pub(crate) mod moved_refs;
pub(crate) mod places;
pub(crate) mod planted;
pub(crate) mod prompt;
pub(crate) mod role;
pub(crate) mod role_prompt;
pub(crate) mod roles;
pub(crate) mod sandbox;
pub(crate) mod session_entry;
pub(crate) mod sessions;
