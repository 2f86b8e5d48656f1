//! Runs that stay in memory while their children are under way.
//!
//! Such a run is told of each start and each end. To read it each time would cost what all of its items weigh; so whoever
//! has told it something leaves it in its place for the next, and they take turns. One that another process has told
//! something meanwhile is behind: an append states the version that the decision saw, and when that is not the newest the
//! run is read again.

use crate::core::RunId;
use crate::core::run::Phase;
use crate::error::Error;
use crate::project::Project;
use crate::runs::seat::Seat;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// With more places than this, those that nobody is at are given up.
const PLACES_MAX: usize = 16;

/// A run, if it was left there.
type Left = Arc<tokio::sync::Mutex<Option<Seat>>>;

/// The places of one engine.
#[derive(Default)]
pub(crate) struct Seats {
    places: Mutex<HashMap<RunId, Left>>,
}

/// The place of one run; nobody else is at it.
pub(crate) struct Place {
    run: RunId,
    left: OwnedMutexGuard<Option<Seat>>,
}

impl Seats {
    /// Waits for the place of a run.
    pub(crate) async fn enter(&self, run: RunId) -> Place {
        let left = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            if places.len() >= PLACES_MAX && !places.contains_key(&run) {
                places.retain(|_, left| Arc::strong_count(left) > 1);
            }
            Arc::clone(places.entry(run).or_default())
        };
        Place { run, left: left.lock_owned().await }
    }
}

impl Place {
    /// Takes the run that was left, or loads it.
    pub(crate) async fn take(&mut self, project: &Project) -> Result<Seat, Error> {
        match self.left.take() {
            Some(seat) => Ok(seat),
            None => Seat::load(project, self.run).await,
        }
    }

    /// Leaves the run as the log has it, if it waits for children.
    pub(crate) fn leave(mut self, seat: Seat) {
        *self.left = Some(seat).filter(|seat| matches!(seat.run().phase(), Some(Phase::Mapping(_))));
    }
}
