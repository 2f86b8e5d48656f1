//! Runs that stay in memory while their children are under way.
//!
//! Such a run records each start and each end of a child. Reading it each time would cost as much as all of
//! its items, so each writer leaves it here for the next, and they take turns. A run that another process has
//! changed meanwhile is out of date: an append states the version that the decision saw, and when that is not
//! the newest the run is read again.

use crate::core::RunId;
use crate::core::run::Phase;
use crate::runs::driver::Driver;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// With more places than this, unused ones are dropped.
const PLACES_MAX: usize = 16;

/// A run, if it was left there.
type Left = Arc<tokio::sync::Mutex<Option<Driver>>>;

/// The places of one engine.
#[derive(Default)]
pub(crate) struct Drivers {
    places: Mutex<HashMap<RunId, Left>>,
}

/// The place of one run, for one holder at a time.
pub(crate) struct Place {
    left: OwnedMutexGuard<Option<Driver>>,
}

impl Drivers {
    /// Waits for the place of a run.
    pub(crate) async fn enter(&self, run: RunId) -> Place {
        let left = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            if places.len() >= PLACES_MAX && !places.contains_key(&run) {
                places.retain(|_, left| Arc::strong_count(left) > 1);
            }
            Arc::clone(places.entry(run).or_default())
        };
        Place { left: left.lock_owned().await }
    }
}

impl Place {
    /// Takes the run that was left.
    pub(crate) fn take(&mut self) -> Option<Driver> {
        self.left.take()
    }

    /// Leaves the run as it is in the log, if it waits for children.
    pub(crate) fn leave(mut self, driver: Option<Driver>) {
        *self.left = driver.filter(|driver| matches!(driver.run().phase(), Some(Phase::Mapping(_))));
    }
}
