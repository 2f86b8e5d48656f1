//! Why an expression gave no result, in our words, with the code of the engine.
//!
//! The engine distinguishes limits from mistakes by its codes, and some limits from each other only by the wording of
//! the message. Both are interpreted here and nowhere else, for the version of the engine that the manifest pins.

use std::ops::Range;

use jlens_core::Error;
use serde::Serialize;

use crate::limits::{Limit, Limits};

/// The code under which a user meets a passed limit.
pub const EXPR_LIMIT: &str = "EXPR_LIMIT";

/// The deepest nesting of an expression and of a value: the engine's own bound.
const NESTING_MAX: u64 = 1_000;

/// The code of a panic of the engine, which has none for that. It is beside those for its own limits, and none of them.
const PANIC_CODE: &str = "U1000";

/// A part of an expression's text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte behind the last one.
    pub end: usize,
}

impl Span {
    /// Returns the bytes as a range.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl From<jlens_core::Span> for Span {
    fn from(span: jlens_core::Span) -> Span {
        Span { start: span.start, end: span.end }
    }
}

/// Why an expression gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The text is no expression.
    #[error("{message}")]
    Syntax {
        /// JSONata's code, such as `S0201`.
        code: String,
        /// What is wrong with it.
        message: String,
        /// The piece of text at fault, if there is one.
        token: Option<String>,
        /// Where.
        at: Span,
    },
    /// It stopped over a value.
    #[error("{message}")]
    Evaluation {
        /// JSONata's code, such as `T2001` or `D3020`.
        code: String,
        /// What stopped it.
        message: String,
        /// The operator or function at fault, if there is one.
        token: Option<String>,
        /// Where, if the engine knows.
        at: Option<Span>,
    },
    /// It passed a limit.
    #[error("the limit of {bound} was passed: {which}")]
    Limit {
        /// Which limit.
        which: Limit,
        /// How much was allowed.
        bound: u64,
        /// The engine's code, such as `D1011`; our own checks take the one nearest in meaning.
        code: String,
        /// Where, if the engine knows.
        at: Option<Span>,
    },
}

impl Fault {
    /// Returns the code of JSONata or of the engine, such as `S0201` or `U1006`.
    pub fn jsonata_code(&self) -> &str {
        match self {
            Fault::Syntax { code, .. } | Fault::Evaluation { code, .. } | Fault::Limit { code, .. } => code,
        }
    }

    /// Returns the operator, function or piece of text at fault, if known.
    pub fn token(&self) -> Option<&str> {
        match self {
            Fault::Syntax { token, .. } | Fault::Evaluation { token, .. } => token.as_deref(),
            Fault::Limit { .. } => None,
        }
    }

    /// Returns where in the text, if known.
    pub fn at(&self) -> Option<Span> {
        match self {
            Fault::Syntax { at, .. } => Some(*at),
            Fault::Evaluation { at, .. } | Fault::Limit { at, .. } => *at,
        }
    }

    /// Returns which limit was passed, if one was.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Fault::Limit { which, .. } => Some(*which),
            Fault::Syntax { .. } | Fault::Evaluation { .. } => None,
        }
    }

    /// Returns the same fault with its place put elsewhere.
    pub(crate) fn moved(mut self, place: impl Fn(Span) -> Span) -> Fault {
        match &mut self {
            Fault::Syntax { at, .. } => *at = place(*at),
            Fault::Evaluation { at, .. } | Fault::Limit { at, .. } => *at = at.map(place),
        }
        self
    }

    /// Returns the same fault with a place, if it has none.
    pub(crate) fn placed(mut self, place: Option<Span>) -> Fault {
        if let Fault::Evaluation { at: at @ None, .. } = &mut self {
            *at = place;
        }
        self
    }

    /// Says that the engine broke off over a mistake of its own.
    pub(crate) fn of_panic(message: &str) -> Fault {
        Fault::Evaluation {
            code: PANIC_CODE.to_owned(),
            message: format!("the function failed inside the expression engine: {message}"),
            token: None,
            at: None,
        }
    }

    /// Reads an error of compiling.
    pub(crate) fn of_compiling(error: &Error) -> Fault {
        match error.code() {
            "U1001" => limit(Limit::Nesting, NESTING_MAX, error),
            code => Fault::Syntax {
                code: code.to_owned(),
                message: error.message(),
                token: error.token(),
                at: error.span().unwrap_or_default().into(),
            },
        }
    }

    /// Reads an error of evaluating within `limits`.
    pub(crate) fn of_evaluating(error: &Error, limits: &Limits) -> Fault {
        match passed_limit(error, limits) {
            Some((which, bound)) => limit(which, bound, error),
            None => Fault::Evaluation {
                code: error.code().to_owned(),
                message: error.message(),
                token: error.token(),
                at: error.span().map(Span::from),
            },
        }
    }
}

fn limit(which: Limit, bound: u64, error: &Error) -> Fault {
    Fault::Limit { which, bound, code: error.code().to_owned(), at: error.span().map(Span::from) }
}

fn passed_limit(error: &Error, limits: &Limits) -> Option<(Limit, u64)> {
    Some(match error.code() {
        "D1011" => (Limit::Depth, limits.depth as u64),
        "D1012" => (Limit::Time, u64::try_from(limits.time.as_millis()).unwrap_or(u64::MAX)),
        "D2014" | "D2015" => (Limit::Items, limits.items as u64),
        "D2016" => (Limit::StringSize, limits.string_bytes as u64),
        "U1006" => (Limit::Steps, limits.steps),
        "U1001" => size_limit(&error.message(), limits),
        _ => return None,
    })
}

/// Tells apart by its words what the engine calls `U1001`.
fn size_limit(message: &str, limits: &Limits) -> (Limit, u64) {
    if message.starts_with("An array") {
        (Limit::Items, limits.items as u64)
    } else if message.starts_with("A string") {
        (Limit::StringSize, limits.string_bytes as u64)
    } else if message.contains("nested") {
        (Limit::Nesting, NESTING_MAX)
    } else if message.starts_with("The result") {
        (Limit::ResultSize, limits.result_bytes as u64)
    } else {
        // A deep copy and what is like it are bounded as text.
        (Limit::StringSize, limits.string_bytes as u64)
    }
}
