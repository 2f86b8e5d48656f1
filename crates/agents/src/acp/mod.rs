//! Agents that speak the Agent Client Protocol (version 1) on standard input and output.
//!
//! [`conversation`] is the client's side as a machine without IO; `drive` gives it pipes, a clock and people. It keeps its
//! own time limits and ends the tree in any case: some agents never come back from a cancel, and none exits by itself.

mod conversation;
mod drive;
mod files;
mod permission;
#[cfg(test)]
mod recorded;
mod seat;
#[cfg(test)]
mod spoken;
mod updates;
mod wire;

pub(crate) use drive::{drive, spawn};
