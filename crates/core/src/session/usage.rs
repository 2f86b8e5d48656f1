//! What sessions used.

use serde::{Deserialize, Serialize};

/// What one session used, as far as its agent told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens that the model read, cached ones among them.
    pub input_tokens: u64,
    /// Those of them that came from a cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// What it cost in millionths of a US dollar, if the agent reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// How long it took.
    pub milliseconds: u64,
}

/// What several sessions used together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// How many sessions.
    pub sessions: u64,
    /// Those of them whose agent did not say what they cost, though it used tokens.
    pub unpriced: u64,
    /// Tokens that models read, cached ones among them.
    pub input_tokens: u64,
    /// Those of them that came from a cache.
    pub cached_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// What is known to have been paid, in millionths of a US dollar.
    pub cost_micros: u64,
    /// How long the sessions took, one after the other.
    pub milliseconds: u64,
}

impl Usage {
    /// Adds what another session used.
    #[must_use]
    pub fn plus(self, other: &Usage) -> Self {
        let cost = [self.cost_micros, other.cost_micros];
        let cost_micros = cost.iter().flatten().copied().reduce(u64::saturating_add);
        Usage {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost_micros,
            milliseconds: self.milliseconds.saturating_add(other.milliseconds),
        }
    }
}

impl Spent {
    /// Returns the tokens that were read and written.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Adds a session.
    #[must_use]
    pub fn plus(self, usage: &Usage) -> Self {
        let is_unpriced = usage.cost_micros.is_none() && usage.input_tokens + usage.output_tokens > 0;
        Spent {
            sessions: self.sessions + 1,
            unpriced: self.unpriced + u64::from(is_unpriced),
            input_tokens: self.input_tokens.saturating_add(usage.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(usage.cached_tokens),
            output_tokens: self.output_tokens.saturating_add(usage.output_tokens),
            cost_micros: self.cost_micros.saturating_add(usage.cost_micros.unwrap_or(0)),
            milliseconds: self.milliseconds.saturating_add(usage.milliseconds),
        }
    }
}
