//! What a task is doing, in one word: what works or waits by itself looks different from what needs a person.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use regatta_engine::core::{FailureClass, Park};

/// Returns the word for a phase: that of the contract, but for a running session.
pub(crate) fn word_of(phase: &str) -> &str {
    match phase {
        "running" => "working",
        "by_hand" => "by hand",
        other => other,
    }
}

/// Says why a task is parked, until when, and who makes it continue.
pub(crate) fn describe_park(park: &Park, has_engine: bool, now: Timestamp, zone: &TimeZone) -> String {
    let why = match park.class {
        FailureClass::RateLimit => "limited",
        FailureClass::Network => "no connection",
        FailureClass::InvalidOutput => "asked again",
        _ => "broke off",
    };
    let until = describe_time(park.until, now, zone);
    if has_engine {
        format!("{why} until {until}, resumes automatically")
    } else {
        format!("{why} until {until}, then needs an engine: regatta up")
    }
}

/// Writes a time of day, with the day if it is another one.
pub(crate) fn describe_time(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let pattern = if at.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    at.strftime(pattern).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parked_task_says_until_when_and_who_continues_it() {
        let now: Timestamp = "2026-01-01T13:00:00Z".parse().unwrap();
        let describe = |class, until: &str, has_engine| {
            let park = Park { class, attempt: 1, until: until.parse().unwrap() };
            describe_park(&park, has_engine, now, &TimeZone::UTC)
        };
        assert_eq!(
            describe(FailureClass::RateLimit, "2026-01-01T14:05:59Z", true),
            "limited until 14:05, resumes automatically"
        );
        assert_eq!(
            describe(FailureClass::Network, "2026-01-02T14:05:00Z", false),
            "no connection until 2026-01-02 14:05, then needs an engine: regatta up"
        );
        assert_eq!((word_of("running"), word_of("halted")), ("working", "halted"));
    }
}
