//! JSONata over JSON, with limits on time, steps, depth and size.
//!
//! Start with [`Expression`]: it is compiled once and evaluated many times over a `serde_json::Value`, which is read
//! in place and never copied. There is no way to evaluate without [`Limits`], and whatever stops an evaluation is a
//! [`Fault`]. [`Expression::explain`] says which comparison decided.
//!
//! This room wraps the engine it depends on, so that it can be swapped, and knows nothing of workflows. It reads no
//! clock of its own: `$now` and the seed of `$random` arrive with the limits.

#[cfg(panic = "abort")]
compile_error!("an evaluation over its limits is left by unwinding, see guard.rs");

mod account;
mod condition;
mod count;
mod evaluate;
mod explanation;
mod expression;
mod facts;
mod fault;
mod guard;
mod hazards;
mod json;
mod ledger;
mod lend;
mod limits;
mod pattern;
mod tail_calls;
mod weight;

pub use condition::{Condition, Operand};
pub use evaluate::Explained;
pub use explanation::{Explanation, Observation};
pub use expression::Expression;
pub use facts::{Comparison, Reads, function_names};
pub use fault::{EXPR_LIMIT, Fault, Span};
pub use json::{has_mark, is_deceptive, is_mark, read_json};
pub use lend::lend_field;
pub use limits::{
    DEPTH_MAX, EXPRESSION_BYTES_MAX, ITEMS_MAX, Limit, Limits, MEMORY_BYTES_MAX, RESULT_BYTES_MAX, STEPS_MAX,
    STRING_BYTES_MAX, TIME_MAX, VALUES_MAX,
};
