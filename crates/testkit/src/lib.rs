//! Throwaway repositories and a runner for the binary; for tests only.

pub mod repo;
