//! What a session used of its model, as the agent tells it.
//!
//! A figure is the total of the session so far, never a difference: a later one replaces an earlier one, so that a
//! repeated or lost message does no harm.

use serde::{Deserialize, Serialize};

/// Tokens and money that a session has used since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that the model read, cached ones among them.
    pub input_tokens: u64,
    /// Those of them that came from a cache.
    pub cached_tokens: u64,
    /// Tokens that the model wrote, its thinking among them.
    pub output_tokens: u64,
    /// What it cost in millionths of a US dollar, where the agent says so.
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// Returns the tokens that were read and written.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Returns the sum of both.
    pub fn plus(&self, other: &Usage) -> Usage {
        let cost_micros = match (self.cost_micros, other.cost_micros) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or_default().saturating_add(two.unwrap_or_default())),
        };
        Usage {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost_micros,
        }
    }

    /// Returns what is left without the other, never less than nothing.
    pub(crate) fn minus(&self, other: &Usage) -> Usage {
        let less = |cost: u64| cost.saturating_sub(other.cost_micros.unwrap_or_default());
        Usage {
            input_tokens: self.input_tokens.saturating_sub(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_sub(other.cached_tokens),
            output_tokens: self.output_tokens.saturating_sub(other.output_tokens),
            cost_micros: self.cost_micros.map(less),
        }
    }
}
