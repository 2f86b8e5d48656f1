//! Evaluates an expression within its limits.
//!
//! The input is read in place, field by field, so the cost depends on what the expression reads. Variables are
//! copied: pass small values, and lend large ones ([`lend_field`](crate::lend_field)).

use jlens_core::{Bindings, Options};
use serde_json::Value;

use crate::account::Account;
use crate::explanation::Explanation;
use crate::expression::Expression;
use crate::fault::Fault;
use crate::guard::guarded;
use crate::hazards::Hazards;
use crate::ledger::Ledger;
use crate::limits::{Limit, Limits};

/// The share of steps for an expression with a regular expression: one step stands for 1,024 of its backtracking.
const PATTERN_STEPS_SHARE: u64 = 50;

/// The share of steps for one whose backtracking may go over a whole text in each of its own steps.
const LONG_STEPS_SHARE: u64 = 200;

/// The share of a string's bytes where ten thousand of them may be built before one is seen.
const UNSEEN_BYTES_SHARE: usize = 256;

/// The share of the values within a value where each may become an object in one go.
const NESTED_VALUES_SHARE: usize = 10;

/// A result with how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// What [`Expression::evaluate`] answers.
    pub result: Result<Option<Value>, Fault>,
    /// What was compared. An evaluation that failed was explained as far as it went.
    pub explanation: Explanation,
}

impl Expression {
    /// Evaluates over `input`, with `bindings` as variables (named without the `$`). `None` is JSONata's undefined.
    pub fn evaluate(
        &self,
        input: &Value,
        bindings: &[(&str, &Value)],
        limits: &Limits,
    ) -> Result<Option<Value>, Fault> {
        self.run(Some(input), bindings, limits, None).0
    }

    /// Evaluates with no input at all: the context is undefined, which is not `null`.
    pub fn evaluate_alone(
        &self,
        bindings: &[(&str, &Value)],
        limits: &Limits,
    ) -> Result<Option<Value>, Fault> {
        self.run(None, bindings, limits, None).0
    }

    /// Evaluates as [`evaluate`](Self::evaluate) does, and keeps an account of the comparisons.
    pub fn explain(&self, input: &Value, bindings: &[(&str, &Value)], limits: &Limits) -> Explained {
        let account = Account::new(self.text(), self.insertions().clone());
        let (result, account) = self.run(Some(input), bindings, limits, Some(account));
        Explained { result, explanation: account.map(Account::finish).unwrap_or_default() }
    }

    fn run(
        &self,
        input: Option<&Value>,
        bindings: &[(&str, &Value)],
        limits: &Limits,
        account: Option<Account>,
    ) -> (Result<Option<Value>, Fault>, Option<Account>) {
        let given = input.into_iter().chain(bindings.iter().map(|(_, value)| *value));
        if let Err(fault) = bound_given(given, self.hazards()) {
            return (Err(fault), account);
        }
        let bindings: Bindings =
            bindings.iter().map(|(name, value)| ((*name).to_owned(), (*value).clone())).collect();
        let limits = &narrow(limits, self.hazards());
        let options = options(limits);
        if !self.hazards().is_followed() && account.is_none() {
            // Not traced, the engine takes its short cuts: the cost of an edge stays that of what it looks at.
            let result = guarded(|| self.evaluated().evaluate_with(input, &bindings, &options));
            return (result.and_then(|result| read(result, limits)), None);
        }
        let mut ledger = Ledger::new(limits, self.hazards(), input, account);
        // Nothing that the unwinding passes is looked at again: the engine's values die with the evaluation, and
        // of the ledger only the finished observations and the place are read.
        let result = guarded(|| self.evaluated().evaluate_traced(input, &bindings, &options, &mut ledger));
        let result = result.map_err(|fault| fault.placed(ledger.place()));
        let result = result.and_then(|result| read(result, limits));
        let result = result.map_err(|fault| fault.moved(|span| self.insertions().map_back(span)));
        (result, ledger.finish())
    }
}

fn read(result: jlens_core::Result<Option<Value>>, limits: &Limits) -> Result<Option<Value>, Fault> {
    result.map_err(|error| Fault::of_evaluating(&error, limits))
}

/// Returns the limits for an expression that can do much in one step.
fn narrow(limits: &Limits, hazards: Hazards) -> Limits {
    let mut narrowed = limits.clone();
    if hazards.has_pattern {
        let share = if hazards.pattern.has_long_steps { LONG_STEPS_SHARE } else { PATTERN_STEPS_SHARE };
        narrowed.steps /= share;
    }
    if let Some(bytes_max) = unseen_bytes_max(hazards) {
        narrowed.string_bytes = narrowed.string_bytes.min(bytes_max);
    }
    if hazards.amplifies_unseen {
        narrowed.string_bytes /= UNSEEN_BYTES_SHARE;
    }
    if hazards.builds_nested {
        narrowed.values /= NESTED_VALUES_SHARE;
    }
    narrowed
}

/// Returns how long any text may be, if an expression may hold each of them against a pattern unseen.
fn unseen_bytes_max(hazards: Hazards) -> Option<usize> {
    hazards.pattern.text_bytes_max().filter(|_| hazards.matches_unseen)
}

/// Refuses what is given to an expression that may hold too long a text of it against a pattern unseen.
fn bound_given<'v>(given: impl Iterator<Item = &'v Value>, hazards: Hazards) -> Result<(), Fault> {
    let Some(bytes_max) = unseen_bytes_max(hazards) else { return Ok(()) };
    let mut pending: Vec<&Value> = given.collect();
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) if text.len() > bytes_max => {
                let (which, bound) = (Limit::StringSize, bytes_max as u64);
                return Err(Fault::Limit { which, bound, code: "U1001".to_owned(), at: None });
            }
            Value::Array(items) => pending.extend(items),
            Value::Object(fields) => pending.extend(fields.values()),
            _ => {}
        }
    }
    Ok(())
}

fn options(limits: &Limits) -> Options {
    Options::new()
        .timeout(limits.time)
        .max_steps(limits.steps)
        .max_depth(limits.depth)
        .max_array_length(limits.items)
        .max_string_length(limits.string_bytes)
        .max_result_size(limits.result_bytes)
        .now(limits.now_millis)
        .seed(limits.seed)
}
