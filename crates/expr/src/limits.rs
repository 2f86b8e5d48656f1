//! The limits of an evaluation, and its inputs from outside: the time and the random seed.
//!
//! Limits are always set. All but the time are counted, so the same expression over the same input ends the same way
//! on every machine; the time is only the backstop. [`Limits::at`] gives the usual ones, which the constants name.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// The longest text of an expression, in bytes: far above any edge, and little enough to parse at once.
pub const EXPRESSION_BYTES_MAX: usize = 16 * 1024;

/// The most steps: a hundred passes over a thousand items, and well below a second on a slow machine.
pub const STEPS_MAX: u64 = 500_000;

/// The deepest nesting of evaluations: a few hundred calls inside each other, in a few MB of stack.
pub const DEPTH_MAX: usize = 2_000;

/// The most items of an array that the expression builds: ten times the largest plan we know of.
pub const ITEMS_MAX: usize = 10_000;

/// The longest string that the expression builds, in bytes: a whole state as text.
pub const STRING_BYTES_MAX: usize = 1024 * 1024;

/// The most that an expression may build in all, in bytes, by a rough count that never forgets: half of the 64 MB
/// that an evaluation may take.
pub const MEMORY_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The most values that one value may stand for when all that it holds is written out. A value may hold another many
/// times over for next to nothing, and a function that walks it would not come back. A state of 3 MB has a tenth.
pub const VALUES_MAX: usize = 1_000_000;

/// The longest result, in bytes of compact JSON: a result goes into an event of the log.
pub const RESULT_BYTES_MAX: usize = 1024 * 1024;

/// The longest time of an evaluation. A backstop: the counted limits come first.
pub const TIME_MAX: Duration = Duration::from_secs(1);

/// The limits of one evaluation, with the time and the seed it sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Steps: nodes evaluated, functions called back, stretches of a regular expression's backtracking. An expression
    /// with a regular expression gets a fiftieth, because one step stands for 1,024 of its backtracking; a 200th if one
    /// of these may go over a whole text, as with a look-around or a back reference.
    pub steps: u64,
    /// Evaluations inside each other.
    pub depth: usize,
    /// Items of an array that the expression builds.
    pub items: usize,
    /// Bytes of a string that the expression builds. An expression that hands on a function which makes much of little,
    /// as in `$map(xs, $pad(?, 9))`, or that uses `$eval`, gets a 256th: its strings are not seen one by one.
    /// A text that is held against a pattern with repeated groups may be as long as what the engine must remember for
    /// it allows (some ten thousand bytes), and one with look-arounds or back references 1,024 bytes.
    pub string_bytes: usize,
    /// Bytes that the expression builds in all, by a rough count.
    pub memory_bytes: usize,
    /// Values that one value stands for, by a rough count. Functions that build values inside values, such as `$match`
    /// and `$spread`, get a tenth.
    pub values: usize,
    /// Bytes of the result as compact JSON.
    pub result_bytes: usize,
    /// Time, as the backstop.
    pub time: Duration,
    /// What `$now` and `$millis` say, in milliseconds since 1970 began in UTC.
    pub now_millis: i64,
    /// Where `$random` and `$shuffle` start.
    pub seed: u64,
}

impl Limits {
    /// Returns the usual limits at a time in milliseconds since the Unix epoch.
    ///
    /// The time also seeds `$random`: evaluating again at the same time gives the same answer.
    pub fn at(now_millis: i64) -> Limits {
        Limits {
            steps: STEPS_MAX,
            depth: DEPTH_MAX,
            items: ITEMS_MAX,
            string_bytes: STRING_BYTES_MAX,
            memory_bytes: MEMORY_BYTES_MAX,
            values: VALUES_MAX,
            result_bytes: RESULT_BYTES_MAX,
            time: TIME_MAX,
            now_millis,
            seed: now_millis.unsigned_abs(),
        }
    }
}

/// Which limit was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Limit {
    /// The text of the expression is too long; bytes.
    ExpressionSize,
    /// The expression, or a value, is nested too deeply; levels.
    Nesting,
    /// A regular expression is too long; bytes.
    PatternSize,
    /// Too many steps.
    Steps,
    /// Too many evaluations inside each other.
    Depth,
    /// An array is too long; items.
    Items,
    /// A string is too long; bytes.
    StringSize,
    /// Too much is built in all; bytes.
    Memory,
    /// A value stands for too many others.
    Values,
    /// The result is too long; bytes.
    ResultSize,
    /// It took too long; milliseconds.
    Time,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::ExpressionSize => "the size of an expression, in bytes",
            Limit::Nesting => "nesting, in levels",
            Limit::PatternSize => "the size of a regular expression, in bytes",
            Limit::Steps => "steps",
            Limit::Depth => "evaluations inside each other",
            Limit::Items => "the items of an array",
            Limit::StringSize => "the size of a string, in bytes",
            Limit::Memory => "memory, in bytes",
            Limit::Values => "the values within a value",
            Limit::ResultSize => "the size of the result, in bytes",
            Limit::Time => "time, in milliseconds",
        })
    }
}
