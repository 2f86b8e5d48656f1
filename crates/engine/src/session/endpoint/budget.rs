//! How much of its limits a session has left.
//!
//! Its limits are those of its agent, narrowed to what its accounts set aside for it. What it has used is
//! what its agent has reported so far. Time is handled separately.

use regatta_agents::{Limits, Usage};
use serde::Serialize;

/// What is left of the limits of a session; a missing one has no limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct BudgetLeft {
    tokens: Option<u64>,
    /// In US dollars.
    cost: Option<f64>,
}

const MICROS_PER_DOLLAR: f64 = 1_000_000.0;

/// Returns what is left; nothing where neither tokens nor money are limited.
pub(crate) fn find_left(limits: &Limits, used: &Usage) -> Option<BudgetLeft> {
    let tokens = limits.tokens_max.map(|max| max.saturating_sub(used.tokens()));
    let micros = limits.cost_micros_max.map(|max| max.saturating_sub(used.cost_micros.unwrap_or_default()));
    // Exact up to billions of dollars.
    let cost = micros.map(|micros| micros as f64 / MICROS_PER_DOLLAR);
    (tokens.is_some() || cost.is_some()).then_some(BudgetLeft { tokens, cost })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_limited_is_told_and_never_below_nothing() {
        let used =
            Usage { input_tokens: 90, output_tokens: 20, cost_micros: Some(250_000), ..Usage::default() };
        let left = |tokens_max, cost_micros_max| {
            find_left(&Limits { tokens_max, cost_micros_max, ..Limits::default() }, &used)
        };
        assert_eq!(left(None, None), None);
        assert_eq!(left(Some(1_000), None), Some(BudgetLeft { tokens: Some(890), cost: None }));
        assert_eq!(left(None, Some(1_500_000)), Some(BudgetLeft { tokens: None, cost: Some(1.25) }));
        assert_eq!(left(Some(100), Some(1)), Some(BudgetLeft { tokens: Some(0), cost: Some(0.0) }));
    }
}
