//! What an evaluation compared, as data to show to a person.
//!
//! Values are shortened and the list is bounded, so an explanation of any expression can be printed and sent.

use serde::Serialize;
use serde_json::Value;

use crate::fault::Span;

/// How an expression came to its result.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// What was compared or tested, in the order in which it was done.
    pub observations: Vec<Observation>,
    /// How many more there were.
    pub omitted: usize,
    /// The steps it took.
    pub steps: u64,
}

impl Explanation {
    /// Returns what decided the result: the first operand that was false of an `and`, the first that was true of an
    /// `or`, otherwise all of them.
    pub fn decisive(&self) -> impl Iterator<Item = &Observation> {
        self.observations.iter().filter(|observation| observation.decided)
    }
}

/// One comparison, or a value that was tested as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Observation {
    /// Its text.
    pub text: String,
    /// Where it stands.
    pub at: Span,
    /// The operator, if it is a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<&'static str>,
    /// The left side, shortened; absent when undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Value>,
    /// The right side, shortened; absent when undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<Value>,
    /// What came of it, shortened; absent when undefined, or when it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Whether its sides were there and could not be compared; nothing decided then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether it decided the result.
    pub decided: bool,
}
