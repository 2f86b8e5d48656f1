//! How often the loop looks at the log: at once while it is quiet, and the less often the more a look costs.
//!
//! A run that is driven step by step moves the log thousands of times a second, and none of that is news to the loop.
//! So each look is followed by a pause that is a multiple of what it took, and whatever happens meanwhile is looked
//! at once. A loop that was idle has saved up a few looks without a pause, so that what begins is taken up at once; and
//! once nothing is under way there is nothing to spare.

use std::time::Duration;
use tokio::time::Instant;

/// The pause after a look, in looks: they take up at most about a twentieth of the time.
const PAUSE_LOOKS: u32 = 20;

/// The longest pause: what other processes do is noticed by polling that is about as slow.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// How much of the pauses an idle loop saves up at most: enough for the looks with which a piece of work begins.
const SAVED_MAX: Duration = Duration::from_millis(60);

/// Whether a look is owed, and when it may be made.
pub(crate) struct Pace {
    is_owed: bool,
    not_before: Instant,
}

impl Pace {
    /// The first look is owed at once.
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Pace { is_owed: true, not_before: now.checked_sub(SAVED_MAX).unwrap_or(now) }
    }

    /// Takes note that there may be something to see.
    pub(crate) fn owe(&mut self) {
        self.is_owed = true;
    }

    /// Takes note that nothing is under way, so that a look delays nothing.
    pub(crate) fn rest(&mut self) {
        self.is_owed = true;
        self.not_before = self.not_before.min(Instant::now());
    }

    pub(crate) fn is_owed(&self) -> bool {
        self.is_owed
    }

    /// Waits until the look that is owed may be made; for ever if none is.
    pub(crate) async fn turn(&self) {
        if !self.is_owed {
            std::future::pending::<()>().await;
        }
        if Instant::now() < self.not_before {
            tokio::time::sleep_until(self.not_before).await;
        }
    }

    /// Takes note of a look that began then and has just ended.
    pub(crate) fn looked(&mut self, began: Instant) {
        let now = Instant::now();
        self.is_owed = false;
        let saved = now.checked_sub(SAVED_MAX).unwrap_or(now);
        self.not_before = self.not_before.max(saved) + ((now - began) * PAUSE_LOOKS).min(PAUSE_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future as _;
    use std::pin::pin;
    use std::task::{Context, Waker};

    fn is_ready(pace: &Pace) -> bool {
        pin!(pace.turn()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[tokio::test]
    async fn the_first_look_is_owed_at_once_and_no_other_without_need() {
        let mut pace = Pace::new();
        assert!(is_ready(&pace));
        let now = Instant::now();
        pace.looked(now);
        pace.not_before = now;
        assert!(!is_ready(&pace));
        pace.owe();
        assert!(is_ready(&pace));
    }

    #[tokio::test]
    async fn looks_that_took_long_are_followed_by_a_pause_with_a_limit_once_the_savings_are_spent() {
        let mut pace = Pace::new();
        let Some(began) = Instant::now().checked_sub(Duration::from_secs(1)) else { return };
        for _ in 0..3 {
            pace.owe();
            assert!(is_ready(&pace));
            pace.looked(began);
        }
        pace.looked(began);
        pace.owe();
        assert!(pace.not_before <= Instant::now() + 2 * PAUSE_MAX);
        pace.not_before = Instant::now() + Duration::from_secs(3_600);
        assert!(!is_ready(&pace));
        pace.rest();
        assert!(is_ready(&pace));
    }
}
