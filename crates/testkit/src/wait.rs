//! Waiting for a condition, with a limit: the one place where tests let time pass.

use std::time::{Duration, Instant};

/// Far above what any condition takes on a busy machine; it only bounds a test that fails.
pub const WAIT_MAX: Duration = Duration::from_secs(240);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Waits until a claim holds, and panics when it does not within [`WAIT_MAX`].
pub fn until(what: &str, mut claim: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !claim() {
        assert!(begin.elapsed() < WAIT_MAX, "waited too long until {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Waits like [`until`], and lets other futures run meanwhile.
pub async fn until_async(what: &str, mut claim: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !claim() {
        assert!(begin.elapsed() < WAIT_MAX, "waited too long until {what}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
