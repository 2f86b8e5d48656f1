//! Which licences the crates we depend on may have.
//!
//! Start at `rule`, which reads the dependency graph; `expression` reads one licence.

mod expression;
mod rule;

pub(crate) use rule::check;
