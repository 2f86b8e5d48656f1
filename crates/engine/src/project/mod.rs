//! Opens a project: its root, config, places, installed agents, trust and samples.
//!
//! Does not read a stream of the log and starts no agent. Start reading at `open`, then `config`.

pub(crate) mod config;
pub(crate) mod current;
pub(crate) mod editor;
pub(crate) mod installed;
pub(crate) mod limit;
pub(crate) mod location;
pub mod obeyed;
pub(crate) mod old_place;
mod open;
pub(crate) mod reach;
pub(crate) mod readiness;
pub(crate) mod sample;
pub(crate) mod sample_cycle;
pub(crate) mod trial;
pub(crate) mod trust;
pub(crate) mod variables;

pub(crate) use open::IGNORED;
pub use open::{Project, find_root};
