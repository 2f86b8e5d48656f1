//! One start of one agent, from the reservation of its budget to its settlement.
//!
//! Does not know how a task or a run continues afterwards. Start reading at `lifecycle`, which has the phases in their
//! order, then `plan`, which has what differs between sessions; `endpoint` has the tools of the agent, and `roles` the
//! sessions of a run's roles.

mod collect;
pub mod endpoint;
mod launch;
pub(crate) mod leftovers;
pub(crate) mod lifecycle;
pub(crate) mod moved_refs;
pub(crate) mod open_questions;
pub(crate) mod owner;
pub(crate) mod plan;
pub(crate) mod planted;
mod prepare;
pub(crate) mod prompt;
pub(crate) mod reservation;
pub(crate) mod retry;
pub(crate) mod role;
pub(crate) mod role_prompt;
pub(crate) mod roles;
pub(crate) mod sandbox;
pub(crate) mod session_entry;
pub(crate) mod slots;
mod watch;
mod worked;
pub(crate) mod worker;
