//! Throwaway repositories, a runner for the binary (also at a terminal), a browser, a stub model for real agent programs, and waiting for a condition; for
//! tests only.

pub mod agent_programs;
pub mod binary;
pub mod browser;
pub mod model;
pub mod repo;
pub mod terminal;
pub mod wait;

/// Tells whether the slow suites run at their full size: `cargo xtask test --full` says so.
pub fn is_full() -> bool {
    std::env::var_os("REGATTA_TESTS_FULL").is_some_and(|value| value == "1")
}
