//! What the room promises to those who use it, one file per promise.

mod edges;
mod explanations;
mod facts;
mod faults;
mod limits;
mod properties;

use regatta_expr::{Expression, Fault, Limits};
use serde_json::Value;

fn compile(text: &str) -> Expression {
    Expression::compile(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
}

fn evaluate(text: &str, input: &Value) -> Result<Option<Value>, Fault> {
    compile(text).evaluate(input, &[], &Limits::at(0))
}
