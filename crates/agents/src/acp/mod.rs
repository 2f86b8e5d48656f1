//! Agents that speak the Agent Client Protocol (version 1) on standard input and output.
//!
//! [`conversation`] is the client's side as a machine without IO, on the types of the crate `agent-client-protocol`; `drive`
//! gives it pipes, a clock and people. It keeps its own time limits and ends the tree in any case: some agents never come
//! back from a cancel, and none exits by itself. What is done with a message that those types cannot read is said in `wire`.

mod connection;
mod conversation;
mod drive;
mod files;
#[cfg(test)]
mod hostile;
mod model;
mod permission;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod spoken;
mod updates;
mod wire;

pub(crate) use drive::{drive, spawn};
