//! Chores of the repository, in Rust so that they run the same everywhere.
//!
//! `cargo xtask test` is the one command of the README and of CI; `tidy`, `docs` and `licences` are stages of it
//! that can be run alone, and so is `agents`, which installs the programs that some tests run. `picture` is for the README and runs on demand. Rules are plain functions over texts in
//! memory, and only `program`, `tree`, `docs::files` and `picture::take` touch the world. Nothing here is part of the
//! product.
//!
//! Start reading at `chore`, then `stages`.

mod agents;
mod chore;
mod docs;
mod error;
mod licences;
mod picture;
mod prerequisites;
mod program;
mod root;
mod schemathesis;
mod stage;
mod stages;
mod tidy;
mod tree;

pub use chore::run;
