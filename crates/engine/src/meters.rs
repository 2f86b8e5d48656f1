//! How long things take in this process, counted for whoever watches it.
//!
//! Counting costs a few additions. Nothing is decided by what is counted, and a restart begins at zero.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets, in microseconds; longer times are in none.
const BOUNDS: [u64; 10] = [500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 500_000, 2_500_000, 10_000_000];

/// What is measured of one project.
#[derive(Debug, Default)]
pub struct Meters {
    /// Appends to the log, until they are on disk.
    pub append: Histogram,
    /// Steps of runs, from a node's outcome until the next step is on disk.
    pub step: Histogram,
}

/// Times, counted by how long they were.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [AtomicU64; BOUNDS.len()],
    count: AtomicU64,
    micros: AtomicU64,
}

impl Histogram {
    /// Counts a time.
    pub(crate) fn note(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        if let Some(bucket) = BOUNDS.iter().position(|bound| micros <= *bound) {
            self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Returns for each bound how many times were not longer.
    pub fn list(&self) -> Vec<(Duration, u64)> {
        let mut sum = 0;
        let counted = BOUNDS.iter().zip(&self.buckets).map(|(bound, count)| {
            sum += count.load(Ordering::Relaxed);
            (Duration::from_micros(*bound), sum)
        });
        counted.collect()
    }

    /// Returns how many times were counted.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Returns all of them together.
    pub fn sum(&self) -> Duration {
        Duration::from_micros(self.micros.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_in_every_bucket_that_holds_them() {
        let histogram = Histogram::default();
        for millis in [1, 4, 20_000] {
            histogram.note(Duration::from_millis(millis));
        }
        let counts: Vec<u64> = histogram.list().into_iter().map(|(_, count)| count).collect();
        assert_eq!(counts, [0, 1, 1, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!((histogram.count(), histogram.sum()), (3, Duration::from_millis(20_005)));
    }
}
