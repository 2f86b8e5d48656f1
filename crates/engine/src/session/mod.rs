//! One start of one agent, from the reservation of its budget to its settlement.
//!
//! Does not know how a task or a run continues afterwards. Start reading at `sessions`; `desk` has the tools of the agent, and
//! `roles` the sessions of a run's roles.

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
