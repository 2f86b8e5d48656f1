//! How often the loop looks at the log: at once while the log is quiet, and less often the more a look costs.
//!
//! A run that is driven step by step moves the log thousands of times a second, and none of that is news to
//! the loop. So each look is followed by a pause that is a multiple of the time it took, and one look covers
//! everything that happened meanwhile. An idle loop saves up a few looks without a pause, so that new work
//! starts at once; and when no work is running there is nothing to slow down.

use std::time::Duration;
use tokio::time::Instant;

/// The pause after a look, in looks: they take up at most about a twentieth of the time.
const PAUSE_LOOKS: u32 = 20;

/// The longest pause: the actions of other processes are noticed by polling that is about as slow.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// How much pause an idle loop saves up at most: enough for the looks with which a piece of work begins.
const SAVED_MAX: Duration = Duration::from_millis(60);

/// Whether a look is owed, and when it may be made.
pub(crate) struct Backoff {
    is_owed: bool,
    not_before: Instant,
}

impl Backoff {
    /// The first look is owed at once.
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Backoff { is_owed: true, not_before: now.checked_sub(SAVED_MAX).unwrap_or(now) }
    }

    /// Records that there may be something to see.
    pub(crate) fn owe(&mut self) {
        self.is_owed = true;
    }

    /// Records that nothing is running, so that a look delays nothing.
    pub(crate) fn rest(&mut self) {
        self.is_owed = true;
        self.not_before = self.not_before.min(Instant::now());
    }

    pub(crate) fn is_owed(&self) -> bool {
        self.is_owed
    }

    /// Waits until the owed look may be made; forever if none is owed.
    pub(crate) async fn turn(&self) {
        if !self.is_owed {
            std::future::pending::<()>().await;
        }
        if Instant::now() < self.not_before {
            tokio::time::sleep_until(self.not_before).await;
        }
    }

    /// Records a look that began at `began` and has just ended.
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

    fn is_ready(backoff: &Backoff) -> bool {
        pin!(backoff.turn()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[tokio::test]
    async fn the_first_look_is_owed_at_once_and_no_other_without_need() {
        let mut backoff = Backoff::new();
        assert!(is_ready(&backoff));
        let now = Instant::now();
        backoff.looked(now);
        backoff.not_before = now;
        assert!(!is_ready(&backoff));
        backoff.owe();
        assert!(is_ready(&backoff));
    }

    #[tokio::test]
    async fn looks_that_took_long_are_followed_by_a_pause_with_a_limit_once_the_savings_are_spent() {
        let mut backoff = Backoff::new();
        let Some(began) = Instant::now().checked_sub(Duration::from_secs(1)) else { return };
        for _ in 0..3 {
            backoff.owe();
            assert!(is_ready(&backoff));
            backoff.looked(began);
        }
        backoff.looked(began);
        backoff.owe();
        assert!(backoff.not_before <= Instant::now() + 2 * PAUSE_MAX);
        backoff.not_before = Instant::now() + Duration::from_secs(3_600);
        assert!(!is_ready(&backoff));
        backoff.rest();
        assert!(is_ready(&backoff));
    }
}
