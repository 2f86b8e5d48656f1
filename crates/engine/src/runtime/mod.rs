//! The loop, its lanes, its lease, and following a command to its end.
//!
//! Does not know what an effect does, only when it may be performed. Start reading at `engine`, then `supervisor`.

pub(crate) mod active_steps;
pub(crate) mod backoff;
pub(crate) mod engine;
pub(crate) mod holder;
pub(crate) mod lanes;
pub(crate) mod queue;
pub(crate) mod scope;
pub(crate) mod stop_handle;
pub(crate) mod supervisor;
