//! What every store must do, held against SQLite and against a model in memory, and what is true of one file.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[macro_use]
mod contract;
mod equivalence;
mod memory;
mod sqlite;
