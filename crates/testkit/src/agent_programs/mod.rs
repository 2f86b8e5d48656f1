//! Real agent programs for tests: where they are installed, and what points them at the stub model.
//!
//! `cargo xtask agents` installs them, and `cargo xtask test` does so first. A test asks [`find`] for one and
//! skips itself when it is not there. [`Home`] is a scratch home with the program's config in it and the
//! whole environment that it is started with, so that nothing of the developer's own settings, keys or
//! sessions is read or written. How a program gets its instructions is not known here: that is the subject of
//! the adapters.

mod agent;
mod config;
mod home;
mod installed;

pub use agent::Agent;
pub use home::{Home, Permissions};
pub use installed::{Installed, find, find_program};
