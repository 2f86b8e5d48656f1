//! One file per verb: its arguments, its help and its code.

pub(crate) mod agent;
mod asked;
mod carry;
pub(crate) mod completions;
pub(crate) mod cost;
pub(crate) mod demo;
mod demo_workflow;
pub(crate) mod doctor;
pub(crate) mod epic;
pub(crate) mod eval;
pub(crate) mod events;
pub(crate) mod init;
pub(crate) mod machine;
pub(crate) mod mcp;
pub(crate) mod messages;
mod person;
pub(crate) mod prd;
pub(crate) mod run;
pub(crate) mod session_log;
pub(crate) mod state;
mod state_file;
pub(crate) mod state_prune;
pub(crate) mod task;
mod text_file;
pub(crate) mod trust;
pub(crate) mod up;
pub(crate) mod workflow;
