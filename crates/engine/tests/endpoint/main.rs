//! Endpoints of real sessions, spoken to over their sockets while an agent waits.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod client;
mod runs;
mod tasks;
mod world;
