//! JSON Schemas of a workflow: of its state, of its input and of what roles return.
//!
//! [`Schema`] judges a value whole. [`StateSchema`] judges a change of a state by the part of the schema that can
//! tell a difference. Schemas refer to themselves only: nothing is fetched.

mod changed;
mod chart;
mod compiled;
mod defaults;
mod fault;
mod keywords;
mod state;

pub use changed::Changed;
pub use compiled::Schema;
pub use fault::{SCHEMA_FAULTS_MAX, SchemaFault};
pub use state::StateSchema;

pub(crate) use compiled::matches_pattern;
pub(crate) use fault::{find_meant, message_of};
