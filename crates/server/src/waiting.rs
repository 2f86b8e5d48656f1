//! `?wait=SECONDS`: how long a change waits for what it sets off.

use crate::call::Call;
use regatta_engine::Journal;
use regatta_engine::core::{Problem, WaitsFor};
use std::time::Duration;
use tokio::time::Instant;

/// The longest wait, in seconds: a proxy in between gives up soon after.
pub(crate) const WAIT_MAX: u64 = 60;

/// The wait of one change.
pub(crate) struct Wait<'a> {
    call: &'a Call,
    journal: Journal<'a>,
    deadline: Instant,
}

impl<'a> Wait<'a> {
    /// Begins before the object is looked at, so that no change after that look is missed.
    pub(crate) async fn begin(call: &'a Call) -> Result<Self, Problem> {
        let seconds = call.query.get("wait")?.unwrap_or(0);
        let journal = Journal::at_end(&call.app.project).await?;
        Ok(Wait { call, journal, deadline: Instant::now() + Duration::from_secs(seconds) })
    }

    /// Waits until something happens; `false` when there is no more time.
    pub(crate) async fn is_worth_another_look(&mut self) -> Result<bool, Problem> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        tokio::select! {
            () = self.call.app.stop.cancelled() => Ok(false),
            entries = self.journal.wait(left) => Ok(entries.map(|_| true)?),
        }
    }
}

/// Tells whether something still happens to a task or a run without a person.
pub(crate) fn is_moving(waits_for: WaitsFor) -> bool {
    match waits_for {
        WaitsFor::Agent | WaitsFor::Clock | WaitsFor::Engine | WaitsFor::Queue => true,
        WaitsFor::You | WaitsFor::Task | WaitsFor::Nobody => false,
    }
}
