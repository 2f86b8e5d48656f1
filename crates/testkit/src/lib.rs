//! Throwaway repositories, a runner for the binary, and waiting for a condition; for tests only.

pub mod binary;
pub mod model;
pub mod repo;
pub mod wait;
