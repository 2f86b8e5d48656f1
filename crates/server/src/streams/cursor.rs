//! Cursors: they change with time, so that caches between us and many clients merge their requests, but never answer for long.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long one cursor lasts.
const INTERVAL_SECONDS: u64 = 20;

/// When the protocol begins to count: 9 October 2024.
const EPOCH: Duration = Duration::from_secs(1_728_432_000);

/// How far a cursor moves at most beyond one that is not behind.
const JITTER_MAX: u64 = 180;

/// Returns the cursor of a response: always later than the client's.
pub(crate) fn after(asked: Option<&str>) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(EPOCH);
    next(asked.and_then(|asked| asked.parse().ok()), now).to_string()
}

fn next(asked: Option<u64>, now: Duration) -> u64 {
    let current = now.as_secs() / INTERVAL_SECONDS;
    match asked {
        // Different clients move on by different steps.
        Some(asked) if asked >= current => {
            asked.saturating_add(1 + u64::from(now.subsec_nanos()) % JITTER_MAX)
        }
        _ => current,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_follows_the_clock_and_is_later_than_the_clients() {
        let now = Duration::new(2_000, 7);
        assert_eq!((next(None, now), next(Some(3), now)), (100, 100));
        for asked in [100, 5_000] {
            assert!(next(Some(asked), now) > asked);
        }
    }
}
