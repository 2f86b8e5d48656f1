//! The clock: the one place that asks what time it is.

use jiff::Timestamp;

/// Returns the current time, to the millisecond: finer steps only make logs longer.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}
