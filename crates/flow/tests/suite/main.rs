//! The room from outside: what loads, what is at fault, and what a step does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cost;
mod folders;
mod form;
mod imports;
mod incremental;
mod levels;
mod prompts;
mod run;
mod seed;
mod shown;
mod speckit;
mod steps;
mod talk;
