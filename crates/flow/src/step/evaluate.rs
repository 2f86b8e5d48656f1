//! Expressions whose values people read or that name a task: strings, and the result of a run.

use serde_json::Value;

use crate::expression::{Expression, RESERVED};
use crate::step::{Look, StepFault};

/// The largest result of a run, in bytes: it may be the state, and goes into an event of the log.
const RESULT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Evaluates an expression that gives a text: a question, a reason, the key of a task. `None` is undefined or null.
pub fn evaluate_text(look: &Look<'_>, expression: &Expression) -> Result<Option<String>, StepFault> {
    read_text(expression, look.evaluate(expression)?, "a text")
}

/// Evaluates an expression that gives a whole number from 1.
pub fn evaluate_count(look: &Look<'_>, expression: &Expression) -> Result<u32, StepFault> {
    let value = look.evaluate(expression)?.unwrap_or_default();
    let whole = value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 1.0);
    match whole.map(|number| number.min(f64::from(u32::MAX))) {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it was held against the bounds"
        )]
        Some(number) => Ok(number as u32),
        None => Err(StepFault::unusable(expression, "a whole number from 1", &value)),
    }
}

fn read_text(
    expression: &Expression,
    value: Option<Value>,
    wanted: &'static str,
) -> Result<Option<String>, StepFault> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(StepFault::unusable(expression, wanted, &other)),
    }
}

/// Returns what comes of a run at an end node: what `result` gives, or the state.
pub fn find_result(look: &Look<'_>, result: Option<&Expression>) -> Result<Value, StepFault> {
    match result {
        Some(expression) => Ok(look.evaluate_items(expression, RESULT_BYTES_MAX)?.unwrap_or_default()),
        None => {
            let fields = look.root().as_object().into_iter().flatten();
            let own = fields.filter(|(name, _)| !RESERVED.contains(&name.as_str()));
            Ok(own.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
    }
}

/// Evaluates the key that a cap is counted for. Undefined and null stand for the run.
pub(crate) fn evaluate_scope(look: &Look<'_>, scope: Option<&Expression>) -> Result<String, StepFault> {
    let Some(expression) = scope else { return Ok(String::new()) };
    match look.evaluate(expression)? {
        // As a question or a key it would be a mistake; as a scope it has two values.
        Some(Value::Bool(answer)) => Ok(answer.to_string()),
        value => Ok(read_text(expression, value, "a text, a number or a boolean")?.unwrap_or_default()),
    }
}

/// Whether a condition holds: it must be exactly true.
pub(crate) fn holds(look: &Look<'_>, when: Option<&Expression>) -> Result<bool, StepFault> {
    match when {
        Some(expression) => Ok(look.evaluate(expression)? == Some(Value::Bool(true))),
        None => Ok(true),
    }
}
