//! What may be used, by one session or by all that an account is charged with.

use super::Spent;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::fmt;

/// What may be used; what is not stated is not limited.
#[skip_serializing_none]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Allowance {
    /// Tokens read and written.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar.
    pub cost_micros: Option<u64>,
    /// Time that sessions take, one after the other.
    pub milliseconds: Option<u64>,
}

/// The limits of the project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Of one session.
    pub session: Allowance,
    /// Of all sessions of one task.
    pub task: Allowance,
    /// Of all sessions of one run.
    pub run: Allowance,
    /// Of all sessions that begin on one day.
    pub day: Allowance,
    /// Of all sessions there ever are.
    pub project: Allowance,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Measure {
    Tokens,
    Cost,
    Time,
}

impl Measure {
    /// Every measure there is.
    pub const ALL: [Measure; 3] = [Measure::Tokens, Measure::Cost, Measure::Time];

    /// Returns the name that it has in the config.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Tokens => "tokens",
            Measure::Cost => "cost",
            Measure::Time => "wall",
        }
    }

    /// Writes an amount as a person would.
    pub fn show(self, amount: u64) -> String {
        match self {
            Measure::Tokens => format!("{amount} tokens"),
            Measure::Cost => format!("${}.{:02}", amount / 1_000_000, amount % 1_000_000 / 10_000),
            Measure::Time => format!("{} s", amount / 1_000),
        }
    }

    /// Returns an amount for programs, in the unit of the config: tokens, US dollars or seconds.
    pub fn value(self, amount: u64) -> serde_json::Value {
        match self {
            Measure::Tokens => amount.into(),
            // Exact up to billions of dollars.
            Measure::Cost => (amount as f64 / 1_000_000.0).into(),
            Measure::Time => (amount as f64 / 1_000.0).into(),
        }
    }

    /// Returns what was spent by this measure.
    pub fn of(self, spent: &Spent) -> u64 {
        match self {
            Measure::Tokens => spent.tokens(),
            Measure::Cost => spent.cost_micros,
            Measure::Time => spent.milliseconds,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl Allowance {
    /// Returns what is allowed by one measure.
    pub fn get(&self, measure: Measure) -> Option<u64> {
        match measure {
            Measure::Tokens => self.tokens,
            Measure::Cost => self.cost_micros,
            Measure::Time => self.milliseconds,
        }
    }

    /// Allows at most `most` by one measure.
    pub(super) fn cap(&mut self, measure: Measure, most: u64) {
        let place = match measure {
            Measure::Tokens => &mut self.tokens,
            Measure::Cost => &mut self.cost_micros,
            Measure::Time => &mut self.milliseconds,
        };
        *place = Some(place.map_or(most, |allowed| allowed.min(most)));
    }

    /// Tells whether nothing is limited.
    pub fn is_unlimited(&self) -> bool {
        *self == Allowance::default()
    }
}
