//! How a performer waits for something in the log.

use crate::error::Error;
use crate::perform::Work;
use crate::runtime::stop_handle::StopHandle;
use regatta_agents::StopReason;
use regatta_store::Seq;
use std::time::Duration;

/// How long it sleeps when nothing happens; it wakes at once when the log moves.
const IDLE: Duration = Duration::from_secs(1);

/// A position in the log, from which its further growth is noticed.
pub(crate) struct LogWatch<'a> {
    work: &'a Work,
    seen: Seq,
}

impl<'a> LogWatch<'a> {
    /// Starts at the end of the log. Whatever is waited for is looked up after this, so that nothing is missed.
    pub(crate) async fn start(work: &'a Work) -> Result<Self, Error> {
        Ok(LogWatch { work, seen: work.project.store().head().await? })
    }

    /// Returns when it is time to look again: the log has moved, or the engine is about to exit.
    pub(crate) async fn wait(&mut self) -> Result<(), Error> {
        self.wait_at_most(IDLE).await
    }

    /// Does the same, and sleeps at most so long.
    pub(crate) async fn wait_at_most(&mut self, limit: Duration) -> Result<(), Error> {
        let mut leaving = self.work.leaving.clone();
        tokio::select! {
            _ = leaving.wait_for(|is_leaving| *is_leaving) => {}
            head = self.work.project.store().wait_past(self.seen, limit) => self.seen = head?,
        }
        Ok(())
    }

    /// Does the same, and returns at once with the reason when the effect is asked to stop.
    pub(crate) async fn wait_or_stop(
        &mut self,
        stop_handle: &StopHandle,
    ) -> Result<Option<StopReason>, Error> {
        tokio::select! {
            biased;
            reason = stop_handle.asked() => Ok(Some(reason)),
            waited = self.wait() => waited.map(|()| None),
        }
    }
}
