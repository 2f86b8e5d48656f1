//! The loop, its lanes and its lease, and how a command is followed to its end.
//!
//! Knows when an effect may be performed, never what it does. Start reading at `engine`, then `carry`.

pub(crate) mod carry;
pub(crate) mod control;
pub(crate) mod engine;
pub(crate) mod holder;
pub(crate) mod lanes;
pub(crate) mod pace;
pub(crate) mod queue;
pub(crate) mod scope;
pub(crate) mod under_way;
