//! Real agent programs, started by the binary in a worktree, against a stub model on loopback.
//!
//! What each of them prints is tested on recordings, in the agents room; here the whole way is walked once with each:
//! from a task on the board to a diff that waits for approval, and each kind of trouble to its class. A program that is
//! not installed is skipped and says so; `cargo xtask test` installs them all.

mod interrupted;
mod own_agent;
mod trouble;
mod work;
mod world;
