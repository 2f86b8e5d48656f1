//! Opening a project: its root, config, places, installed agents and samples.
//!
//! Reads no stream of the log and starts nothing but the program that says what a login is. Start reading at [`Project`], in `open`.

pub(crate) mod config;
pub(crate) mod installed;
pub(crate) mod location;
pub mod obeyed;
pub(crate) mod old_place;
mod open;
pub(crate) mod reach;
pub(crate) mod readiness;
pub(crate) mod sample;
pub(crate) mod trial;
pub(crate) mod trust;
pub(crate) mod variables;

pub(crate) use open::IGNORED;
pub use open::{Project, find_root};
